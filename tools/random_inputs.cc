#include "tools/random_inputs.h"

#include <Eigen/Core>
#include <complex>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "env/status.h"

namespace tenon {
namespace {

using Random = std::mt19937;

float Unit(Random& random) { return static_cast<float>(random() >> 8) * 0x1p-24f; }

template <typename T>
void FillUnit(Tensor& t, Random& random) {
  for (T& v : t.flat<T>()) v = static_cast<T>(Unit(random));
}
template <typename T>
void FillBits(Tensor& t, Random& random) {
  for (T& v : t.flat<T>()) v = static_cast<T>(random() >> 31);
}

absl::Status Fill(Tensor& t, Random& random) {
  switch (t.dtype()) {
    case DType::kFloat:
      FillUnit<float>(t, random);
      break;
    case DType::kDouble:
      FillUnit<double>(t, random);
      break;
    case DType::kHalf:
      FillUnit<half>(t, random);
      break;
    case DType::kBfloat16:
      FillUnit<bfloat16>(t, random);
      break;
    case DType::kComplex64:
      FillUnit<std::complex<float>>(t, random);
      break;
    case DType::kComplex128:
      FillUnit<std::complex<double>>(t, random);
      break;
    case DType::kUint8:
      for (uint8_t& v : t.flat<uint8_t>()) v = static_cast<uint8_t>(random() >> 24);
      break;
    case DType::kBool:
    case DType::kInt8:
    case DType::kQint8:
    case DType::kQuint8:
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kInt4:
    case DType::kUint4:
      FillBits<uint8_t>(t, random);
      break;
    case DType::kInt16:
    case DType::kUint16:
    case DType::kQint16:
    case DType::kQuint16:
      FillBits<uint16_t>(t, random);
      break;
    case DType::kInt32:
    case DType::kUint32:
    case DType::kQint32:
      FillBits<uint32_t>(t, random);
      break;
    case DType::kInt64:
    case DType::kUint64:
      FillBits<uint64_t>(t, random);
      break;
    case DType::kString:
      break;  // empty strings
    default:
      return Unimplemented("no values to give for dtype ", Name(t.dtype()));
  }
  return absl::OkStatus();
}

// Not std::hash, so that it is the same on every machine.
uint32_t Seed(const std::string& name) {
  uint32_t seed = 2166136261u;
  for (unsigned char c : name) seed = (seed ^ c) * 16777619u;
  return seed;
}

}  // namespace

absl::Status ParseShapeArg(const std::string& text, InputShapes& shapes) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos) {
    return InvalidArgument("--shape ", text, ": write NAME=1,224,224,3");
  }
  Shape shape;
  for (absl::string_view part :
       absl::StrSplit(text.substr(equals + 1), ',', absl::SkipWhitespace())) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0) {
      return InvalidArgument("--shape ", text, ": '", part, "' is not a dimension");
    }
    shape.push_back(dim);
  }
  shapes.given[text.substr(0, equals)] = shape;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> RandomInputs(const std::vector<TensorInfo>& inputs,
                                                 const InputShapes& shapes) {
  std::vector<Tensor> tensors;
  size_t used = 0;
  for (const TensorInfo& input : inputs) {
    Shape shape = input.shape;
    if (auto it = shapes.given.find(input.name); it != shapes.given.end()) {
      shape = it->second;
      ++used;
    } else if (input.optional) {
      tensors.emplace_back();
      continue;
    } else if (!shape.has_rank()) {
      return InvalidArgument("input '", input.name, "' has no known rank: give --shape ",
                             input.name, "=...");
    }
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) shape.set_dim(i, i == 0 ? shapes.batch : 1);
    }
    absl::StatusOr<Tensor> t = Tensor::Allocate(input.dtype, shape);
    if (t.ok()) {
      Random random(Seed(input.name));
      TENON_RETURN_IF_ERROR(Fill(*t, random));
    }
    if (!t.ok()) return Annotate(t.status(), absl::StrCat("input '", input.name, "'"));
    tensors.push_back(*std::move(t));
  }
  if (used != shapes.given.size()) {
    for (const auto& [name, shape] : shapes.given) {
      bool known = false;
      for (const TensorInfo& input : inputs) known |= input.name == name;
      if (!known) return InvalidArgument("--shape: the model has no input '", name, "'");
    }
  }
  return tensors;
}

}  // namespace tenon

#include "tests/fuzz/targets/draw.h"

#include <Eigen/Core>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

constexpr int64_t kMostElements = 4096;

// FNV-1a.
uint32_t HashOf(absl::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

const std::map<uint32_t, const OpInfo*>& OpsByHash() {
  static const auto* const ops = [] {
    auto* const by_hash = new std::map<uint32_t, const OpInfo*>;
    for (const OpInfo* op : AllOps()) by_hash->emplace(HashOf(op->row.name), op);
    return by_hash;
  }();
  return *ops;
}

// The defaults of all string attributes of that name.
const std::vector<std::string>& StringsOf(const std::string& attr) {
  static const auto* const strings = [] {
    std::map<std::string, std::set<std::string>> found;
    for (const OpInfo* op : AllOps()) {
      for (const AttrSpec& spec : op->signature.attrs) {
        if (const auto* text = spec.default_value.get_if<std::string>()) {
          found[spec.name].insert(*text);
        }
      }
    }
    auto* const by_name = new std::map<std::string, std::vector<std::string>>;
    for (const auto& [name, texts] : found) {
      (*by_name)[name] = std::vector<std::string>(texts.begin(), texts.end());
    }
    return by_name;
  }();
  static const std::vector<std::string> none;
  const auto at = strings->find(attr);
  return at == strings->end() ? none : at->second;
}

std::string DrawString(ByteReader& bytes, const std::string& attr) {
  static const std::vector<std::string> kCommon = {
      "SAME",      "VALID",     "EXPLICIT", "NHWC",  "NCHW",      "NDHWC",        "REFLECT",
      "SYMMETRIC", "BiasAdd",   "Relu",     "Relu6", "Add",       "Mul $0",       "Tanh $0",
      "UTF-8",     "UTF-16-BE", "replace",  "float", "ab,bc->ac", "abc,acd->abd", "...a,a",
      "i->",       "left",      "both",     "sum",   "mean",      "MIN_COMBINED", "HALF_TO_EVEN"};
  switch (bytes.Below(4)) {
    case 0:
      if (!StringsOf(attr).empty()) return bytes.Pick(StringsOf(attr));
      [[fallthrough]];
    case 1:
      return bytes.Pick(kCommon);
    default:
      return std::string(bytes.Take(bytes.Below(16)));
  }
}

template <typename T>
T DrawNumber(ByteReader& bytes, Magnitudes numbers) {
  using Limits = std::numeric_limits<T>;
  const uint8_t byte = bytes.Byte();
  if (numbers == Magnitudes::kAbsurd && byte >= 224) {
    if constexpr (Limits::is_integer) {
      const T large = static_cast<T>(Limits::max() / 3);
      switch (byte % 8) {
        case 0:
          return Limits::min();
        case 1:
          return Limits::max();
        case 2:
          return large;
        case 3:
          return static_cast<T>(Limits::max() - 1);
        case 4:
          return static_cast<T>(Limits::min() / 2);
        default:
          return bytes.Number<T>();
      }
    } else {
      const T choices[] = {Limits::max(),        Limits::lowest(),    Limits::min(),
                           Limits::infinity(),   -Limits::infinity(), Limits::quiet_NaN(),
                           Limits::denorm_min(), static_cast<T>(1e10)};
      return choices[byte % 8];
    }
  }
  if constexpr (Limits::is_integer) {
    return static_cast<T>(byte % 16 < 8 ? byte % 4 : byte % 8 - (std::is_signed_v<T> ? 4 : 0));
  } else {
    return static_cast<T>(byte - 96) / 16;
  }
}

template <typename T>
std::vector<T> DrawList(ByteReader& bytes, const std::function<T()>& draw) {
  std::vector<T> list(bytes.Below(7));
  for (size_t i = 0; i < list.size(); ++i) list[i] = draw();
  return list;
}

DType DrawType(ByteReader& bytes, const OpInfo& op, const std::string& attr) {
  static const std::vector<DType> kAny = {
      DType::kFloat,  DType::kInt32,     DType::kBool,  DType::kString, DType::kHalf,
      DType::kDouble, DType::kComplex64, DType::kInt64, DType::kUint8,  DType::kBfloat16};
  const auto at = op.signature.types.find(attr);
  return bytes.Pick(at == op.signature.types.end() ? kAny : at->second);
}

// Empty: not drawn (functions).
AttrValue DrawAttr(ByteReader& bytes, const OpInfo& op, const AttrSpec& spec, Magnitudes numbers) {
  const auto integer = [&] { return DrawNumber<int64_t>(bytes, numbers); };
  const auto real = [&] { return DrawNumber<float>(bytes, numbers); };
  const auto text = [&] { return DrawString(bytes, spec.name); };
  const auto type = [&] { return DrawType(bytes, op, spec.name); };
  if (spec.kind == "type") return type();
  if (spec.kind == "int") return integer();
  if (spec.kind == "bool") return bytes.Bool();
  if (spec.kind == "float") return real();
  if (spec.kind == "string") return text();
  if (spec.kind == "shape") return DrawShape(bytes);
  if (spec.kind == "tensor") {
    const std::vector<DType> dtypes = {DType::kFloat, DType::kInt32, DType::kString};
    const DType dtype = bytes.Pick(dtypes);
    return DrawTensor(bytes, dtype, DrawShape(bytes), numbers);
  }
  if (spec.kind == "list(type)") return DrawList<DType>(bytes, type);
  if (spec.kind == "list(int)") return DrawList<int64_t>(bytes, integer);
  if (spec.kind == "list(float)") return DrawList<float>(bytes, real);
  if (spec.kind == "list(string)") return DrawList<std::string>(bytes, text);
  if (spec.kind == "list(shape)") {
    return DrawList<Shape>(bytes, [&] { return DrawShape(bytes); });
  }
  return {};
}

}  // namespace

const OpInfo& DrawOp(ByteReader& bytes) {
  const auto& ops = OpsByHash();
  const auto at = ops.lower_bound(bytes.Number<uint32_t>());
  return at == ops.end() ? *ops.begin()->second : *at->second;
}

Shape DrawShape(ByteReader& bytes) {
  Shape shape;
  const size_t rank = bytes.Below(6);
  int64_t elements = 1;
  for (size_t i = 0; i < rank; ++i) {
    const uint8_t byte = bytes.Byte();
    int64_t dim = byte < 200 ? 1 + byte % 5 : byte % 33;
    if (elements * dim > kMostElements) dim = 1;
    elements *= dim;
    shape.push_back(dim);
  }
  return shape;
}

Tensor DrawTensor(ByteReader& bytes, DType dtype, const Shape& shape, Magnitudes numbers) {
  if (SizeOf(dtype) == 0) return {};
  auto allocated = Tensor::Allocate(dtype, shape);
  if (!allocated.ok()) return {};
  Tensor t = *std::move(allocated);
  // The first bytes as drawn, the rest repeats them: a long input is not needed for a long tensor.
  constexpr int64_t kDrawn = 32;
  const bool known = VisitTypes(AllTypes{}, dtype, [&]<typename T>() {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      T& v = t.data<T>()[i];
      if (i >= kDrawn) {
        v = t.data<T>()[(i * 7) % kDrawn];
      } else if constexpr (std::is_same_v<T, std::string>) {
        v = std::string(bytes.Take(bytes.Below(12)));
      } else if constexpr (kIsInt<T>) {
        v = DrawNumber<T>(bytes, numbers);
      } else if constexpr (std::is_same_v<T, bool>) {
        v = bytes.Bool();
      } else if constexpr (kIsComplex<T>) {
        const float real = DrawNumber<float>(bytes, numbers);
        v = T(real, DrawNumber<float>(bytes, numbers));
      } else if constexpr (std::is_same_v<T, double>) {
        v = DrawNumber<double>(bytes, numbers);
      } else {
        v = static_cast<T>(DrawNumber<float>(bytes, numbers));
      }
    }
  });
  if (!known) {  // quantized
    auto* const p = static_cast<uint8_t*>(t.raw());
    for (size_t i = 0; i < t.bytes(); ++i) {
      p[i] = i < kDrawn ? bytes.Byte() : p[i % kDrawn];
    }
  }
  return t;
}

std::optional<OpCall> DrawCall(ByteReader& bytes, const OpInfo& op, Magnitudes numbers,
                               const DrawInput& input) {
  OpCall call;
  call.node.name = "node";
  call.node.op = op.row.name;
  const uint8_t defaults = bytes.Byte();
  for (size_t i = 0; i < op.signature.attrs.size(); ++i) {
    const AttrSpec& spec = op.signature.attrs[i];
    if (spec.has_default && (defaults >> (i % 8) & 1) == 0) continue;
    AttrValue value = DrawAttr(bytes, op, spec, numbers);
    if (!value.empty()) call.node.attrs[spec.name] = std::move(value);
  }
  if (!CompleteAttrs(op, call.node).ok()) return std::nullopt;
  const auto dtypes = InputDTypes(op, call.node);
  if (!dtypes.ok() || dtypes->size() > 64 || !OutputDTypes(op, call.node).ok()) {
    return std::nullopt;
  }
  for (const DType dtype : *dtypes) {
    Tensor t = input(dtype);
    if (!t.valid()) return std::nullopt;
    call.inputs.push_back(std::move(t));
  }
  return call;
}

std::string Describe(const OpCall& call) {
  std::string text = absl::StrCat(call.node.op, "(");
  for (const Tensor& t : call.inputs) {
    absl::StrAppend(&text, Name(t.dtype()), t.shape().ToString(), " ");
  }
  text += ")";
  for (const auto& [name, value] : call.node.attrs) {
    absl::StrAppend(&text, " ", name, "=", PrintAttr(value, {.max_elements = 8}));
  }
  for (const Tensor& t : call.inputs) {
    absl::StrAppend(&text, "\n  ", PrintAttr(t, {.max_elements = 64}));
  }
  return text;
}

}  // namespace tenon

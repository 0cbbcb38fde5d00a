#include "tests/unit/kernels/nn_test_util.h"

#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "absl/strings/match.h"
#include "env/flags.h"
#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <typename T>
void Fill(Tensor& t, std::mt19937& engine, float low, float high) {
  std::uniform_real_distribution<float> uniform(low, high);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<T>()[i] = static_cast<T>(uniform(engine));
}

double Value(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat:
      return t.data<float>()[i];
    case DType::kDouble:
      return t.data<double>()[i];
    case DType::kHalf:
      return static_cast<float>(t.data<half>()[i]);
    case DType::kBfloat16:
      return static_cast<float>(t.data<bfloat16>()[i]);
    case DType::kInt32:
      return t.data<int32_t>()[i];
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

Tensor RandomTensor(DType dtype, const Shape& shape, uint32_t seed, float low, float high) {
  Tensor t = *Tensor::Allocate(dtype, shape);
  std::mt19937 engine(seed);
  switch (dtype) {
    case DType::kFloat:
      Fill<float>(t, engine, low, high);
      break;
    case DType::kDouble:
      Fill<double>(t, engine, low, high);
      break;
    case DType::kHalf:
      Fill<half>(t, engine, low, high);
      break;
    case DType::kBfloat16:
      Fill<bfloat16>(t, engine, low, high);
      break;
    case DType::kInt32:
      Fill<int32_t>(t, engine, low * 100, high * 100);
      break;
    default:
      ADD_FAILURE() << "no random values for " << Name(dtype);
  }
  return t;
}

Tensor ToFloat(const Tensor& t) {
  Tensor wide = *Tensor::Allocate(DType::kFloat, t.shape());
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    wide.data<float>()[i] = static_cast<float>(t.data<bfloat16>()[i]);
  }
  return wide;
}

Node MakeNode(const std::string& op, AttrMap attrs) {
  Node node;
  node.name = "node";
  node.op = op;
  node.attrs = std::move(attrs);
  return node;
}

absl::StatusOr<RunResult> RunNode(const Node& plain_node, const std::vector<Tensor>& inputs,
                                  const NodeRunOptions& options) {
  Node node = plain_node;
  const OpLookup op = FindOp(node.op);
  if (!op) return NotFound(node.op);
  TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, node));
  Flags flags;
  flags.strict_nan = options.strict_nan;
  flags.winograd = options.winograd;
  flags.tiles = options.tiles;
  PrimitiveCache cache(options.cache ? PrimitiveCache::kDefaultLimits : CacheLimits{});
  Services services{&flags, &cache, options.threads};
  std::vector<TensorSpec> specs;
  std::vector<std::unique_ptr<Constant>> owned;
  std::vector<Constant*> constants(inputs.size(), nullptr);
  for (const Tensor& t : inputs) specs.push_back({t.dtype(), t.shape(), nullptr});
  for (int i : options.constants) {
    // As in a session, its value is known.
    specs[static_cast<size_t>(i)].value = &inputs[static_cast<size_t>(i)];
    owned.push_back(std::make_unique<Constant>(inputs[static_cast<size_t>(i)]));
    constants[static_cast<size_t>(i)] = owned.back().get();
  }
  TENON_ASSIGN_OR_RETURN(const PreparedKernel prepared,
                         PrepareNode(node, specs, constants, services));

  RunResult result;
  result.accelerated = prepared.accelerated;
  result.implementation = prepared.kernel->Implementation();
  std::vector<const void*> in;
  for (const Tensor& t : inputs) in.push_back(t.raw());
  for (int i : prepared.unread) in[static_cast<size_t>(i)] = nullptr;
  std::vector<void*> out;
  for (size_t o = 0; o < prepared.outputs.size(); ++o) {
    TENON_ASSIGN_OR_RETURN(Tensor t,
                           Tensor::Allocate(prepared.outputs[o].dtype, prepared.outputs[o].shape));
    for (auto [input, output] : prepared.in_place) {
      if (!options.in_place || output != static_cast<int>(o)) continue;
      std::memcpy(t.raw(), inputs[static_cast<size_t>(input)].raw(), t.bytes());
      in[static_cast<size_t>(input)] = t.raw();
      result.was_in_place = true;
      break;
    }
    out.push_back(t.raw());
    result.outputs.push_back(std::move(t));
  }
  TENON_ASSIGN_OR_RETURN(
      Tensor scratch,
      Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(prepared.scratch_bytes)})));
  RunContext run(in.data(), out.data(), scratch.raw());
  TENON_RETURN_IF_ERROR(prepared.kernel->Run(run));
  return result;
}

double RelativeError(const Tensor& a, const Tensor& b) {
  const double infinite = std::numeric_limits<double>::infinity();
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return infinite;
  double scale = 1, error = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = Value(a, i), y = Value(b, i);
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isnan(x) != std::isnan(y)) return infinite;
      continue;
    }
    if (std::isinf(x) || std::isinf(y)) {
      if (x != y) return infinite;
      continue;
    }
    scale = std::max(scale, std::abs(y));
    error = std::max(error, std::abs(x - y));
  }
  return error / scale;
}

void ExpectNativeMatches(const std::string& op, const AttrMap& attrs,
                         const std::vector<Tensor>& inputs, const NodeRunOptions& options,
                         int64_t length, bool must_accelerate) {
  absl::StatusOr<RunResult> want =
      RunNode(MakeNode(op, attrs), inputs, {.threads = 1, .constants = options.constants});
  ASSERT_TRUE(want.ok()) << want.status();
  const OpLookup row = FindOp(op);
  absl::StatusOr<RunResult> got = RunNode(MakeNode(row.info->row.native, attrs), inputs, options);
  ASSERT_TRUE(got.ok()) << got.status();
  if (must_accelerate) {
    EXPECT_TRUE(got->accelerated);
    EXPECT_FALSE(got->implementation.starts_with("ref")) << got->implementation;
  }
  const double unit = want->outputs[0].dtype() == DType::kBfloat16 ? 1.0 / 256 : 1.2e-7;
  // Partial sums of n products of uniform values grow like sqrt(n) / 3, and each addition rounds
  // one: the errors add up to about n / 8 units, so four sigma are n / 2. The chain adds a few
  // more. Winograd's transforms of 4x4 tiles weight terms by up to 5 in each direction, so that
  // their rounding errors are about four times as large.
  const double growth = absl::StrContains(got->implementation, "wino") ? 4 : 1;
  const double tolerance = unit * growth * (4 + static_cast<double>(length) / 2);
  for (size_t i = 0; i < want->outputs.size(); ++i) {
    EXPECT_LE(RelativeError(got->outputs[i], want->outputs[i]), tolerance)
        << op << " output " << i << " by " << got->implementation;
  }
}

}  // namespace tenon

#include "kernels/contraction/contraction.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/flags.h"
#include "env/status.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/post_op_spec.h"
#include "kernels/contraction/vector_tail.h"

namespace tenon {
namespace {

constexpr int kResult = -1;
constexpr int kWeights = -2;

size_t Align64(size_t n) { return (n + 63) / 64 * 64; }

// A prefix of the fused chain as oneDNN's post-ops.
struct PostOpPlan {
  bool has_bias = false;
  std::vector<PostOpSpec> specs;
  std::vector<int> arguments;  // the node's inputs, or kResult and kWeights
};

// Translates the first `count` fused ops. `sum_at`: the Add whose operand is already in the output.
absl::StatusOr<PostOpPlan> PlanPostOps(const PrepareContext& p, const Contraction& c, size_t count,
                                       int sum_at) {
  PostOpPlan plan;
  std::vector<int> operands;
  plan.arguments = {c.src_input, kWeights};
  for (size_t i = 0; i < count; ++i) {
    const FusedOp& op = c.fused[i];
    if (i == 0 && op.bias && c.native_bias) {
      plan.has_bias = true;
      plan.arguments.push_back(op.input);
      continue;
    }
    if (static_cast<int>(i) == sum_at) {
      PostOpSpec sum;
      sum.kind = PostOpSpec::Kind::kSum;
      plan.specs.push_back(std::move(sum));
      continue;
    }
    if (op.binary()) {
      PostOpSpec binary;
      binary.kind = op.op == ElementwiseOp::kMul ? PostOpSpec::Kind::kBinaryMul
                                                 : PostOpSpec::Kind::kBinaryAdd;
      TENON_ASSIGN_OR_RETURN(binary.operand, c.operand(op, p.input_shape(op.input)));
      plan.specs.push_back(std::move(binary));
      operands.push_back(op.input);
      continue;
    }
    std::optional<PostOpSpec> eltwise = EltwiseSpec(op.op, op.parameter);
    if (!eltwise.has_value()) return Unimplemented("oneDNN has no such post-op");
    plan.specs.push_back(*std::move(eltwise));
  }
  plan.arguments.push_back(kResult);
  plan.arguments.insert(plan.arguments.end(), operands.begin(), operands.end());
  return plan;
}

struct Variant {
  std::shared_ptr<const Primitive> primitive;
  std::vector<int> arguments;
};

absl::StatusOr<Variant> MakeVariant(const PrepareContext& p, const Contraction& c, size_t count,
                                    int sum_at) {
  TENON_ASSIGN_OR_RETURN(PostOpPlan plan, PlanPostOps(p, c, count, sum_at));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Primitive> primitive,
                         c.get(plan.has_bias, plan.specs));
  return Variant{std::move(primitive), std::move(plan.arguments)};
}

class ContractionKernel final : public Kernel {
 public:
  Variant main;
  int sum_input =
      -1;  // main adds to the previous content of the output, which must be this input's value
  size_t sum_bytes = 0;  // of the output
  std::shared_ptr<const PackedWeights> packed;
  std::shared_ptr<const PackedLayout>
      repack;  // weights that are not constant are packed at each Run
  size_t primitive_scratch = 0;
  int src_input = 0;
  int weights_input = 1;
  VectorTail tail;
  FusedPass rest;
  double flops = 0;

  absl::Status Run(RunContext& r) const override {
    void* const output = r.output(0);
    char* const scratch = static_cast<char*>(r.scratch());
    void* weights;
    if (packed != nullptr) {
      weights = const_cast<void*>(packed->data());
    } else if (repack != nullptr) {
      weights = scratch + primitive_scratch;
      TENON_RETURN_IF_ERROR(repack->Pack(r.input(weights_input), weights));
    } else {
      weights = const_cast<void*>(r.input(weights_input));
    }
    if (sum_input >= 0 && r.input(src_input) == output) {
      return Internal("the output of a contraction overlaps its source");
    }
    // If the plan could not place the output over the addend, the addend is copied there.
    if (sum_input >= 0 && r.input(sum_input) != output) {
      std::memcpy(output, r.input(sum_input), sum_bytes);
    }
    absl::InlinedVector<void*, 8> pointers;
    for (int a : main.arguments) {
      pointers.push_back(a == kResult    ? output
                         : a == kWeights ? weights
                                         : const_cast<void*>(r.input(a)));
    }
    TENON_RETURN_IF_ERROR(main.primitive->Execute(pointers, scratch));
    tail.Run(r, output);
    rest.Run(r, output);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return main.primitive->implementation(); }
  double Flops() const override { return flops; }
  size_t HeldBytes() const override { return main.primitive->bytes(); }
};

class ZeroKernel final : public Kernel {
 public:
  ZeroKernel(size_t bytes, FusedPass fused) : bytes_(bytes), fused_(std::move(fused)) {}
  absl::Status Run(RunContext& r) const override {
    if (bytes_ > 0) std::memset(r.output(0), 0, bytes_);
    fused_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "zero"; }

 private:
  const size_t bytes_;
  const FusedPass fused_;
};

size_t OutputBytes(const PrepareContext& p) {
  return static_cast<size_t>(p.output_shape(0).num_elements()) * SizeOf(p.output_dtype(0));
}

// The chain's only residual with exactly the output's shape: it can be added in place. -1: none.
int InPlaceAdd(const PrepareContext& p, const FusedOps& fused, size_t count) {
  int found = -1;
  for (size_t i = 0; i < count; ++i) {
    const FusedOp& op = fused[i];
    if (op.op != ElementwiseOp::kAdd || op.bias || p.input_shape(op.input) != p.output_shape(0))
      continue;
    if (p.constant(op.input) != nullptr) continue;
    if (found >= 0) return -1;  // a primitive can sum only once
    found = static_cast<int>(i);
  }
  return found;
}

// Whether the addend is also the contraction's source: the output must not overwrite it.
bool SameSource(const PrepareContext& p, int input, const Contraction& c) {
  return SameInput(p, input, c.src_input) || SameInput(p, input, c.weights_input);
}

}  // namespace

int ThreadsWorth(int threads, double flops, size_t bytes) {
  const bool tiny = flops < 4e5 && bytes < (size_t{256} << 10);
  return tiny ? 1 : threads;
}

bool SameInput(const PrepareContext& p, int a, int b) {
  const auto& inputs = p.node().inputs;
  return static_cast<size_t>(std::max(a, b)) < inputs.size() &&
         inputs[static_cast<size_t>(a)] == inputs[static_cast<size_t>(b)];
}

bool StrictNan(const PrepareContext& p) {
  return p.services().flags != nullptr && p.services().flags->strict_nan;
}

absl::StatusOr<ElementType> ElementTypeOf(DType dtype) {
  if (dtype == DType::kFloat) return ElementType::kF32;
  if (dtype == DType::kBfloat16) return ElementType::kBf16;
  return Unimplemented("oneDNN does not contract ", Name(dtype));
}

absl::StatusOr<std::unique_ptr<Kernel>> PrepareContraction(PrepareContext& p, Contraction c) {
  // How much of the chain can, and should, be part of the primitive.
  const size_t tail = VectorTail::Begin(p, c.fused);
  size_t limit = 0;
  const bool strict = StrictNan(p);
  while (limit < tail && !c.fused[limit].batch_norm && !(strict && LosesNan(c.fused[limit].op))) {
    ++limit;
  }

  auto kernel = std::make_unique<ContractionKernel>();
  absl::StatusOr<Variant> variant = Unimplemented("");
  size_t count = limit;
  for (;; --count) {
    if (const int sum = InPlaceAdd(p, c.fused, count); sum >= 0) {
      variant = MakeVariant(p, c, count, sum);
      if (variant.ok()) {
        kernel->sum_input = c.fused[static_cast<size_t>(sum)].input;
        kernel->sum_bytes = OutputBytes(p);
        if (!SameSource(p, kernel->sum_input, c)) p.AllowInPlace(kernel->sum_input, 0);
        break;
      }
    }
    variant = MakeVariant(p, c, count, -1);
    if (variant.ok() || !absl::IsUnimplemented(variant.status()) || count == 0) break;
  }
  if (!variant.ok()) return variant.status();

  kernel->main = *std::move(variant);
  kernel->src_input = c.src_input;
  kernel->weights_input = c.weights_input;
  kernel->flops = c.flops;
  const auto after = absl::MakeConstSpan(c.fused).subspan(count);
  if (count == tail || (!strict && VectorTail::CanRun(p, after))) {
    kernel->tail = VectorTail(p, after);
  } else {
    kernel->rest = FusedPass(p, after, c.channel_axis);
  }
  kernel->primitive_scratch = Align64(kernel->main.primitive->scratch_bytes());
  size_t scratch = kernel->primitive_scratch;
  if (auto layout = kernel->main.primitive->weights_layout(); layout != nullptr) {
    if (Constant* weights = p.constant(c.weights_input); weights != nullptr) {
      TENON_ASSIGN_OR_RETURN(kernel->packed, PackConstant(*weights, std::move(layout)));
      p.InputNotRead(c.weights_input);
    } else {
      scratch += layout->bytes();
      kernel->repack = std::move(layout);
    }
  }
  if (scratch > 0) p.RequestScratch(scratch);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

std::unique_ptr<Kernel> ZeroContraction(PrepareContext& p, const FusedOps& fused,
                                        int channel_axis) {
  return std::make_unique<ZeroKernel>(OutputBytes(p), FusedPass(p, fused, channel_axis));
}

}  // namespace tenon

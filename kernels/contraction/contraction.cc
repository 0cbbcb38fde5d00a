#include "kernels/contraction/contraction.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "env/mutex.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/finite_guard.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/post_op_spec.h"
#include "kernels/contraction/vector_tail.h"

namespace tenon {
namespace {

constexpr int kResult = -1;
constexpr int kWeights = -2;

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

// The same contraction for runs whose chain may get a NaN: the primitive ends before the first op
// that oneDNN computes without keeping NaN, and plain loops do the rest. Such runs are rare, so the
// primitive is made for the first one, and buffers for each.
class NanKeepingForm {
 public:
  NanKeepingForm(const PrepareContext& p, const Contraction& c, PostOpPlan plan, size_t count)
      : get_(c.get),
        plan_(std::move(plan)),
        rest_(p, absl::MakeConstSpan(c.fused).subspan(count), c.channel_axis),
        inputs_(p.num_inputs()) {}

  absl::StatusOr<std::shared_ptr<const Primitive>> Get() const {
    MutexLock lock(&mutex_);
    if (primitive_ == nullptr) {
      TENON_ASSIGN_OR_RETURN(primitive_, get_(plan_.has_bias, plan_.specs));
    }
    return primitive_;
  }
  const std::vector<int>& arguments() const { return plan_.arguments; }
  // `addend`: what input `sum` was before the output overwrote it; null if it is intact.
  void RunRest(RunContext& r, int sum, const void* addend) const {
    absl::InlinedVector<const void*, 8> inputs;
    for (int i = 0; i < inputs_; ++i) inputs.push_back(r.input(i));
    if (addend != nullptr) inputs[static_cast<size_t>(sum)] = addend;
    void* const output = r.output(0);
    RunContext with(inputs.data(), &output, nullptr);
    rest_.Run(with, output);
  }

 private:
  const Contraction::Get get_;
  const PostOpPlan plan_;
  const FusedPass rest_;
  const int inputs_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Primitive> primitive_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<Tensor> Buffer(size_t bytes) {
  return Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(bytes)}));
}

class ContractionKernel final : public Kernel {
 public:
  Variant main;
  // Set if main has ops that lose NaN; the form then serves runs for which the guard does not hold.
  std::unique_ptr<const NanKeepingForm> keeping_nan;
  FiniteGuard guard;
  int sum_input =
      -1;  // main adds to the previous content of the output, which must be this input's value
  size_t sum_bytes = 0;  // of the output
  std::shared_ptr<const PackedWeights> packed;
  std::shared_ptr<const PackedLayout>
      repack;  // weights that are not constant are packed at each Run
  size_t primitive_scratch = 0;
  std::function<void(const void*, void*)> make_source;
  size_t source_at = 0;  // in the scratch memory, if it is made
  int src_input = 0;
  int weights_input = 1;
  VectorTail tail;
  FusedPass rest;
  double flops = 0;
  bool weights_within_limit = true;  // if they are constant
  size_t weights_bytes = 0;          // plain

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
    const void* source = r.input(src_input);
    if (make_source != nullptr) {
      make_source(source, scratch + source_at);
      source = scratch + source_at;
    }
    if (sum_input >= 0 && source == output) {
      return Internal("the output of a contraction overlaps its source");
    }
    if (keeping_nan != nullptr && !(weights_within_limit && guard.Holds(r))) {
      return RunKeepingNan(r, source, weights);
    }
    // If the plan could not place the output over the addend, the addend is copied there.
    if (sum_input >= 0 && r.input(sum_input) != output) {
      std::memcpy(output, r.input(sum_input), sum_bytes);
    }
    TENON_RETURN_IF_ERROR(Execute(r, *main.primitive, main.arguments, source, weights, scratch));
    tail.Run(r, output);
    rest.Run(r, output);
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat(make_source == nullptr ? "" : "padded:", main.primitive->implementation());
  }
  double Flops() const override { return flops; }
  size_t HeldBytes() const override { return main.primitive->bytes(); }

 private:
  absl::Status Execute(RunContext& r, const Primitive& primitive, const std::vector<int>& arguments,
                       const void* source, void* weights, void* scratch) const {
    absl::InlinedVector<void*, 8> pointers;
    for (int a : arguments) {
      pointers.push_back(a == kResult     ? r.output(0)
                         : a == kWeights  ? weights
                         : a == src_input ? const_cast<void*>(source)
                                          : const_cast<void*>(r.input(a)));
    }
    return primitive.Execute(pointers, scratch);
  }

  // `weights` are in main's layout.
  absl::Status RunKeepingNan(RunContext& r, const void* source, void* weights) const {
    void* const output = r.output(0);
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Primitive> primitive, keeping_nan->Get());
    const auto layout = primitive->weights_layout(), given = main.primitive->weights_layout();
    Tensor repacked, addend;
    if ((layout == nullptr ? "" : layout->key()) != (given == nullptr ? "" : given->key())) {
      TENON_ASSIGN_OR_RETURN(repacked, Relaid(weights, given.get(), layout.get()));
      weights = repacked.raw();
    }
    TENON_ASSIGN_OR_RETURN(Tensor scratch, Buffer(primitive->scratch_bytes()));
    if (sum_input >= 0 && r.input(sum_input) == output) {
      TENON_ASSIGN_OR_RETURN(addend, Buffer(sum_bytes));
      std::memcpy(addend.raw(), output, sum_bytes);
    } else if (sum_input >= 0) {
      std::memcpy(output, r.input(sum_input), sum_bytes);
    }
    TENON_RETURN_IF_ERROR(
        Execute(r, *primitive, keeping_nan->arguments(), source, weights, scratch.raw()));
    keeping_nan->RunRest(r, sum_input, addend.valid() ? addend.raw() : nullptr);
    return absl::OkStatus();
  }

  // Weights that are in the layout `from`, in the layout `to`; null: plain.
  absl::StatusOr<Tensor> Relaid(void* weights, const PackedLayout* from,
                                const PackedLayout* to) const {
    Tensor plain, packed;
    if (from != nullptr) {
      TENON_ASSIGN_OR_RETURN(plain, Buffer(weights_bytes));
      TENON_RETURN_IF_ERROR(from->Unpack(weights, plain.raw()));
      weights = plain.raw();
      if (to == nullptr) return plain;
    }
    TENON_ASSIGN_OR_RETURN(packed, Buffer(to->bytes()));
    TENON_RETURN_IF_ERROR(to->Pack(weights, packed.raw()));
    return packed;
  }
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

// False if weights are constant and too large for the guard; `packed`: their form, or null.
absl::StatusOr<bool> WeightsWithinLimit(PrepareContext& p, int input, const PackedWeights* packed) {
  const int threads = p.services().threads;
  if (packed != nullptr) return packed->WithinLimit(threads);
  if (p.constant(input) == nullptr) return true;
  TENON_ASSIGN_OR_RETURN(const Tensor plain, p.constant(input)->Plain());
  return WithinLimit(plain.raw(), plain.dtype(), plain.num_elements(), threads);
}

// Reading operands costs at most a few percent of a contraction of this many operations per byte;
// depthwise convolutions have fewer.
constexpr double kLeastFlopsPerByte = 16;

// The inputs that a guard reads, besides those of the chain.
// Constant weights are checked apart.
std::vector<int> GuardedInputs(const PrepareContext& p, const Contraction& c) {
  std::vector<int> inputs = {c.src_input};
  if (p.constant(c.weights_input) == nullptr) inputs.push_back(c.weights_input);
  return inputs;
}

// Whether the addend is also the contraction's source: the output must not overwrite it.
bool SameSource(const PrepareContext& p, int input, const Contraction& c) {
  return SameInput(p, input, c.src_input) || SameInput(p, input, c.weights_input);
}

}  // namespace

int ThreadsWorth(int threads, double flops, size_t bytes) {
  const bool tiny = flops < 6e5 && bytes < (size_t{256} << 10);
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
  while (limit < tail && !c.fused[limit].batch_norm) ++limit;
  size_t lossy = 0;  // the first op whose NaN or infinity oneDNN would change
  while (lossy < limit && !ChangesSpecials(c.fused[lossy].op, c.fused[lossy].parameter)) {
    ++lossy;
  }
  std::optional<FiniteGuard> guard;
  if (lossy < limit) {
    const auto chain = absl::MakeConstSpan(c.fused).subspan(0, limit);
    absl::StatusOr<FiniteGuard> made = FiniteGuard::Make(p, GuardedInputs(p, c), chain);
    if (StrictNan(p) || !made.ok()) {
      limit = lossy;
    } else if (c.flops >= kLeastFlopsPerByte * static_cast<double>(made->bytes())) {
      guard = *std::move(made);
    }
  }

  auto kernel = std::make_unique<ContractionKernel>();
  absl::StatusOr<Variant> variant = Unimplemented("");
  size_t count = limit;
  int sum_at = -1;
  for (;; --count) {
    if (const int sum = InPlaceAdd(p, c.fused, count); sum >= 0) {
      variant = MakeVariant(p, c, count, sum);
      if (variant.ok()) {
        sum_at = sum;
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
  if (count == tail || VectorTail::CanRun(p, after)) {
    kernel->tail = VectorTail(p, after);
  } else {
    kernel->rest = FusedPass(p, after, c.channel_axis);
  }
  kernel->primitive_scratch = RoundUp(kernel->main.primitive->scratch_bytes(), kCacheLine);
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
  if (c.make_source != nullptr) {
    kernel->make_source = c.make_source;
    kernel->source_at = RoundUp(scratch, kCacheLine);
    scratch = kernel->source_at + c.source_bytes;
  }
  if (guard.has_value() && lossy < count) {
    TENON_ASSIGN_OR_RETURN(kernel->weights_within_limit,
                           WeightsWithinLimit(p, c.weights_input, kernel->packed.get()));
    TENON_ASSIGN_OR_RETURN(PostOpPlan plan, PlanPostOps(p, c, lossy, sum_at));
    kernel->keeping_nan = std::make_unique<NanKeepingForm>(p, c, std::move(plan), lossy);
    kernel->guard = *std::move(guard);
    kernel->weights_bytes = static_cast<size_t>(p.input_shape(c.weights_input).num_elements()) *
                            SizeOf(p.input_dtype(c.weights_input));
  }
  if (scratch > 0) p.RequestScratch(scratch);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

std::unique_ptr<Kernel> ZeroContraction(PrepareContext& p, const FusedOps& fused,
                                        int channel_axis) {
  return std::make_unique<ZeroKernel>(OutputBytes(p), FusedPass(p, fused, channel_axis));
}

}  // namespace tenon

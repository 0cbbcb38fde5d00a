#include "kernels/contraction/finite_guard.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "env/status.h"
#include "kernels/contraction/magnitude_simd.h"
#include "kernels/contraction/post_op_spec.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

constexpr uint32_t kLimitBits = std::bit_cast<uint32_t>(FiniteGuard::kLimit);
constexpr int64_t kMostWeights = int64_t{1} << 30;
constexpr double kNsPerByte = 0.03;

// Whether the op's result is at most a few times its operands. oneDNN computes the others of its
// activations without bounds that hold here, or so that they grow.
bool Bounded(const FusedOp& op) {
  switch (op.op) {
    case ElementwiseOp::kAdd:
    case ElementwiseOp::kRelu:
    case ElementwiseOp::kRelu6:
    case ElementwiseOp::kTanh:
    case ElementwiseOp::kSigmoid:
      return !op.batch_norm;
    case ElementwiseOp::kLeakyRelu:
      return op.parameter == 0;
    default:
      return false;
  }
}

}  // namespace

bool WithinLimit(const void* values, DType dtype, int64_t elements, int threads) {
  const int64_t size = dtype == DType::kFloat ? 4 : 2;
  std::atomic<bool> within = true;
  ParallelFor(threads, elements, ParallelGrain(kNsPerByte * static_cast<double>(size)),
              [&](int64_t begin, int64_t end) {
                const auto n = static_cast<size_t>(end - begin);
                const bool here =
                    size == 4 ? LargestMagnitude(static_cast<const uint32_t*>(values) + begin, n) <=
                                    kLimitBits
                              : LargestMagnitude(static_cast<const uint16_t*>(values) + begin, n) <=
                                    kLimitBits >> 16;
                if (!here) within.store(false, std::memory_order_relaxed);
              });
  return within;
}

absl::StatusOr<FiniteGuard> FiniteGuard::Make(PrepareContext& p, absl::Span<const int> operands,
                                              absl::Span<const FusedOp> fused) {
  size_t until = fused.size();
  while (until > 0 && !ChangesSpecials(fused[until - 1].op, fused[until - 1].parameter)) --until;
  std::vector<int> inputs(operands.begin(), operands.end());
  int products = 0;
  for (size_t i = 0; i < until; ++i) {
    const FusedOp& op = fused[i];
    if (op.op == ElementwiseOp::kMul && !op.batch_norm) {
      ++products;
    } else if (!Bounded(op) && i + 1 < until) {
      return Unimplemented("values may overflow within the chain");
    }
    if (op.binary()) inputs.push_back(op.input);
  }
  if (products > 1) return Unimplemented("values may overflow within the chain");

  FiniteGuard guard;
  guard.threads_ = p.services().threads;
  for (const int input : inputs) {
    const DType dtype = p.input_dtype(input);
    const int64_t elements = p.input_shape(input).num_elements();
    if (dtype != DType::kFloat && dtype != DType::kBfloat16) {
      return Unimplemented("operands of another dtype");
    }
    if (elements >= kMostWeights) return Unimplemented("sums of that length may overflow");
    if (Constant* constant = p.constant(input); constant != nullptr) {
      TENON_ASSIGN_OR_RETURN(const Tensor value, constant->Plain());
      if (!WithinLimit(value.raw(), dtype, elements, guard.threads_)) {
        return Unimplemented("a constant with a NaN, an infinity or a huge value");
      }
      continue;
    }
    guard.operands_.push_back({input, dtype, elements});
  }
  return guard;
}

bool FiniteGuard::Holds(const RunContext& r) const {
  return std::all_of(operands_.begin(), operands_.end(), [&](const Operand& o) {
    return WithinLimit(r.input(o.input), o.dtype, o.elements, threads_);
  });
}

int64_t FiniteGuard::bytes() const {
  int64_t sum = 0;
  for (const Operand& o : operands_) sum += o.elements * static_cast<int64_t>(SizeOf(o.dtype));
  return sum;
}

}  // namespace tenon

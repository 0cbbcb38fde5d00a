// oneDNN's Relu, Relu6 and Exp turn NaN into a number. A guard tells before a contraction runs
// whether its fused chain can get a NaN at all.
//
// It reads the operands for their largest magnitude, which costs less than another pass over the
// result. If each is at most kLimit, so that neither products nor sums overflow, every value up to
// the last such activation is a number.
#ifndef TENON_KERNELS_CONTRACTION_FINITE_GUARD_H_
#define TENON_KERNELS_CONTRACTION_FINITE_GUARD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"

namespace tenon {

class FiniteGuard {
 public:
  // A sum of 2^30 products of two values of this size, times a third, fits a float.
  static constexpr float kLimit = 1e9f;

  FiniteGuard() = default;

  // A guard for the inputs `operands` and those that `fused` reads. Unimplemented if it cannot be
  // told from magnitudes, or a constant is already too large; then the chain always needs the
  // way that keeps NaN. Constants are read here, by the plain value.
  static absl::StatusOr<FiniteGuard> Make(PrepareContext& p, absl::Span<const int> operands,
                                          absl::Span<const FusedOp> fused);

  // Whether no value of this run can be a NaN or infinite.
  bool Holds(const RunContext& r) const;

  // How much Holds() reads.
  int64_t bytes() const;

 private:
  struct Operand {
    int input;
    DType dtype;
    int64_t elements;
  };
  std::vector<Operand> operands_;
  int threads_ = 1;
};

// Whether every element is at most FiniteGuard::kLimit. `dtype` is float or bfloat16.
bool WithinLimit(const void* values, DType dtype, int64_t elements, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_FINITE_GUARD_H_

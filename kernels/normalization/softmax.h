// Shared by Softmax, LogSoftmax and _FusedSoftmax: kernels of
//
//   softmax(inputs[0] * scale + inputs[1] + ...)
//
// over the last axis, with the inputs broadcast to the output. The last `num_conditions` inputs are
// bool: if one of them is false, the argument is `masked` instead.
#ifndef TENON_KERNELS_NORMALIZATION_SOFTMAX_H_
#define TENON_KERNELS_NORMALIZATION_SOFTMAX_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/normalization/row_simd.h"

namespace tenon {

struct SoftmaxOptions {
  SoftmaxKind kind = SoftmaxKind::kSoftmax;
  float scale = 1;
  int num_conditions = 0;
  float masked = 0;
};

// half, bfloat16, float, double.
absl::StatusOr<std::unique_ptr<Kernel>> MakeReferenceSoftmax(PrepareContext& p,
                                                             const SoftmaxOptions& options);
// float and bfloat16; Unimplemented for others.
absl::StatusOr<std::unique_ptr<Kernel>> MakeVectorSoftmax(PrepareContext& p,
                                                          const SoftmaxOptions& options);

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_SOFTMAX_H_

// Means and sums of 8-bit integers in mode SCALED.
#ifndef TENON_KERNELS_QUANTIZED_SCALED_H_
#define TENON_KERNELS_QUANTIZED_SCALED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The mean of qint8 or quint8 over the axes in input 1, plus the attribute offset, as float; inputs
// 2 and 3 are the range. InvalidArgument if the axes are not adjacent, or there are too many
// elements to sum in int32.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledMeanReference(PrepareContext& p);
// The same by vector code.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledMeanVector(PrepareContext& p);

// round(relu(a * a's scale + b * b's scale + offset) / y's scale), saturated: qint8 or quint8
// tensors of one shape, each with its own range (inputs 2 to 7). `zero` is the result's zero point,
// at which relu clips (the caller includes it in `offset`). InvalidArgument if `zero` is not such
// an integer.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledAddReference(PrepareContext& p);
// The same by vector code.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledAddVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_SCALED_H_

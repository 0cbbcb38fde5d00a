// Means and sums of 8-bit integers of mode SCALED.
#ifndef TENON_KERNELS_QUANTIZED_SCALED_H_
#define TENON_KERNELS_QUANTIZED_SCALED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {  // The mean of qint8 or quint8 over the axes in input 1, plus the attribute
                   // offset, as float; inputs 2
// and 3 are the range. InvalidArgument where the axes do not stand side by side, or there are too
// many elements to sum in int32.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledMeanReference(PrepareContext& p);
// The same by vector code.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledMeanVector(PrepareContext& p);

// round(relu(a * a's step + b * b's step + offset) / y's step), saturated: qint8 or quint8 tensors
// of one shape, each with a range of its own (inputs 2 to 7). With `zero` that integer stands for
// the result's 0 (its part of `offset` is the caller's): relu bounds the sum there. InvalidArgument
// where `zero` is no such integer.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledAddReference(PrepareContext& p);
// The same by vector code.
absl::StatusOr<std::unique_ptr<Kernel>> ScaledAddVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_SCALED_H_

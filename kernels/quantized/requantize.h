// 32-bit integers brought down to 8 bits, and the ranges for that: for the whole tensor, or by
// channel of an image (the last of 4 dimensions).
#ifndef TENON_KERNELS_QUANTIZED_REQUANTIZE_H_
#define TENON_KERNELS_QUANTIZED_REQUANTIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// From the range in inputs 1 and 2 to that in 3 and 4, as quint8 or qint8. InvalidArgument for a
// new range that lacks 0 or is empty.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizeKernel(PrepareContext& p);

// The range of the values really there, with 0 in it.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizationRangeKernel(PrepareContext& p);

// Both in one, to quint8.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizeAndShrinkKernel(PrepareContext& p);

// Inputs 1 and 2: a range for each channel; 3 and 4: the one range of the result (quint8 or
// qint8), of mode SCALED. InvalidArgument for qint8 without negative numbers.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizePerChannelKernel(PrepareContext& p);

// The one range that all channels fit, of mode SCALED, at most clip_value_max.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizationRangePerChannelKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_REQUANTIZE_H_

// Converts 32-bit integers to 8 bits, and computes ranges for that: for the whole tensor, or per
// channel of an image (the last of 4 dimensions).
#ifndef TENON_KERNELS_QUANTIZED_REQUANTIZE_H_
#define TENON_KERNELS_QUANTIZED_REQUANTIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// From the range in inputs 1 and 2 to that in 3 and 4, as quint8 or qint8. InvalidArgument for a
// new range that does not include 0 or is empty.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizeKernel(PrepareContext& p);

// The range of the actual values, extended to include 0.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizationRangeKernel(PrepareContext& p);

// Both in one, to quint8.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizeAndShrinkKernel(PrepareContext& p);

// Inputs 1 and 2: one range per channel; 3 and 4: the single range of the result (quint8 or qint8),
// in mode SCALED. InvalidArgument for qint8 without negative numbers.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizePerChannelKernel(PrepareContext& p);

// The single range that includes all channels, in mode SCALED, at most clip_value_max.
absl::StatusOr<std::unique_ptr<Kernel>> RequantizationRangePerChannelKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_REQUANTIZE_H_

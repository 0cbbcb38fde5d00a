// Relu on quantized integers, with or without an upper bound.
#ifndef TENON_KERNELS_QUANTIZED_RELU_H_
#define TENON_KERNELS_QUANTIZED_RELU_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The upper bound of results.
enum class ReluBound { kNone, kSix, kInput };

// The position of the range among the inputs: after the bound, if that is an input.
constexpr int ReluRangeInput(ReluBound bound) { return bound == ReluBound::kInput ? 2 : 1; }

// quint8 or qint32, in the same range. InvalidArgument if input and output dtypes differ.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReluKernel(PrepareContext& p, ReluBound bound);
template <ReluBound bound>
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReluKernel(PrepareContext& p) {
  return QuantizedReluKernel(p, bound);
}

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_RELU_H_

// Relu on quantized integers, bounded or not.
#ifndef TENON_KERNELS_QUANTIZED_RELU_H_
#define TENON_KERNELS_QUANTIZED_RELU_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// What results are at most.
enum class ReluBound { kNone, kSix, kInput };

// Where the range stands among the inputs: behind the bound that is one.
constexpr int ReluRangeInput(ReluBound bound) { return bound == ReluBound::kInput ? 2 : 1; }

// quint8 or qint32, in the same range. InvalidArgument where input and output dtypes differ.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReluKernel(PrepareContext& p, ReluBound bound);
template <ReluBound bound>
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReluKernel(PrepareContext& p) {
  return QuantizedReluKernel(p, bound);
}

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_RELU_H_

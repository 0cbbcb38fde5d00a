// Reshapes and concatenates 8-bit and other quantized tensors.
#ifndef TENON_KERNELS_QUANTIZED_ARRAY_H_
#define TENON_KERNELS_QUANTIZED_ARRAY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The same integers and range with another shape.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReshapeKernel(PrepareContext& p);

// The positions of the axis and the first value; the ranges follow: all minima, then all maxima.
struct ConcatPlaces {
  int axis, values, count;
  int ranges() const { return count + 1; }
};

// The position of the axis among the inputs.
enum class ConcatAxisAt { kFirst, kBehindValues };

// The positions for that many inputs.
inline ConcatPlaces ConcatPlacesOf(ConcatAxisAt axis, int inputs) {
  const int count = (inputs - 1) / 3;
  if (axis == ConcatAxisAt::kFirst) return {0, 1, count};
  return {count, 0, count};
}

// Concatenates tensors of any quantized dtype along an axis; if their ranges differ, converts them
// to one that includes all of them.
template <ConcatAxisAt kAxis>
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConcatKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_ARRAY_H_

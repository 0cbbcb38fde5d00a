#include "kernels/quantized/range_inputs.h"

namespace tenon {

Slices SlicesOf(const Shape& shape, int64_t axis) {
  Slices s;
  for (int i = 0; i < shape.rank(); ++i) {
    (axis < 0 || i > axis ? s.inner : i < axis ? s.outer : s.count) *= shape[i];
  }
  return s;
}

}  // namespace tenon

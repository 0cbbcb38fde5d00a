#include "kernels/linalg/matrices.h"

#include "env/status.h"
#include "kernels/interface/axis.h"

namespace tenon {

MatrixBatch BatchOf(const Shape& shape) {
  const int rank = shape.rank();
  return {Product(shape, 0, rank - 2), shape.dim(rank - 2), shape.dim(rank - 1)};
}

}  // namespace tenon

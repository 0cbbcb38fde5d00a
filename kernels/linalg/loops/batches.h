// Tensors as batches of row-major matrices: the last two dimensions are one matrix's.
#ifndef TENON_KERNELS_LINALG_LOOPS_BATCHES_H_
#define TENON_KERNELS_LINALG_LOOPS_BATCHES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "graph/shape.h"

namespace tenon {

// The matrices of a shape of at least two dimensions.
struct MatrixBatch {
  int64_t count = 1;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t size() const { return rows * cols; }
};
MatrixBatch BatchOf(const Shape& shape);

// The dimensions before the last two.
Shape BatchShape(const Shape& shape);

// The index of the matrix, in a tensor with that batch shape, that is read for the one at `index`
// of the broadcast batch shape `out`.
int64_t BatchIndex(const Shape& batch, const Shape& out, int64_t index);

// Calls fn(b) for each matrix b < count, on several threads. `ns`: what one takes (NsOfMatrix). The
// error is that of the first matrix that fails; matrices after it may have been computed.
absl::Status ForMatrices(int threads, int64_t count, double ns,
                         absl::FunctionRef<absl::Status(int64_t b)> fn);
// For about so many operations for each element and each of the fewer of rows and columns.
double NsOfMatrix(const MatrixBatch& m, double operations);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_BATCHES_H_

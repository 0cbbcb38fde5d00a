// Sparse matrices (kernels/sparse/csr_matrix.h) from and to tensors. Float, double and complex
// numbers. InvalidArgument at Run for variants that hold no matrix, or one of another dtype.
#ifndef TENON_KERNELS_SPARSE_CSR_CONVERT_H_
#define TENON_KERNELS_SPARSE_CSR_CONVERT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: indices [n, 2 or 3], values [n], shape. InvalidArgument for indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> CsrFromSparseKernel(PrepareContext& p);
// Inputs: a dense matrix or a batch of them, and the indices of the elements to take.
absl::StatusOr<std::unique_ptr<Kernel>> CsrFromDenseKernel(PrepareContext& p);
// Input: the shape. No elements.
absl::StatusOr<std::unique_ptr<Kernel>> CsrZerosKernel(PrepareContext& p);

// Outputs: indices, values, shape.
absl::StatusOr<std::unique_ptr<Kernel>> CsrToSparseKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> CsrToDenseKernel(PrepareContext& p);
// Inputs: a matrix, and which one of the batch. Outputs: where its rows begin, columns, values.
absl::StatusOr<std::unique_ptr<Kernel>> CsrComponentsKernel(PrepareContext& p);
// The number of elements, a scalar; of a batch, one for each matrix.
absl::StatusOr<std::unique_ptr<Kernel>> CsrCountKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_CSR_CONVERT_H_

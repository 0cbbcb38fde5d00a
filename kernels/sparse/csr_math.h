// Arithmetic on sparse matrices (kernels/sparse/csr_matrix.h). Float, double and complex numbers.
// InvalidArgument at Run for variants that hold no matrix, or one of another dtype or shape.
#ifndef TENON_KERNELS_SPARSE_CSR_MATH_H_
#define TENON_KERNELS_SPARSE_CSR_MATH_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// InvalidArgument if an operand is both transposed and adjoint.
absl::Status CheckTransposes(const AttrReader& attrs);

// A sparse matrix times a dense one, each optionally transposed or adjoint; then the product
// (transpose_output, conjugate_output).
absl::StatusOr<std::unique_ptr<Kernel>> CsrTimesDenseKernel(PrepareContext& p);
// The same of two sparse ones. Sums that are 0 stay elements.
absl::StatusOr<std::unique_ptr<Kernel>> CsrTimesCsrKernel(PrepareContext& p);
// Attribute conjugate.
absl::StatusOr<std::unique_ptr<Kernel>> CsrTransposeKernel(PrepareContext& p);

// Inputs: a, b, alpha, beta. alpha a + beta b has the elements of both.
absl::StatusOr<std::unique_ptr<Kernel>> CsrAddKernel(PrepareContext& p);
// Times a scalar; a batch also times [batches, 1, 1].
absl::StatusOr<std::unique_ptr<Kernel>> CsrScaleKernel(PrepareContext& p);

// The softmax of each row's elements: those that are not stored count as minus infinity. Float and
// double.
absl::StatusOr<std::unique_ptr<Kernel>> CsrSoftmaxKernel(PrepareContext& p);
// Inputs: a softmax and its gradient. The result has the former's elements.
absl::StatusOr<std::unique_ptr<Kernel>> CsrSoftmaxGradKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_CSR_MATH_H_

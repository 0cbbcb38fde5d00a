// Transposes by strided copies, conjugate transposes, and the inverse of a permutation.
#ifndef TENON_KERNELS_LAYOUT_TRANSPOSE_REFERENCE_H_
#define TENON_KERNELS_LAYOUT_TRANSPOSE_REFERENCE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/layout/transpose.h"

namespace tenon {

// A permutation of `rank` axes, from a vector. InvalidArgument if it is not one.
absl::StatusOr<std::vector<int64_t>> ReadPermutation(const Tensor& t, int rank);

// Input 0 with its axes in the order of input 1; any dtype.
absl::StatusOr<std::unique_ptr<Kernel>> TransposeReference(PrepareContext& p);
// The same; complex numbers are conjugated.
absl::StatusOr<std::unique_ptr<Kernel>> ConjugateTransposeReference(PrepareContext& p);

// VectorTranspose; complex numbers are then conjugated in place.
absl::StatusOr<std::unique_ptr<Kernel>> VectorConjugateTranspose(PrepareContext& p);

// For a vector of int32 or int64. InvalidArgument if it is not a permutation.
absl::StatusOr<std::unique_ptr<Kernel>> InvertPermutationKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_TRANSPOSE_REFERENCE_H_

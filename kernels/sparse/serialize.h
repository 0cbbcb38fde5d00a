// Sparse tensors (indices [n, rank], values [n], shape [rank]) as three strings, the TensorProto
// messages of the three tensors, or as three variants, each of which holds one of them.
#ifndef TENON_KERNELS_SPARSE_SERIALIZE_H_
#define TENON_KERNELS_SPARSE_SERIALIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The tensor in inputs 0 to 2 as a vector of 3. Whether the three agree is not checked.
absl::StatusOr<std::unique_ptr<Kernel>> SerializeSparseKernel(PrepareContext& p);

// Its N slices along dimension 0 as a matrix [N, 3]. InvalidArgument for rank 1, and for indices
// that are out of bounds, repeated or not in row-major order.
absl::StatusOr<std::unique_ptr<Kernel>> SerializeManySparseKernel(PrepareContext& p);

// Input: [..., 3]. Outputs: the sparse tensor, stacked along the leading dimensions; in each other
// dimension it is as large as the largest part. InvalidArgument for parts of different ranks, of
// values that are not of the output's dtype, and for what is no sparse tensor.
absl::StatusOr<std::unique_ptr<Kernel>> DeserializeSparseKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_SERIALIZE_H_

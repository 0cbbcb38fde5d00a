// Ragged tensors as elements of variant tensors: how functions that are mapped over ragged tensors
// pass their rows.
#ifndef TENON_KERNELS_RAGGED_RAGGED_VARIANT_H_
#define TENON_KERNELS_RAGGED_RAGGED_VARIANT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: nested row splits (int32 or int64), values of any dtype. Output: a variant scalar or,
// with attribute batched_input, a vector of the rows.
absl::StatusOr<std::unique_ptr<Kernel>> RaggedToVariantKernel(PrepareContext& p);

// Input: a variant tensor. Outputs: row splits and values of the ragged tensor that stacks its
// elements. InvalidArgument for elements of other dtypes, or of another number of row splits.
absl::StatusOr<std::unique_ptr<Kernel>> RaggedFromVariantKernel(PrepareContext& p);

// The gradient of RaggedTensorToVariant. Inputs: a variant tensor of ragged gradients, of which
// some may be missing, the outermost row splits (or a scalar, if none is missing), and the shape of
// the values (int32). Output: the gradients' values one after the other in that shape; those of one
// element keep their own.
absl::StatusOr<std::unique_ptr<Kernel>> RaggedToVariantGradientKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RAGGED_RAGGED_VARIANT_H_

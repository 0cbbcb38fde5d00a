// Composite tensors (ragged, sparse, structures …) in a variant scalar: their tensors in order, and
// a description of the kind, a CompositeTensorVariantMetadata message.
#ifndef TENON_KERNELS_LISTS_COMPOSITE_H_
#define TENON_KERNELS_LISTS_COMPOSITE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A composite tensor of all inputs, and the tensors of the one in input 0. The attribute `metadata`
// describes it; InvalidArgument if it is no such message. At run time, InvalidArgument if input 0
// is of another class of composite tensors, or its tensors are of other dtypes than the outputs.
absl::StatusOr<std::unique_ptr<Kernel>> CompositeOfKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> CompositePartsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_COMPOSITE_H_

// Optionals: tensors that may be absent, in a variant scalar.
#ifndef TENON_KERNELS_LISTS_OPTIONAL_H_
#define TENON_KERNELS_LISTS_OPTIONAL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// An optional without a value.
absl::StatusOr<std::unique_ptr<Kernel>> NoOptionalKernel(PrepareContext&);

// An optional whose value is all inputs.
absl::StatusOr<std::unique_ptr<Kernel>> OptionalOfKernel(PrepareContext& p);

// Whether the optional in input 0 has a value: bool. InvalidArgument if it is no optional.
absl::StatusOr<std::unique_ptr<Kernel>> OptionalHasKernel(PrepareContext&);

// The optional's value. InvalidArgument if it has none, or its tensors are not of the outputs'
// dtypes, or not of the shapes in output_shapes.
absl::StatusOr<std::unique_ptr<Kernel>> OptionalGetKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_OPTIONAL_H_

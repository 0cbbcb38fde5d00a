// Sorts rows of several tensors by keys that are computed already.
#ifndef TENON_KERNELS_XLA_SORT_BY_KEYS_H_
#define TENON_KERNELS_XLA_SORT_BY_KEYS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: integer keys, the tensors, all of one shape, and the dimension (int32). Attribute
// `descending`: for each key whether larger ones come first. The first key counts
// first; elements whose keys are all equal keep their order. At run time, InvalidArgument for a
// dimension that the tensors do not have.
absl::StatusOr<std::unique_ptr<Kernel>> SortByKeysKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_SORT_BY_KEYS_H_

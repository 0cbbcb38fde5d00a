// Maps from tensors to tensors: the objects behind the handles (variant scalars) of the TensorMap
// ops. As with lists (tensor_list.h), ops change a copy once another step may see a map.
#ifndef TENON_KERNELS_LISTS_TENSOR_MAP_H_
#define TENON_KERNELS_LISTS_TENSOR_MAP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Keys are equal if their dtypes, shapes and bytes are. Keys of variants or resources are
// Unimplemented. Input 0 of all but the first is the map: InvalidArgument if it is none.

// A map without keys.
absl::StatusOr<std::unique_ptr<Kernel>> EmptyMapKernel(PrepareContext&);

// The number of keys: int32.
absl::StatusOr<std::unique_ptr<Kernel>> MapSizeKernel(PrepareContext&);

// The map in which the key in input 1 has the value in input 2, in place of any other.
absl::StatusOr<std::unique_ptr<Kernel>> MapInsertKernel(PrepareContext& p);

// The value of the key in input 1. InvalidArgument if there is none, or of another dtype.
absl::StatusOr<std::unique_ptr<Kernel>> MapLookupKernel(PrepareContext& p);

// The map without the key in input 1. InvalidArgument if it does not have that key.
absl::StatusOr<std::unique_ptr<Kernel>> MapEraseKernel(PrepareContext& p);

// Whether the map has the key in input 1: bool.
absl::StatusOr<std::unique_ptr<Kernel>> MapHasKeyKernel(PrepareContext& p);

// All keys along a new first dimension, in the order of their shapes and bytes. InvalidArgument if
// there are none, or they differ in shape or from the output's dtype.
absl::StatusOr<std::unique_ptr<Kernel>> MapStackKeysKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_TENSOR_MAP_H_

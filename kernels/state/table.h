// Lookups in tables of keys and values.
#ifndef TENON_KERNELS_STATE_TABLE_H_
#define TENON_KERNELS_STATE_TABLE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// For each key (input 0), the value (input 3) at the position of the equal key in input 2, or the
// default (input 1). Keys are strings, int32 or int64, values any dtype of up to 8 bytes. If the
// keys are a constant, all kernels share their index.
absl::StatusOr<std::unique_ptr<Kernel>> TableFindKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_TABLE_H_

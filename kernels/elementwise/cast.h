// Casts between float and bfloat16 or half (round to nearest, ties to even).
#ifndef TENON_KERNELS_ELEMENTWISE_CAST_H_
#define TENON_KERNELS_ELEMENTWISE_CAST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Unimplemented for other dtypes, and for truncation.
absl::StatusOr<std::unique_ptr<Kernel>> VectorCast(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_CAST_H_

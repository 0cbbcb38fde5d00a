// Casts between dtypes.
#ifndef TENON_KERNELS_ELEMENTWISE_CAST_H_
#define TENON_KERNELS_ELEMENTWISE_CAST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Between numbers and bool. Float to integer goes toward zero. What does not fit is what x86's
// conversions give, which is what TensorFlow gives: the lowest int32 or int64 for those; narrower
// integers are cut from int32, uint32 from int64. A complex number gives its real part; anything
// but zero is true. Attribute Truncate: to half and bfloat16 toward zero.
absl::StatusOr<std::unique_ptr<Kernel>> CastReference(PrepareContext& p);

// Between float and bfloat16 or half, to nearest, ties to even. Unimplemented for other dtypes, and
// for truncation.
absl::StatusOr<std::unique_ptr<Kernel>> VectorCast(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_CAST_H_

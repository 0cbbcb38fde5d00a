// Casts between dtypes.
#ifndef TENON_KERNELS_ELEMENTWISE_CAST_H_
#define TENON_KERNELS_ELEMENTWISE_CAST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Between numbers and bool. Float to integer truncates toward zero. Values out of range become what
// x86's conversions give, as in TensorFlow: the lowest value for int32 or int64; narrower integers
// are truncated from int32, uint32 from int64. A complex number counts as its real part; any other
// value than 0 is true. Attribute Truncate: rounds to half, bfloat16 and float8 toward zero.
// Quantized dtypes count as the integers that their elements are. float8 is rounded from float, or
// from double, to nearest even; int4 and uint4 keep the low four bits of int8 and uint8.
absl::StatusOr<std::unique_ptr<Kernel>> CastReference(PrepareContext& p);

// Between float and bfloat16 or half, rounding to nearest even. Unimplemented for other dtypes, and
// for truncation.
absl::StatusOr<std::unique_ptr<Kernel>> VectorCast(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_CAST_H_

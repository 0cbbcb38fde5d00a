// Conversions between strings and numbers, bytes and base64 text.
#ifndef TENON_KERNELS_STRINGS_CONVERT_H_
#define TENON_KERNELS_STRINGS_CONVERT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Elements of any dtype as text, formatted like printf by precision, width, fill, scientific and
// shortest. InvalidArgument if these are incompatible with each other or with the dtype.
absl::StatusOr<std::unique_ptr<Kernel>> AsStringKernel(PrepareContext& p);

// Text parsed as float, double, int32, int64, uint32 or uint64; same shape. InvalidArgument if a
// string is not a number.
absl::StatusOr<std::unique_ptr<Kernel>> StringToNumberKernel(PrepareContext& p);

// Bytes of strings (all of the same length, a multiple of the element size) as elements of the
// output dtype, in one more dimension; bytes are swapped if little_endian is false.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeRawKernel(PrepareContext& p);

// Strings of any shape as web-safe base64, padded with = if `pad` is set.
absl::StatusOr<std::unique_ptr<Kernel>> EncodeBase64Kernel(PrepareContext& p);

// Web-safe base64 text, padded or not, decoded. InvalidArgument if it is invalid.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeBase64Kernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_CONVERT_H_

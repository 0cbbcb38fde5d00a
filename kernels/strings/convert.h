// Conversions between strings and numbers, bytes and base64 text.
#ifndef TENON_KERNELS_STRINGS_CONVERT_H_
#define TENON_KERNELS_STRINGS_CONVERT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Elements of any dtype as text, formatted like printf by precision, width, fill, scientific and
// shortest. InvalidArgument where these contradict each other or the dtype.
absl::StatusOr<std::unique_ptr<Kernel>> AsStringKernel(PrepareContext& p);

// Text parsed as float, double, int32, int64, uint32 or uint64; same shape. InvalidArgument
// where a string is no number.
absl::StatusOr<std::unique_ptr<Kernel>> StringToNumberKernel(PrepareContext& p);

// Bytes of strings (all of one length, a multiple of the element size) as elements of the output
// dtype, in one more dimension; swapped where little_endian is false.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeRawKernel(PrepareContext& p);

// Strings of any shape as web-safe base64, padded with = where `pad` is set.
absl::StatusOr<std::unique_ptr<Kernel>> EncodeBase64Kernel(PrepareContext& p);

// Text of web-safe base64, padded or not, decoded. InvalidArgument where it is invalid.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeBase64Kernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_CONVERT_H_

// Conversions between text and code points, and between encodings: from those of encoding.h to
// UTF-8, UTF-16 and UTF-32 (big-endian).
#ifndef TENON_KERNELS_STRINGS_UNICODE_H_
#define TENON_KERNELS_STRINGS_UNICODE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Code points (int32) of a tensor of strings, with row splits (int32 or int64) for the
// strings and, if there is a third output, the byte at which each character begins. InvalidArgument
// for text that is not in its encoding with errors=strict.
absl::StatusOr<std::unique_ptr<Kernel>> UnicodeDecodeKernel(PrepareContext& p);

// Strings of any shape in the encoding output_encoding. InvalidArgument for text that is not in
// its encoding with errors=strict.
absl::StatusOr<std::unique_ptr<Kernel>> UnicodeTranscodeKernel(PrepareContext& p);

// One string per row of code points (int32 [n], row splits int32 or int64). InvalidArgument if the
// splits do not increase from 0 to n, and for values that are not characters with errors=strict.
absl::StatusOr<std::unique_ptr<Kernel>> UnicodeEncodeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_UNICODE_H_

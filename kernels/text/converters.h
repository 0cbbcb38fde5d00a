// Text in the encodings that ICU has tables for, such as Shift_JIS, EUC-KR or windows-1252.
#ifndef TENON_KERNELS_TEXT_CONVERTERS_H_
#define TENON_KERNELS_TEXT_CONVERTERS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace tenon {

// InvalidArgument if ICU has no such encoding, or its data was left out.
absl::Status CheckConverter(const std::string& name);

// Calls `visit` for each character of a text, with one past its last byte; any value, and valid =
// false, for bytes that are none. Stops when `visit` returns false.
absl::Status ConvertCharacters(
    const std::string& name, const std::string& text,
    absl::FunctionRef<bool(uint32_t character, size_t end, bool valid)> visit);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_CONVERTERS_H_

// Text in UTF-8 and a few other encodings, character by character.
#ifndef TENON_KERNELS_STRINGS_ENCODING_H_
#define TENON_KERNELS_STRINGS_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon {

// The character at `at`, which moves on; any value, and valid = false, for bytes that are none.
// at < text.size().
using NextCharacterFn = uint32_t (*)(const std::string& text, size_t& at, bool& valid);

struct Encoding {
  NextCharacterFn next = nullptr;
  // For texts that begin with a byte order mark, which is skipped; null if marks are characters.
  NextCharacterFn marked_big = nullptr, marked_little = nullptr;
  size_t unit = 1;  // bytes of the mark

  // The function for a text; `at` moves from 0 past a mark.
  NextCharacterFn Begin(const std::string& text, size_t& at) const;
};

// UTF-8, UTF-16 and UTF-32 (of either byte order; big-endian without a mark), US-ASCII and
// ISO-8859-1. As in ICU, case, hyphens, underscores and spaces do not count. Unimplemented for
// other encodings.
absl::StatusOr<Encoding> EncodingNamed(absl::string_view name);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_ENCODING_H_

// Text in UTF-8 and a few other encodings, character by character.
#ifndef TENON_KERNELS_STRINGS_ENCODING_H_
#define TENON_KERNELS_STRINGS_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon {

// The character at `at`, which moves on; any value, and valid = false, for bytes that are none.
// at < text.size().
using NextCharacterFn = uint32_t (*)(const std::string& text, size_t& at, bool& valid);

// Decodes texts in an encoding that has a library's tables. Any number of threads may use it.
class TextDecoder {
 public:
  virtual ~TextDecoder() = default;
  // Calls `visit` for each character, in order, with one past its last byte; any value, and valid =
  // false, for bytes that are none. Stops when `visit` returns false.
  using Visit = absl::FunctionRef<bool(uint32_t character, size_t end, bool valid)>;
  virtual absl::Status ForEach(const std::string& text, Visit visit) const = 0;
};
// InvalidArgument if there is no such encoding.
using TextDecoderFactory =
    absl::StatusOr<std::shared_ptr<const TextDecoder>> (*)(absl::string_view name);
// Makes decoders known, while the program is loaded.
void SetTextDecoders(TextDecoderFactory factory);

struct Encoding {
  NextCharacterFn next = nullptr;  // null: `decoder` decodes
  // For texts that begin with a byte order mark, which is skipped; null if marks are characters.
  NextCharacterFn marked_big = nullptr, marked_little = nullptr;
  size_t unit = 1;  // bytes of the mark
  std::shared_ptr<const TextDecoder> decoder = nullptr;

  // The function for a text; `at` moves from 0 past a mark.
  NextCharacterFn Begin(const std::string& text, size_t& at) const;
};

// UTF-8, UTF-16 and UTF-32 (of either byte order; big-endian without a mark), US-ASCII and
// ISO-8859-1, and what the decoders know. As in ICU, case, hyphens, underscores and spaces do not
// count. Unimplemented for other encodings if there are no decoders.
absl::StatusOr<Encoding> EncodingNamed(absl::string_view name);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_ENCODING_H_

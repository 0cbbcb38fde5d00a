// Faces typed with characters, such as ":-)".
#ifndef TENON_KERNELS_TEXT_EMOTICONS_H_
#define TENON_KERNELS_TEXT_EMOTICONS_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace tenon {

// The size of the emoticon that the text begins with, 0 if it begins with none.
size_t EmoticonSize(absl::string_view text);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_EMOTICONS_H_

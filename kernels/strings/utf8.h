// UTF-8, character by character.
#ifndef TENON_KERNELS_STRINGS_UTF8_H_
#define TENON_KERNELS_STRINGS_UTF8_H_

#include <cstdint>
#include <string>

namespace tenon {

// The character at `at`, which moves on; U+FFFD for bytes that are none. at < text.size().
uint32_t NextCharacter(const std::string& text, size_t& at);
// As above; says whether the bytes were a character.
uint32_t NextCharacter(const std::string& text, size_t& at, bool& valid);
void AppendCharacter(uint32_t character, std::string& to);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_UTF8_H_

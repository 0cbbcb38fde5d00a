#include "kernels/strings/utf8.h"

namespace tenon {

uint32_t NextCharacter(const std::string& text, size_t& at, bool& valid) {
  const unsigned char lead = static_cast<unsigned char>(text[at++]);
  valid = true;
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  uint32_t c = lead & (0x3Fu >> more);
  valid = lead >= 0xC2 && lead <= 0xF4;
  for (int i = 0; i < more && valid; ++i) {
    if (at >= text.size()) {
      valid = false;
      break;
    }
    const unsigned char next = static_cast<unsigned char>(text[at]);
    // After some leads the second byte has a smaller range: no overlong forms, no surrogates.
    unsigned low = 0x80, high = 0xBF;
    if (i == 0 && lead == 0xE0) low = 0xA0;
    if (i == 0 && lead == 0xED) high = 0x9F;
    if (i == 0 && lead == 0xF0) low = 0x90;
    if (i == 0 && lead == 0xF4) high = 0x8F;
    if (next < low || next > high) {
      valid = false;
      break;
    }
    c = c << 6 | (next & 0x3F);
    ++at;
  }
  return valid ? c : 0xFFFD;
}

uint32_t NextCharacter(const std::string& text, size_t& at) {
  bool valid;
  return NextCharacter(text, at, valid);
}

void AppendCharacter(uint32_t c, std::string& to) {
  if (c < 0x80) {
    to += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  to += static_cast<char>(kLead[more] | c >> (6 * more));
  for (int i = more - 1; i >= 0; --i) to += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
}

}  // namespace tenon

// Snappy's format, written: how many bytes there are, then literals, and copies of bytes that came
// before.
//
//   SnappyCompress("abababab")                                            // for a table's block
//   SnappyLength(8) + SnappyLiteral("ab") + SnappyCopy(/*back=*/2, 6)     // the same; or damaged
#ifndef TENON_TESTS_SUPPORT_SNAPPY_H_
#define TENON_TESTS_SUPPORT_SNAPPY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tenon {

inline std::string SnappyLength(uint64_t bytes) {
  std::string out;
  for (; bytes >= 128; bytes >>= 7) out.push_back(static_cast<char>(bytes | 128));
  out.push_back(static_cast<char>(bytes));
  return out;
}

// A literal's head: `bytes` follow it, 1 to 2^32.
inline std::string SnappyLiteralHead(uint64_t bytes) {
  std::string out(1, static_cast<char>(63 << 2));  // the length less one, in four bytes
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>((bytes - 1) >> 8 * i));
  return out;
}

inline std::string SnappyLiteral(absl::string_view text) {
  if (text.size() > 60) return SnappyLiteralHead(text.size()) + std::string(text);
  return std::string(1, static_cast<char>((text.size() - 1) << 2)) + std::string(text);
}

// The 1 to 64 bytes that begin `back` bytes before the end. If there are more of them than that,
// they repeat.
inline std::string SnappyCopy(uint32_t back, size_t bytes) {
  const bool wide = back > UINT16_MAX;
  std::string out(1, static_cast<char>((bytes - 1) << 2 | (wide ? 3 : 2)));
  for (int i = 0; i < (wide ? 4 : 2); ++i) out.push_back(static_cast<char>(back >> 8 * i));
  return out;
}

// With a copy wherever four bytes came before.
inline std::string SnappyCompress(absl::string_view text) {
  std::string out = SnappyLength(text.size());
  size_t literal = 0;  // where the next one begins
  for (size_t at = 1; at < text.size();) {
    size_t longest = 0, back = 0;
    for (size_t from = at; from-- > 0 && at - from <= UINT16_MAX;) {
      size_t same = 0;
      while (same < 64 && at + same < text.size() && text[from + same] == text[at + same]) ++same;
      if (same > longest) longest = same, back = at - from;
    }
    if (longest < 4) {
      ++at;
      continue;
    }
    if (literal < at) out += SnappyLiteral(text.substr(literal, at - literal));
    out += SnappyCopy(static_cast<uint32_t>(back), longest);
    literal = at += longest;
  }
  if (literal < text.size()) out += SnappyLiteral(text.substr(literal));
  return out;
}

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_SNAPPY_H_

#include "kernels/strings/encoding.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "env/status.h"
#include "kernels/strings/utf8.h"

namespace tenon {
namespace {

enum class ByteOrder { kBig, kLittle };

// Fewer bytes at the text's end are one error.
template <size_t bytes, ByteOrder order>
bool TakeUnit(const std::string& text, size_t& at, uint32_t& unit) {
  if (text.size() - at < bytes) {
    at = text.size();
    return false;
  }
  unit = 0;
  for (size_t i = 0; i < bytes; ++i) {
    const size_t from = order == ByteOrder::kBig ? i : bytes - 1 - i;
    unit = unit << 8 | static_cast<uint8_t>(text[at + from]);
  }
  at += bytes;
  return true;
}

bool IsSurrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

template <ByteOrder order>
uint32_t NextUtf16(const std::string& text, size_t& at, bool& valid) {
  uint32_t high = 0, low = 0;
  valid = TakeUnit<2, order>(text, at, high);
  if (!valid || !IsSurrogate(high)) return high;
  size_t after = at;
  valid = high < 0xDC00 && TakeUnit<2, order>(text, after, low) && low >= 0xDC00 && low <= 0xDFFF;
  // A high surrogate at the end takes with it what is left.
  if (valid || (high < 0xDC00 && text.size() - at < 2)) at = after;
  return valid ? 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00) : high;
}

template <ByteOrder order>
uint32_t NextUtf32(const std::string& text, size_t& at, bool& valid) {
  uint32_t unit = 0;
  valid = TakeUnit<4, order>(text, at, unit) && unit <= 0x10FFFF && !IsSurrogate(unit);
  return unit;
}

template <uint8_t last>
uint32_t NextByte(const std::string& text, size_t& at, bool& valid) {
  const auto byte = static_cast<uint8_t>(text[at++]);
  valid = byte <= last;
  return byte;
}

uint32_t NextUtf8(const std::string& text, size_t& at, bool& valid) {
  return NextCharacter(text, at, valid);
}

TextDecoderFactory text_decoders = nullptr;

}  // namespace

void SetTextDecoders(TextDecoderFactory factory) { text_decoders = factory; }

NextCharacterFn Encoding::Begin(const std::string& text, size_t& at) const {
  if (marked_big == nullptr || text.size() < unit) return next;
  size_t end = 0;
  bool valid = false;
  for (const NextCharacterFn f : {marked_big, marked_little}) {
    end = 0;
    if (f(text, end, valid) == 0xFEFF && valid) {
      at = end;
      return f;
    }
  }
  return next;
}

absl::StatusOr<Encoding> EncodingNamed(absl::string_view name) {
  static constexpr auto kUtf16Be = NextUtf16<ByteOrder::kBig>;
  static constexpr auto kUtf16Le = NextUtf16<ByteOrder::kLittle>;
  static constexpr auto kUtf32Be = NextUtf32<ByteOrder::kBig>;
  static constexpr auto kUtf32Le = NextUtf32<ByteOrder::kLittle>;
  static const std::pair<const char*, Encoding> kEncodings[] = {
      {"utf8", {NextUtf8}},
      {"utf16", {kUtf16Be, kUtf16Be, kUtf16Le, 2}},
      {"utf16be", {kUtf16Be}},
      {"utf16le", {kUtf16Le}},
      {"utf32", {kUtf32Be, kUtf32Be, kUtf32Le, 4}},
      {"utf32be", {kUtf32Be}},
      {"utf32le", {kUtf32Le}},
      {"usascii", {NextByte<0x7F>}},
      {"ascii", {NextByte<0x7F>}},
      {"iso88591", {NextByte<0xFF>}},
      {"latin1", {NextByte<0xFF>}},
  };
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != ' ')
      plain += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  for (const auto& [text, encoding] : kEncodings) {
    if (plain == text) return encoding;
  }
  if (text_decoders == nullptr) return Unimplemented("input_encoding '", name, "'");
  Encoding other;
  TENON_ASSIGN_OR_RETURN(other.decoder, text_decoders(name));
  return other;
}

}  // namespace tenon

#include "kernels/text/characters.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <iterator>

namespace tenon {
namespace {

struct Range {
  int32_t first, last;
};

// Blocks of ideographs, as BERT's original tokenizer lists them, with blocks of ASCII symbols.
constexpr Range kWords[] = {{33, 47},           {58, 64},           {91, 96},
                            {123, 126},         {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
                            {0xF900, 0xFAFF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                            {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};

// Punctuation that ends sentences since Unicode 16, whatever version ICU has.
constexpr Range kMoreEndsOfSentences[] = {{0x17D5, 0x17D5},   {0x1B4E, 0x1B4F},  {0x1B7F, 0x1B7F},
                                          {0x2CF9, 0x2CFB},   {0xFE12, 0xFE12},  {0xFE15, 0xFE16},
                                          {0x113D4, 0x113D5}, {0x16D6E, 0x16D6F}};

template <size_t kCount>
bool IsOneOf(const Range (&ranges)[kCount], int32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](Range r) { return c >= r.first && c <= r.last; });
}

}  // namespace

bool IsSpace(int32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(c) != 0;
}

bool IsWordOfItsOwn(int32_t c) {
  if (c < 33) return false;
  return IsOneOf(kWords, c) || (c >= 0x80 && u_ispunct(c) != 0);
}

bool EndsSentence(int32_t c) {
  switch (c) {
    case 0x037E:  // Greek question mark
    case 0x055C:  // Armenian exclamation mark
    case 0x055E:  // Armenian question mark
    case 0x17D4:  // Khmer full stop
    case 0x2026:  // ellipsis
      return true;
  }
  if (IsOneOf(kMoreEndsOfSentences, c)) return true;
  const int property = u_getIntPropertyValue(c, UCHAR_SENTENCE_BREAK);
  return property == U_SB_ATERM || property == U_SB_STERM;
}

bool IsOpeningParenthesis(int32_t c) {
  constexpr int32_t kOrnate = 0xFD3E;
  return c == '<' || c == kOrnate ||
         u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_OPEN_PUNCTUATION;
}

bool IsClosingParenthesis(int32_t c) {
  constexpr int32_t kOrnate = 0xFD3F;
  constexpr int32_t kVerticalComma = 0xFE10;  // only since Unicode 16, as kMoreEndsOfSentences
  const int property = u_getIntPropertyValue(c, UCHAR_LINE_BREAK);
  return c == '>' || c == kOrnate || c == kVerticalComma || property == U_LB_CLOSE_PUNCTUATION ||
         property == U_LB_CLOSE_PARENTHESIS;
}

bool IsPunctuation(int32_t c) {
  constexpr int32_t kCanadianChi = 0x166D;  // a symbol since Unicode 12
  return c == '`' || c == '<' || c == '>' || c == '~' || c == kCanadianChi || u_ispunct(c) != 0 ||
         IsOneOf(kMoreEndsOfSentences, c) || u_hasBinaryProperty(c, UCHAR_DASH) != 0 ||
         u_hasBinaryProperty(c, UCHAR_HYPHEN) != 0;
}

int ScriptOf(int32_t c) {
  if (c >= 0 && c < 0x80) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter ? USCRIPT_LATIN : USCRIPT_COMMON;
  }
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(c, &error);
  return U_FAILURE(error) ? -1 : static_cast<int>(script);
}

}  // namespace tenon

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

}  // namespace

bool IsSpace(int32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(c) != 0;
}

bool IsWordOfItsOwn(int32_t c) {
  if (c < 33) return false;
  const bool listed = std::any_of(std::begin(kWords), std::end(kWords),
                                  [c](Range r) { return c >= r.first && c <= r.last; });
  return listed || (c >= 0x80 && u_ispunct(c) != 0);
}

int ScriptOf(int32_t c) {
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(c, &error);
  return U_FAILURE(error) ? -1 : static_cast<int>(script);
}

}  // namespace tenon

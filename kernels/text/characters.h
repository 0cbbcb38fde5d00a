// Properties of characters, by ICU. Negative characters (of text that is not UTF-8) have none.
#ifndef TENON_KERNELS_TEXT_CHARACTERS_H_
#define TENON_KERNELS_TEXT_CHARACTERS_H_

#include <cstdint>

namespace tenon {

bool IsSpace(int32_t c);

// Whether BERT makes it a word of its own: punctuation, ASCII symbols, and CJK ideographs.
bool IsWordOfItsOwn(int32_t c);

// Whether it may end a sentence, as a full stop or a question mark does.
bool EndsSentence(int32_t c);

// Parentheses of all kinds, brackets included. IsClosingParenthesis holds for ideographic full
// stops and commas too, before which, as before a parenthesis, no line is broken.
bool IsOpeningParenthesis(int32_t c);
bool IsClosingParenthesis(int32_t c);

// Punctuation, dashes included, and a few symbols.
bool IsPunctuation(int32_t c);

// The code of its script (ICU's UScriptCode), -1 if there is none.
int ScriptOf(int32_t c);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_CHARACTERS_H_

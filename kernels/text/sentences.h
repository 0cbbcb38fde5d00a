// Splits texts into fragments of sentences: a fragment ends with the punctuation that may end a
// sentence, and the closing parentheses behind it.
#ifndef TENON_KERNELS_TEXT_SENTENCES_H_
#define TENON_KERNELS_TEXT_SENTENCES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Both kernels have the outputs (int64): where each fragment begins and ends, its properties (bits:
// 1 it ends with punctuation, 2 with several marks, 4 with a closing parenthesis, 8 with one that
// was opened at the beginning of a fragment), where that punctuation begins (-1 if there is none),
// and the number of fragments of each text.

// Texts [n], with places in bytes; whitespace before a fragment is left out. As in TensorFlow Text,
// bit 8 is never set, the periods of an acronym are several marks, and the punctuation of a
// fragment begins at its last ellipsis or emoticon, unless it begins with that.
absl::StatusOr<std::unique_ptr<Kernel>> SentencesKernel(PrepareContext& p);

// Texts as tokens, with places in tokens. Inputs: the number of tokens of each text, starts and
// ends of tokens (not read), the tokens [n], and their properties (bits: 0x80 an emoticon, 0x100 an
// acronym). InvalidArgument if the numbers do not add up to n, and for empty tokens.
absl::StatusOr<std::unique_ptr<Kernel>> SentencesOfTokensKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_SENTENCES_H_

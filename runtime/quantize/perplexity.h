// How well a language model predicts a text.
#ifndef TENON_RUNTIME_QUANTIZE_PERPLEXITY_H_
#define TENON_RUNTIME_QUANTIZE_PERPLEXITY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/quantize/text_rows.h"
#include "runtime/session/session.h"

namespace tenon {

struct TextScore {
  double perplexity = 0;  // exp of the mean of -log p(token | the tokens before it in its row)
  int64_t tokens = 0;     // how many were predicted: all but the first of each row
};

// `logits` names the output [rows, length, words]; empty: the first float output of that form.
// InvalidArgument if there is none, or a token is not one of the words. `progress` is called before
// each run with the number of runs done and of all.
absl::StatusOr<TextScore> ScoreText(Session& session, const TextRows& rows,
                                    const std::string& logits,
                                    const std::function<void(int64_t, int64_t)>& progress);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_PERPLEXITY_H_

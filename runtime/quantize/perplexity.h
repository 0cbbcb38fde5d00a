// How well a language model predicts a text.
#ifndef TENON_RUNTIME_QUANTIZE_PERPLEXITY_H_
#define TENON_RUNTIME_QUANTIZE_PERPLEXITY_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/session/session.h"

namespace tenon {

// exp of the mean of -log p(token | the tokens before it). `arrays` has the session's inputs, with
// texts along the first axis; `tokens` names the one with token ids [texts, length], `logits` the
// output [texts, length, words] (empty: the first float output of that form). InvalidArgument if
// they do not fit. `progress` is called before each run with the number of runs done and of all.
absl::StatusOr<double> Perplexity(Session& session, std::vector<NamedTensor> arrays,
                                  const std::string& tokens, const std::string& logits,
                                  int64_t batch,
                                  const std::function<void(int64_t, int64_t)>& progress);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_PERPLEXITY_H_

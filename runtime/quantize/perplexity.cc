#include "runtime/quantize/perplexity.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "env/status.h"
#include "runtime/quantize/samples.h"

namespace tenon {
namespace {

// The token ids of the array, or of the only array of integers [texts, length].
absl::StatusOr<std::string> FindTokens(const std::vector<NamedTensor>& arrays,
                                       const std::string& name) {
  std::vector<std::string> found;
  for (const auto& [key, t] : arrays) {
    const bool integers = t.dtype() == DType::kInt32 || t.dtype() == DType::kInt64;
    if (key == name && !(integers && t.shape().rank() == 2)) {
      return InvalidArgument("'", name, "' is not an array [texts, length] of token ids");
    }
    if ((name.empty() || key == name) && integers && t.shape().rank() == 2) found.push_back(key);
  }
  if (found.size() == 1) return found[0];
  if (!name.empty()) return NotFound("the text has no array '", name, "'");
  return InvalidArgument("the text has ", found.size(), " arrays [texts, length] of integers: say ",
                         "which one has the token ids");
}

double LogSumExp(const float* x, int64_t n) {
  const double top = static_cast<double>(*std::max_element(x, x + n));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i]) - top);
  return top + std::log(sum);
}

}  // namespace

absl::StatusOr<double> Perplexity(Session& session, std::vector<NamedTensor> arrays,
                                  const std::string& tokens, const std::string& logits,
                                  int64_t batch,
                                  const std::function<void(int64_t, int64_t)>& progress) {
  TENON_ASSIGN_OR_RETURN(const std::string key, FindTokens(arrays, tokens));
  TENON_ASSIGN_OR_RETURN(const Samples texts,
                         Samples::Create(std::move(arrays), session.inputs(), batch));
  double sum = 0;
  int64_t count = 0;
  for (int64_t b = 0; b < texts.num_batches(); ++b) {
    progress(b, texts.num_batches());
    const std::vector<NamedTensor> inputs = texts.Batch(b);
    const auto ids = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const NamedTensor& t) { return t.first == key; });
    if (ids == inputs.end()) return InvalidArgument("the model has no input '", key, "'");
    const Shape& shape = ids->second.shape();
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> words, IntegerValues(ids->second));
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs, session.Run(inputs));
    const auto scores = std::find_if(outputs.begin(), outputs.end(), [&](const NamedTensor& t) {
      const Shape& s = t.second.shape();
      return (logits.empty() || t.first == logits) && t.second.dtype() == DType::kFloat &&
             s.rank() == 3 && s[0] == shape[0] && s[1] == shape[1];
    });
    if (scores == outputs.end()) {
      return InvalidArgument("no output", logits.empty() ? "" : " '", logits,
                             logits.empty() ? "" : "'", " has float logits [", shape[0], ", ",
                             shape[1], ", words]");
    }
    const int64_t vocabulary = scores->second.shape()[2];
    const float* row = scores->second.data<float>();
    for (int64_t i = 0; i < shape[0] * shape[1]; ++i, row += vocabulary) {
      if ((i + 1) % shape[1] == 0) continue;  // nothing follows the last token
      const int64_t next = words[static_cast<size_t>(i + 1)];
      if (next < 0 || next >= vocabulary) {
        return InvalidArgument("token ", next, " is not one of ", vocabulary, " words");
      }
      sum += LogSumExp(row, vocabulary) - static_cast<double>(row[next]);
      ++count;
    }
  }
  if (count == 0) return InvalidArgument("texts of one token predict nothing");
  return std::exp(sum / static_cast<double>(count));
}

}  // namespace tenon

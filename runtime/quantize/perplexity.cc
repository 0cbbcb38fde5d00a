#include "runtime/quantize/perplexity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/status.h"

namespace tenon {
namespace {

double LogSumExp(const float* x, int64_t n) {
  const double top = static_cast<double>(*std::max_element(x, x + n));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i]) - top);
  return top + std::log(sum);
}

}  // namespace

absl::StatusOr<TextScore> ScoreText(Session& session, const TextRows& rows,
                                    const std::string& logits,
                                    const std::function<void(int64_t, int64_t)>& progress) {
  double sum = 0;
  TextScore score;
  for (int64_t b = 0; b < rows.num_batches; ++b) {
    progress(b, rows.num_batches);
    TENON_ASSIGN_OR_RETURN(const TextBatch batch, rows.batch(b));
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs, session.Run(batch.inputs));
    const int64_t length = batch.shape[1];
    const auto scores = std::find_if(outputs.begin(), outputs.end(), [&](const NamedTensor& t) {
      const Shape& s = t.second.shape();
      return (logits.empty() || t.first == logits) && t.second.dtype() == DType::kFloat &&
             s.rank() == 3 && s[0] == batch.shape[0] && s[1] == length;
    });
    if (scores == outputs.end()) {
      return InvalidArgument("no output", logits.empty() ? "" : " '", logits,
                             logits.empty() ? "" : "'", " has float logits [", batch.shape[0], ", ",
                             length, ", words]");
    }
    const int64_t vocabulary = scores->second.shape()[2];
    const float* data = scores->second.data<float>();
    for (int64_t r = 0; r < batch.shape[0]; ++r) {
      // Nothing follows the last token.
      for (int64_t i = 0; i + 1 < batch.lengths[static_cast<size_t>(r)]; ++i) {
        const float* row = data + (r * length + i) * vocabulary;
        const int64_t next = batch.ids[static_cast<size_t>(r * length + i + 1)];
        if (next < 0 || next >= vocabulary) {
          return InvalidArgument("token ", next, " is not one of ", vocabulary, " words");
        }
        sum += LogSumExp(row, vocabulary) - static_cast<double>(row[next]);
        ++score.tokens;
      }
    }
  }
  if (score.tokens == 0) return InvalidArgument("texts of one token predict nothing");
  score.perplexity = std::exp(sum / static_cast<double>(score.tokens));
  return score;
}

}  // namespace tenon

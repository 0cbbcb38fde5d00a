// Weight-only quantization: the weights of matrix products and of embeddings are stored in fewer
// bits, and expanded by standard TensorFlow ops in front of their readers; activations stay float.
// The rule FuseWeightOnly then makes products that read the small form.
#ifndef TENON_RUNTIME_QUANTIZE_WEIGHTS_H_
#define TENON_RUNTIME_QUANTIZE_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "env/flags.h"
#include "graph/graph.h"
#include "runtime/quantize/perplexity.h"
#include "runtime/quantize/round_weights.h"
#include "runtime/session/session.h"

namespace tenon {

struct WeightsOptions {
  Flags flags;
  int threads = 0;
  RoundingOptions rounding;
  int64_t least_elements = 4096;  // smaller weights stay in float
  bool embeddings = true;
  std::vector<std::string> keep;  // names of layers that stay in float
  int64_t batch = 0;              // samples per run; 0: the model's fixed batch size, or 8
  // Text for the perplexity: arrays with the model's inputs, or token ids that are cut into rows of
  // `length` (text_rows.h). `tokens`: the input with token ids [texts, tokens], and its array;
  // `logits`: the output [texts, tokens, words] (empty: the first that fits).
  std::vector<NamedTensor> text;
  std::vector<int64_t> text_ids;
  int64_t length = 0;
  std::string tokens, logits;
  // Called now and then with what is being done and how much of it.
  std::function<void(absl::string_view stage, int64_t done, int64_t total)> progress;

  void Report(absl::string_view stage, int64_t done, int64_t total) const {
    if (progress) progress(stage, done, total);
  }
};

struct WeightsLayer {
  std::string name, op, kept;  // kept: why it stays in float; empty: quantized
  Shape shape = Shape::Unknown();
  // Largest |difference|, and sqrt(sum of squared differences / sum of squares): of the weights,
  // and of the layer's result on the samples (-1: not measured).
  double weight_largest = 0, weight_error = 0;
  double result_largest = -1, result_error = -1;
};

struct WeightsReport {
  std::vector<WeightsLayer> layers;
  int64_t bytes_before = 0, bytes_after = 0;  // of the weights that were quantized
  std::optional<TextScore> text_before, text_after;
};

struct SmallModel {
  Graph graph;
  WeightsReport report;
};

// `graph` is as loaded. Without samples, the errors of results are not measured.
absl::StatusOr<SmallModel> QuantizeWeights(Graph graph, std::vector<NamedTensor> samples,
                                           const WeightsOptions& options);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_WEIGHTS_H_

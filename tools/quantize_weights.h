// tenon quantize --weights: options, and the command after they are parsed.
#ifndef TENON_TOOLS_QUANTIZE_WEIGHTS_H_
#define TENON_TOOLS_QUANTIZE_WEIGHTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/quantize/weights.h"
#include "tools/model_args.h"

namespace CLI {
class App;
}

namespace tenon {

struct WeightsArgs {
  std::string format;  // empty: not asked for
  std::string scales = "float16";
  std::string text;       // .npz, or plain text
  std::string tokenizer;  // SAVED_MODEL[:SIGNATURE], for plain text
  WeightsOptions options;
};
void AddWeightsArgs(CLI::App& app, WeightsArgs& args);
// Whether the options about text go together.
absl::Status CheckTextArgs(const WeightsArgs& args);

// `data`: .npz with samples, or empty. Prints the report; the caller writes the graph.
absl::StatusOr<Graph> QuantizeModelWeights(const ModelArgs& model, const WeightsArgs& args,
                                           const std::string& data);

}  // namespace tenon

#endif  // TENON_TOOLS_QUANTIZE_WEIGHTS_H_

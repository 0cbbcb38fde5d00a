#include "tools/quantize_weights.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "env/status.h"
#include "graph/npz/npz.h"
#include "runtime/quantize/option_names.h"
#include "tools/progress.h"
#include "tools/table.h"

namespace tenon {
namespace {

void PrintReport(const WeightsReport& report, const std::string& format) {
  Table layers({"layer", "op", "weights", "stored", "weight max", "rms %", "result max", "rms %"});
  size_t small = 0;
  const auto number = [](double v) { return v < 0 ? "" : absl::StrFormat("%.3g", v); };
  const auto percent = [](double v) { return v < 0 ? "" : absl::StrFormat("%.3f", 100 * v); };
  for (const WeightsLayer& l : report.layers) {
    const bool kept = !l.kept.empty();
    small += !kept;
    layers.Add({l.name, l.op, l.shape.ToString(), kept ? absl::StrCat("fp32: ", l.kept) : format,
                kept ? "" : number(l.weight_largest), kept ? "" : percent(l.weight_error),
                number(l.result_largest), percent(l.result_error)});
  }
  std::printf("%s\n", layers.Text().c_str());
  std::printf("%zu of %zu layers with %s weights: %.1f MB instead of %.1f\n", small,
              report.layers.size(), format.c_str(), static_cast<double>(report.bytes_after) / 1e6,
              static_cast<double>(report.bytes_before) / 1e6);
  if (report.perplexity_before.has_value()) {
    std::printf("perplexity: %.4f in fp32, %.4f with %s weights\n", *report.perplexity_before,
                *report.perplexity_after, format.c_str());
  }
}

}  // namespace

void AddWeightsArgs(CLI::App& app, WeightsArgs& args) {
  WeightsOptions& options = args.options;
  app.add_option("--weights", args.format,
                 "store only weights in fewer bits, and keep activations in float: int8, int4 or "
                 "bf16")
      ->check(CLI::IsMember({"int8", "int4", "bf16"}));
  app.add_option("--group", options.rounding.group,
                 "weights that share a scale, along the axis that is summed over (64); 0: all")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--scales", args.scales, "dtype of the scales: float16, bfloat16 or float32")
      ->check(CLI::IsMember({"float16", "bfloat16", "float32"}));
  app.add_flag("--zero-points", options.rounding.zero_points,
               "ranges of weights that are not centered around 0");
  app.add_flag("!--no-embeddings", options.embeddings, "keep embeddings in fp32");
  app.add_option("--least-weights", options.least_elements,
                 "layers with fewer weights stay in fp32 (4096)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  app.add_option("--text", args.text,
                 ".npz with token ids [texts, length] and the other inputs: report the perplexity");
  app.add_option("--tokens", options.tokens, "the array of --text with the token ids");
  app.add_option("--logits", options.logits, "the output with the logits");
}

absl::StatusOr<Graph> QuantizeModelWeights(Model model, const WeightsArgs& args,
                                           const std::string& data) {
  WeightsOptions options = args.options;
  TENON_ASSIGN_OR_RETURN(options.rounding.format, WeightFormatFromName(args.format));
  TENON_ASSIGN_OR_RETURN(options.rounding.scales, ScalesFromName(args.scales));
  std::vector<NamedTensor> samples;
  if (!data.empty()) {
    TENON_ASSIGN_OR_RETURN(samples, ReadNpz(data));
  }
  if (!args.text.empty()) {
    TENON_ASSIGN_OR_RETURN(options.text, ReadNpz(args.text));
  } else if (!options.tokens.empty() || !options.logits.empty()) {
    return InvalidArgument("--tokens and --logits need --text");
  }
  Progress progress;
  options.progress = [&](absl::string_view stage, int64_t done, int64_t total) {
    progress.Show(std::string(stage).c_str(), PartOf(done, total));
  };
  TENON_ASSIGN_OR_RETURN(SmallModel small,
                         QuantizeWeights(std::move(model.graph), std::move(samples), options));
  progress.Clear();
  PrintReport(small.report, args.format);
  return std::move(small.graph);
}

}  // namespace tenon

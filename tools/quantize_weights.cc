#include "tools/quantize_weights.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "env/status.h"
#include "graph/npz/npz.h"
#include "runtime/quantize/option_names.h"
#include "tools/progress.h"
#include "tools/table.h"
#include "tools/text_model.h"

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
  if (report.text_before.has_value() && report.text_after.has_value()) {
    const auto shown = [](double v) {
      return v < 1e9 ? absl::StrFormat("%.4f", v) : absl::StrFormat("%.6g", v);
    };
    std::printf("perplexity: %s in fp32, %s with %s weights, over %lld predicted tokens\n",
                shown(report.text_before->perplexity).c_str(),
                shown(report.text_after->perplexity).c_str(), format.c_str(),
                static_cast<long long>(report.text_after->tokens));
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
                 "text to report the perplexity of: plain text, or .npz with token ids [texts, "
                 "length] and the other inputs");
  app.add_option("--tokenizer", args.tokenizer,
                 "SavedModel that turns plain text into token ids, or SAVED_MODEL:SIGNATURE");
  app.add_option("--length", options.length,
                 "tokens in a row of plain text (the model's fixed length, or 512)")
      ->check(CLI::Range(2, 1 << 24));
  app.add_option("--tokens", options.tokens,
                 "the input with the token ids, which is an array of an .npz --text");
  app.add_option("--logits", options.logits, "the output with the logits");
}

absl::Status CheckTextArgs(const WeightsArgs& args) {
  const WeightsOptions& options = args.options;
  if (args.text.empty()) {
    if (!args.tokenizer.empty()) return InvalidArgument("--tokenizer needs --text");
    if (options.length != 0) return InvalidArgument("--length needs --text");
    if (!options.tokens.empty() || !options.logits.empty()) {
      return InvalidArgument("--tokens and --logits need --text");
    }
    return absl::OkStatus();
  }
  if (args.format.empty()) return InvalidArgument("--text needs --weights");
  const bool arrays = absl::EndsWith(args.text, ".npz");
  if (arrays && !args.tokenizer.empty()) {
    return InvalidArgument("--tokenizer is for plain text, but --text ", args.text,
                           " has token ids");
  }
  if (arrays && options.length != 0) {
    return InvalidArgument("--length is for plain text, but --text ", args.text,
                           " has rows of token ids");
  }
  if (!arrays && args.tokenizer.empty()) {
    return InvalidArgument("--text ", args.text,
                           " is plain text (no .npz): it needs --tokenizer SAVED_MODEL");
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> QuantizeModelWeights(const ModelArgs& model_args, const WeightsArgs& args,
                                           const std::string& data) {
  WeightsOptions options = args.options;
  TENON_ASSIGN_OR_RETURN(options.rounding.format, WeightFormatFromName(args.format));
  TENON_ASSIGN_OR_RETURN(options.rounding.scales, ScalesFromName(args.scales));
  std::vector<NamedTensor> samples;
  if (!data.empty()) {
    TENON_ASSIGN_OR_RETURN(samples, ReadNpz(data));
  }
  if (!args.tokenizer.empty()) {
    absl::StatusOr<TextModel> tokenizer = TextModel::Load(args.tokenizer, model_args);
    if (!tokenizer.ok()) return Annotate(tokenizer.status(), "--tokenizer");
    TENON_ASSIGN_OR_RETURN(options.text_ids, IdsOfFile(*tokenizer, args.text));
  } else if (!args.text.empty()) {
    TENON_ASSIGN_OR_RETURN(options.text, ReadNpz(args.text));
  }
  TENON_ASSIGN_OR_RETURN(Model model, OpenModel(model_args));
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

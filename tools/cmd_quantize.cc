// tenon quantize: post-training static quantization to int8, or of weights alone.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_format.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph/npz/npz.h"
#include "proto/export/export.h"
#include "runtime/quantize/option_names.h"
#include "runtime/quantize/quantizer.h"
#include "tools/command.h"
#include "tools/model_args.h"
#include "tools/progress.h"
#include "tools/quantize_weights.h"
#include "tools/table.h"

namespace tenon {
namespace {

struct QuantizeArgs {
  ModelArgs model;
  std::string data, output, method = "error", accuracy, labels;
  QuantizeOptions options;
  double max_error_percent = 100 * QuantizeOptions().max_error;
  WeightsArgs weights;
};

std::string RangeText(const LayerReport& layer) {
  if (layer.data == DType::kInvalid) return "";
  return absl::StrFormat("%s %.3g to %.4g", layer.data == DType::kQint8 ? "qint8" : "quint8",
                         layer.low, layer.high);
}

void PrintReport(const QuantizeReport& report) {
  Table layers({"layer", "op", "data", "error %", "computed in"});
  int64_t int8 = 0;
  for (const LayerReport& layer : report.layers) {
    int8 += layer.kept.empty();
    layers.Add({layer.name, layer.op, RangeText(layer),
                layer.error < 0 ? "" : absl::StrFormat("%.3f", 100 * layer.error),
                layer.kept.empty() ? "int8" : absl::StrCat("fp32: ", layer.kept)});
  }
  std::printf("%s\n", layers.Text().c_str());
  std::printf("%lld of %zu layers in int8, calibrated on %lld samples\n",
              static_cast<long long>(int8), report.layers.size(),
              static_cast<long long>(report.samples));
  if (report.left_out > 0) {
    std::printf("%lld samples left out: they do not fill a batch\n",
                static_cast<long long>(report.left_out));
  }
  constexpr double kUseless = 0.3;
  for (const OutputReport& out : report.outputs) {
    std::printf("output %s: error %.3f %%, correlation %.6f\n", out.name.c_str(), 100 * out.error,
                out.correlation);
    if (!(out.error <= kUseless)) {
      std::printf("warning: output %s has little left of the model in fp32\n", out.name.c_str());
    }
  }
  if (report.top1_before.has_value()) {
    std::printf("top-1: %.2f %% in fp32, %.2f %% in int8\n", 100 * *report.top1_before,
                100 * *report.top1_after);
  }
}

absl::StatusOr<Tensor> FindLabels(const QuantizeArgs& args, const std::vector<NamedTensor>& data) {
  std::vector<NamedTensor> own;
  if (!args.labels.empty()) {
    TENON_ASSIGN_OR_RETURN(own, ReadNpz(args.labels));
  }
  const std::vector<NamedTensor>& arrays = args.labels.empty() ? data : own;
  for (const auto& [name, tensor] : arrays) {
    if (name == args.accuracy) return tensor;
  }
  return NotFound(args.labels.empty() ? args.data : args.labels, ": there is no array '",
                  args.accuracy, "' with labels");
}

absl::Status RunQuantize(QuantizeArgs args) {
  if (absl::Status s = CheckExportPath(args.output); !s.ok()) return Annotate(s, "--output");
  if (args.labels.empty() != args.accuracy.empty() && args.accuracy.empty()) {
    return InvalidArgument("--labels needs --accuracy KEY, the name of the array in it");
  }
  TENON_RETURN_IF_ERROR(CheckTextArgs(args.weights));
  TENON_ASSIGN_OR_RETURN(args.options.range.method, RangeMethodFromName(args.method));
  args.options.threads = args.model.threads;
  TENON_ASSIGN_OR_RETURN(args.options.flags, Flags::FromEnvironment());
  if (!args.weights.format.empty()) {
    args.weights.options.flags = args.options.flags;
    args.weights.options.threads = args.model.threads;
    args.weights.options.keep = args.options.keep;
    args.weights.options.batch = args.options.batch;
    TENON_ASSIGN_OR_RETURN(const Graph graph,
                           QuantizeModelWeights(args.model, args.weights, args.data));
    return ExportModel(graph, args.output);
  }
  if (args.data.empty()) return InvalidArgument("--data FILE.npz is needed, or --weights FORMAT");
  TENON_ASSIGN_OR_RETURN(std::vector<NamedTensor> data, ReadNpz(args.data));
  if (!args.accuracy.empty()) {
    TENON_ASSIGN_OR_RETURN(args.options.labels, FindLabels(args, data));
  }
  TENON_ASSIGN_OR_RETURN(Model model, OpenModel(args.model));
  Progress progress;
  args.options.progress = [&](absl::string_view stage, int64_t done, int64_t total) {
    progress.Show(std::string(stage).c_str(), PartOf(done, total));
  };
  TENON_ASSIGN_OR_RETURN(const Quantized quantized,
                         Quantize(std::move(model.graph), std::move(data), args.options));
  progress.Clear();
  TENON_RETURN_IF_ERROR(ExportModel(quantized.graph, args.output));
  PrintReport(quantized.report);
  return absl::OkStatus();
}

}  // namespace

Command AddQuantizeCommand(CLI::App& parent) {
  auto args = std::make_shared<QuantizeArgs>();
  CLI::App* app = parent.add_subcommand("quantize", "Writes an int8 version of a float model");
  AddModelArgs(*app, args->model);
  app->add_option("--threads", args->model.threads, "threads per op")->check(CLI::Range(1, 1024));
  app->add_option(
      "--data", args->data,
      ".npz with calibration samples, along the first axis of each input; with --weights "
      "only for the report");
  app->add_option("--output", args->output,
                  "file to write: .pb, or .pbtxt for text; any other name: a SavedModel folder")
      ->required();
  QuantizeOptions& options = args->options;
  app->add_option("--method", args->method,
                  "how activation ranges are chosen: error, minmax, percentile or entropy "
                  "(error)")
      ->check(CLI::IsMember({"error", "minmax", "percentile", "entropy"}));
  app->add_option("--percentile", options.range.percentile,
                  "percent of an activation's magnitudes that its range covers (99.999)")
      ->check(CLI::Range(50.0, 100.0));
  app->add_option("--batch", options.batch, "samples per run (the model's batch size, or 8)")
      ->check(CLI::Range(1, 1 << 20));
  app->add_option("--max-error", args->max_error_percent,
                  "percent: layers whose error is larger stay in fp32 (30)")
      ->check(CLI::Range(0.001, 1000.0));
  app->add_flag("!--no-equalize", options.equalize, "no cross-layer equalization");
  app->add_flag("--keep-first", options.keep_first, "keep the first layer in fp32");
  app->add_flag("--keep-last", options.keep_last, "keep the last layer in fp32");
  app->add_option("--keep", options.keep, "keep a layer in fp32; may be repeated")->take_all();
  app->add_option("--accuracy", args->accuracy,
                  "array of class labels: report top-1 accuracy before and after");
  app->add_option("--labels", args->labels, ".npz with the labels, if they are not in --data");
  AddWeightsArgs(*app, args->weights);
  return {app, [args] {
            args->options.max_error = args->max_error_percent / 100;
            return RunQuantize(*args);
          }};
}

}  // namespace tenon

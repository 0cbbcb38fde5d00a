// The C interface over runtime/quantize.
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "env/status.h"
#include "include/c_api_text.h"
#include "include/c_api_types.h"
#include "proto/export/export.h"
#include "runtime/quantize/option_names.h"
#include "runtime/quantize/quantizer.h"
#include "runtime/quantize/weights.h"

namespace {

using Json = nlohmann::ordered_json;
using tenon::InvalidArgument;
using tenon::NamedTensor;

struct Job {
  tenon::SessionRequest request;
  tenon_quantize_options options;
  std::vector<NamedTensor> samples;
  std::vector<std::string> keep;
};

struct Outcome {
  tenon::Graph graph;
  Json report;
};

Json Measured(double value) { return value < 0 ? Json(nullptr) : Json(value); }

template <typename T>
Json Optional(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

absl::StatusOr<Outcome> QuantizeWeightsOnly(tenon::Graph graph, Job job) {
  tenon::WeightsOptions options;
  options.flags = *job.request.session.flags;
  options.threads = job.request.session.threads;
  options.keep = std::move(job.keep);
  options.batch = job.options.batch;
  options.embeddings = job.options.embeddings != 0;
  options.least_elements = job.options.least_weights;
  options.rounding.group = job.options.group;
  options.rounding.zero_points = job.options.zero_points != 0;
  TENON_ASSIGN_OR_RETURN(options.rounding.format, tenon::WeightFormatFromName(job.options.weights));
  TENON_ASSIGN_OR_RETURN(options.rounding.scales, tenon::ScalesFromName(job.options.scales));
  TENON_ASSIGN_OR_RETURN(tenon::SmallModel small,
                         tenon::QuantizeWeights(std::move(graph), std::move(job.samples), options));
  Json layers = Json::array();
  for (const tenon::WeightsLayer& layer : small.report.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"kept", layer.kept},
                      {"error", Measured(layer.result_error)},
                      {"weight_error", layer.kept.empty() ? Json(layer.weight_error) : nullptr}});
  }
  Json report = {{"layers", std::move(layers)},
                 {"outputs", Json::array()},
                 {"top1_before", nullptr},
                 {"top1_after", nullptr},
                 {"bytes_before", small.report.bytes_before},
                 {"bytes_after", small.report.bytes_after}};
  return Outcome{std::move(small.graph), std::move(report)};
}

absl::StatusOr<Outcome> QuantizeAll(tenon::Graph graph, Job job) {
  if (job.samples.empty()) return InvalidArgument("samples are needed to calibrate activations");
  tenon::QuantizeOptions options;
  options.flags = *job.request.session.flags;
  options.threads = job.request.session.threads;
  options.keep = std::move(job.keep);
  options.batch = job.options.batch;
  options.equalize = job.options.equalize != 0;
  options.max_error = job.options.max_error;
  options.keep_first = job.options.keep_first != 0;
  options.keep_last = job.options.keep_last != 0;
  options.range.percentile = job.options.percentile;
  TENON_ASSIGN_OR_RETURN(options.range.method, tenon::RangeMethodFromName(job.options.method));
  if (job.options.labels != nullptr) {
    for (const auto& [name, tensor] : job.samples) {
      if (name == job.options.labels) options.labels = tensor;
    }
    if (!options.labels.has_value()) {
      return InvalidArgument("there is no sample tensor '", job.options.labels, "' with labels");
    }
  }
  if (job.options.progress != nullptr) {
    options.progress = [&job](absl::string_view stage, int64_t done, int64_t total) {
      job.options.progress(job.options.argument, std::string(stage).c_str(), done, total);
    };
  }
  TENON_ASSIGN_OR_RETURN(tenon::Quantized quantized,
                         tenon::Quantize(std::move(graph), std::move(job.samples), options));
  Json layers = Json::array(), outputs = Json::array();
  for (const tenon::LayerReport& layer : quantized.report.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"kept", layer.kept},
                      {"error", Measured(layer.error)},
                      {"weight_error", nullptr}});
  }
  for (const tenon::OutputReport& output : quantized.report.outputs) {
    outputs.push_back(
        {{"name", output.name}, {"error", output.error}, {"correlation", output.correlation}});
  }
  Json report = {{"samples", quantized.report.samples},
                 {"left_out", quantized.report.left_out},
                 {"layers", std::move(layers)},
                 {"outputs", std::move(outputs)},
                 {"top1_before", Optional(quantized.report.top1_before)},
                 {"top1_after", Optional(quantized.report.top1_after)},
                 {"bytes_before", nullptr},
                 {"bytes_after", nullptr}};
  return Outcome{std::move(quantized.graph), std::move(report)};
}

absl::StatusOr<Json> QuantizeTo(const tenon_model& model, Job job, const std::string& output) {
  TENON_RETURN_IF_ERROR(tenon::CheckExportPath(output));
  TENON_ASSIGN_OR_RETURN(tenon::Model loaded, model.path.empty()
                                                  ? tenon::ParseModel(model.bytes, job.request.load)
                                                  : tenon::LoadModel(model.path, job.request.load));
  Json report = {{"schema", "tenon.quantization"}, {"version", 1}};
  report["weights"] = job.options.weights == nullptr ? Json(nullptr) : Json(job.options.weights);
  const bool weights_only = job.options.weights != nullptr;
  TENON_ASSIGN_OR_RETURN(Outcome outcome,
                         weights_only ? QuantizeWeightsOnly(std::move(loaded.graph), std::move(job))
                                      : QuantizeAll(std::move(loaded.graph), std::move(job)));
  TENON_RETURN_IF_ERROR(tenon::ExportModel(outcome.graph, output));
  report.update(outcome.report);
  return report;
}

}  // namespace

tenon_status* tenon_quantize(const tenon_model* model, const tenon_session_options* load,
                             const tenon_quantize_options* options, const char* const* sample_names,
                             const tenon_tensor* const* samples, int num_samples,
                             const char* output, tenon_text** report) {
  tenon_text* unwanted = nullptr;
  tenon_status* status =
      tenon::GiveJson(model, report == nullptr ? &unwanted : report, [&]() -> absl::StatusOr<Json> {
        if (output == nullptr || num_samples < 0 ||
            (num_samples > 0 && (sample_names == nullptr || samples == nullptr))) {
          return InvalidArgument("null argument");
        }
        Job job;
        TENON_ASSIGN_OR_RETURN(job.request, tenon::ReadSessionOptions(load));
        const tenon_quantize_options defaults = TENON_QUANTIZE_OPTIONS_INIT;
        TENON_ASSIGN_OR_RETURN(job.options, tenon::ReadStruct(options, defaults));
        if (job.options.method == nullptr) job.options.method = defaults.method;
        if (job.options.scales == nullptr) job.options.scales = defaults.scales;
        if (job.options.keep != nullptr) {
          job.keep = absl::StrSplit(job.options.keep, ',', absl::SkipWhitespace());
        }
        for (int i = 0; i < num_samples; ++i) {
          if (sample_names[i] == nullptr || samples[i] == nullptr) {
            return InvalidArgument("null argument");
          }
          job.samples.emplace_back(sample_names[i], samples[i]->tensor);
        }
        return QuantizeTo(*model, std::move(job), output);
      });
  tenon_text_free(unwanted);
  return status;
}

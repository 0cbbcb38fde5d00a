#include "runtime/quantize/weights.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "env/status.h"
#include "env/thread_count.h"
#include "graph_rewrite/pipeline.h"
#include "runtime/quantize/dense.h"
#include "runtime/quantize/expand_weights.h"
#include "runtime/quantize/names.h"
#include "runtime/quantize/perplexity.h"
#include "runtime/quantize/samples.h"
#include "runtime/quantize/text_rows.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Session>> MakeSession(Graph graph, const WeightsOptions& options) {
  SessionOptions session;
  session.flags = options.flags;
  session.threads = options.threads;
  return Session::Create(std::move(graph), session);
}

absl::Status CheckNames(const WeightsOptions& options, const std::vector<WeightsLayer>& layers) {
  for (const std::string& name : options.keep) {
    const bool found = std::any_of(layers.begin(), layers.end(),
                                   [&](const WeightsLayer& l) { return l.name == name; });
    if (!found) return NotFound("no layer with constant weights is named '", name, "'");
  }
  return absl::OkStatus();
}

// Runs the layers beside copies with the small weights.
absl::Status Measure(Graph graph, const std::vector<SmallLayer>& layers,
                     std::vector<NamedTensor> samples, const WeightsOptions& options,
                     const Services& services, WeightsReport& report) {
  std::vector<GraphOutput> outputs;
  {
    Rewriter rw(graph);
    RuleContext context(rw, services);
    for (const SmallLayer& layer : layers) {
      TENON_RETURN_IF_ERROR(AddMeasures(context, layer, outputs));
    }
  }
  if (outputs.empty()) return absl::OkStatus();
  graph.SetOutputs(std::move(outputs));
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         MakeSession(std::move(graph), options));
  TENON_ASSIGN_OR_RETURN(const Samples data,
                         Samples::Create(std::move(samples), session->inputs(), options.batch));
  std::vector<double> sums(session->outputs().size(), 0.0);
  for (int64_t b = 0; b < data.num_batches(); ++b) {
    options.Report("measuring", b, data.num_batches());
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> got, session->Run(data.Batch(b)));
    for (size_t i = 0; i < sums.size(); ++i) {
      const double value = got[i].second.data<float>()[0];
      sums[i] = i % 3 == 2 ? std::max(sums[i], value) : sums[i] + value;
    }
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    WeightsLayer& layer = report.layers[layers[i].layer];
    layer.result_error = sums[3 * i] == 0 ? 0 : std::sqrt(sums[3 * i] / sums[3 * i + 1]);
    layer.result_largest = sums[3 * i + 2];
  }
  return absl::OkStatus();
}

absl::StatusOr<TextScore> Score(Graph graph, const WeightsOptions& options,
                                absl::string_view stage) {
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         MakeSession(std::move(graph), options));
  const TextRowOptions form{options.tokens, options.length, options.batch};
  TENON_ASSIGN_OR_RETURN(
      const TextRows rows,
      options.text_ids.empty()
          ? RowsOfArrays(options.text, session->inputs(), options.tokens, options.batch)
          : RowsOfText(options.text_ids, session->inputs(), form));
  return ScoreText(*session, rows, options.logits,
                   [&](int64_t done, int64_t total) { options.Report(stage, done, total); });
}

// Adds the layers with small weights; `measured`, if not null, gets the graph before these replace
// the exact ones.
absl::Status QuantizeGraph(Graph& graph, const WeightsOptions& options, const Services& services,
                           WeightsReport& report, std::vector<SmallLayer>& layers,
                           Graph* measured) {
  Rewriter rw(graph);
  RuleContext context(rw, services);
  TENON_RETURN_IF_ERROR(FlattenDenseLayers(context, DenseLayers::kEinsums));
  TENON_ASSIGN_OR_RETURN(layers, AddSmallLayers(context, options, report));
  if (measured != nullptr) *measured = graph;
  UseSmallLayers(context, layers);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SmallModel> QuantizeWeights(Graph graph, std::vector<NamedTensor> samples,
                                           const WeightsOptions& options) {
  Flags flags = options.flags;
  flags.onednn_opts = true;
  Services services;
  services.flags = &flags;
  services.threads = ThreadCount(options.threads, flags);
  RewriteOptions rewrite;
  rewrite.services = &services;
  rewrite.last = Phase::kFold;
  rewrite.precision = Precision::kFloat;
  TENON_RETURN_IF_ERROR(Rewrite(graph, rewrite).status());
  Graph exact;
  const bool has_text = !options.text.empty() || !options.text_ids.empty();
  if (has_text) exact = graph;

  SmallModel model;
  std::vector<SmallLayer> layers, unused;
  Graph measured;
  TENON_RETURN_IF_ERROR(QuantizeGraph(graph, options, services, model.report, layers,
                                      samples.empty() ? nullptr : &measured));
  for (const auto& [name, body] : graph.functions()) {
    Graph function = *body;
    TENON_RETURN_IF_ERROR(
        QuantizeGraph(function, options, services, model.report, unused, nullptr));
    graph.SetFunction(name, std::make_shared<const Graph>(std::move(function)));
  }
  TENON_RETURN_IF_ERROR(CheckNames(options, model.report.layers));
  if (model.report.bytes_after == 0) {
    const std::string why = model.report.layers.empty()
                                ? "no product or embedding has constant weights"
                                : model.report.layers.front().kept;
    return absl::FailedPreconditionError(absl::StrCat("there is nothing to quantize: ", why));
  }
  NameByKeys(graph);  // last: rewriting removes Identity
  if (!samples.empty()) {
    TENON_RETURN_IF_ERROR(
        Measure(std::move(measured), layers, std::move(samples), options, services, model.report));
  }
  if (has_text) {
    TENON_ASSIGN_OR_RETURN(model.report.text_before,
                           Score(std::move(exact), options, "perplexity before"));
    TENON_ASSIGN_OR_RETURN(model.report.text_after, Score(graph, options, "perplexity after"));
  }
  model.graph = std::move(graph);
  return model;
}

}  // namespace tenon

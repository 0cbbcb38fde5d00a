#include "runtime/quantize/quantizer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/pipeline.h"
#include "ops/op.h"
#include "runtime/quantize/compare.h"
#include "runtime/quantize/dense.h"
#include "runtime/quantize/equalize.h"
#include "runtime/quantize/insert.h"
#include "runtime/quantize/names.h"
#include "runtime/quantize/pool_pads.h"
#include "runtime/quantize/samples.h"
#include "runtime/quantize/scheme.h"

namespace tenon {
namespace {

// Makes a range symmetric or non-negative; or, if a symmetric range would make the scale larger by
// more than kLopsided, gives it a zero point: low becomes a multiple of the scale.
void Settle(GroupRange& range) {
  constexpr float kLopsided = 1.05f;
  const float top = std::max(range.high, -range.low), span = range.high - range.low;
  if (top < 1e-30f) {  // only zeros were seen
    range.high = 1;
    range.low = range.dtype == DType::kQint8 ? -1 : 0;
  } else if (range.dtype == DType::kQuint8) {
    range.low = 0;
  } else if (2 * top <= kLopsided * span) {
    range.high = top;
    range.low = -top;
  } else {
    range.dtype = DType::kQuint8;
    const float zero = std::clamp(std::nearbyint(255 * -range.low / span), 1.0f, 254.0f);
    const float step = std::max(range.high / (255 - zero), -range.low / zero);
    range.low = -zero * step;
    range.high = (255 - zero) * step;
  }
}

class Quantizer {
 public:
  Quantizer(Graph graph, const QuantizeOptions& options)
      : graph_(std::move(graph)), options_(options), flags_(options.flags) {
    flags_.onednn_opts = true;
    services_.flags = &flags_;
  }

  absl::StatusOr<Quantized> Run(std::vector<NamedTensor> arrays);

 private:
  // A copy of the float graph, for a session or for changes.
  absl::StatusOr<std::unique_ptr<Session>> MakeSession(Graph graph) const {
    SessionOptions options;
    options.flags = options_.flags;
    options.threads = options_.threads;
    return Session::Create(std::move(graph), options);
  }
  // Calls consume(outputs, first sample) for all batches.
  template <typename Consume>
  absl::Status ForBatches(Session& session, absl::string_view stage, Consume consume) const;

  absl::Status Prepare();
  absl::Status ReadLabels();
  absl::Status FindAllLayers();
  absl::Status EqualizeChannels();
  absl::Status Choose();
  absl::Status Calibrate();
  // Computes the error of each layer; returns whether one is above the limit and stays in fp32 from
  // now on.
  absl::StatusOr<bool> Measure();
  absl::StatusOr<Graph> Build();
  absl::Status Compare(const Graph& quantized);

  Graph graph_;
  const QuantizeOptions& options_;
  Flags flags_;
  Services services_;
  std::optional<Samples> samples_;
  std::vector<int64_t> labels_;
  std::vector<Layer> layers_;
  Scheme scheme_;
  std::vector<GroupRange> ranges_;
  QuantizeReport report_;
};

template <typename Consume>
absl::Status Quantizer::ForBatches(Session& session, absl::string_view stage,
                                   Consume consume) const {
  for (int64_t i = 0; i < samples_->num_batches(); ++i) {
    if (options_.progress) options_.progress(stage, i, samples_->num_batches());
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs, session.Run(samples_->Batch(i)));
    TENON_RETURN_IF_ERROR(consume(outputs, i * samples_->batch_size()));
  }
  if (options_.progress) options_.progress(stage, samples_->num_batches(), samples_->num_batches());
  return absl::OkStatus();
}

absl::Status Quantizer::Prepare() {
  RewriteOptions options;
  options.services = &services_;
  options.last = Phase::kFold;
  TENON_RETURN_IF_ERROR(Rewrite(graph_, options).status());
  {
    Rewriter rw(graph_);
    RuleContext context(rw, services_);
    TENON_RETURN_IF_ERROR(FlattenDenseLayers(context));
    PadPoolsWithZeros(context);
  }
  NameByKeys(graph_);  // last: rewriting removes Identity
  return absl::OkStatus();
}

absl::Status Quantizer::ReadLabels() {
  if (!options_.labels.has_value()) return absl::OkStatus();
  const Tensor& labels = *options_.labels;
  if (labels.num_elements() != samples_->total() || labels.shape().rank() < 1 ||
      labels.shape()[0] != samples_->total()) {
    return InvalidArgument("the labels have shape ", labels.shape().ToString(), ", not one for ",
                           "each of the ", samples_->total(), " samples");
  }
  auto values = IntegerValues(labels);
  if (!values.ok()) return Annotate(values.status(), "labels");
  labels_ = *std::move(values);
  return absl::OkStatus();
}

absl::Status Quantizer::FindAllLayers() {
  Rewriter rw(graph_);
  RuleContext context(rw, services_);
  TENON_ASSIGN_OR_RETURN(layers_, FindLayers(context));
  for (const std::string& name : options_.keep) {
    const auto it = std::find_if(layers_.begin(), layers_.end(),
                                 [&](const Layer& layer) { return layer.name == name; });
    if (it == layers_.end()) return InvalidArgument("there is no layer '", name, "' to keep");
    if (it->kept.empty()) it->kept = "as requested";
  }
  if (!layers_.empty() && options_.keep_first && layers_.front().kept.empty()) {
    layers_.front().kept = "the first layer";
  }
  if (!layers_.empty() && options_.keep_last && layers_.back().kept.empty()) {
    layers_.back().kept = "the last layer";
  }
  for (const Layer& layer : layers_) {
    LayerReport r;
    r.name = layer.name;
    r.op = graph_.node(layer.node).op;
    report_.layers.push_back(std::move(r));
  }
  return absl::OkStatus();
}

absl::Status Quantizer::EqualizeChannels() {
  std::vector<Link> links;
  Graph probe = graph_;
  probe.SetOutputs({});
  {
    Rewriter rw(graph_);
    RuleContext context(rw, services_);
    links = FindLinks(context, layers_);
  }
  std::vector<size_t> owner;
  std::vector<ChannelSizes> sizes;
  for (const Link& link : links) {
    for (const Endpoint& e : link.seen) {
      probe.AddOutput({EndpointName(graph_, e), e});
      owner.push_back(sizes.size());
    }
    sizes.emplace_back(link.channels);
  }
  if (links.empty()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, MakeSession(std::move(probe)));
  TENON_RETURN_IF_ERROR(
      ForBatches(*session, "equalizing", [&](const std::vector<NamedTensor>& outputs, int64_t) {
        for (size_t i = 0; i < outputs.size(); ++i) {
          sizes[owner[i]].Add(outputs[i].second);
        }
        return absl::OkStatus();
      }));
  Rewriter rw(graph_);
  RuleContext context(rw, services_);
  for (size_t i = 0; i < links.size(); ++i) {
    TENON_RETURN_IF_ERROR(Equalize(context, links[i], sizes[i]));
  }
  for (Layer& layer : layers_) layer.weights = context.node(layer.node).inputs[1];
  return absl::OkStatus();
}

absl::Status Quantizer::Choose() {
  if (std::all_of(layers_.begin(), layers_.end(), [](const Layer& l) { return !l.kept.empty(); })) {
    const std::string why = layers_.empty() ? "no Conv2D, DepthwiseConv2dNative or MatMul has "
                                              "constant weights"
                                            : layers_.front().kept;
    return absl::FailedPreconditionError(absl::StrCat("there is nothing to quantize: ", why));
  }
  Rewriter rw(graph_);
  RuleContext context(rw, services_);
  TENON_ASSIGN_OR_RETURN(scheme_, ChooseTensors(context, layers_));
  return absl::OkStatus();
}

absl::Status Quantizer::Calibrate() {
  Graph probe = graph_;
  probe.SetOutputs({});
  for (const QuantizedTensor& t : scheme_.tensors) {
    probe.AddOutput({EndpointName(graph_, t.tensor), t.tensor});
  }
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, MakeSession(std::move(probe)));
  std::vector<RangeCollector> seen(scheme_.tensors.size());
  TENON_RETURN_IF_ERROR(
      ForBatches(*session, "calibrating", [&](const std::vector<NamedTensor>& outputs, int64_t) {
        for (size_t i = 0; i < seen.size(); ++i) seen[i].Add(outputs[i].second.flat<float>());
        return absl::OkStatus();
      }));
  std::vector<ValueRange> own(seen.size());
  for (size_t i = 0; i < seen.size(); ++i) {
    const QuantizedTensor& t = scheme_.tensors[i];
    if (seen[i].not_finite() > 0) {
      return InvalidArgument("'", EndpointName(graph_, t.tensor), "' holds ", seen[i].not_finite(),
                             " NaN or infinite elements on these data");
    }
    own[i] = seen[i].Range(options_.range);
    if (t.at_most_six) own[i].high = std::min(own[i].high, 6.0f);
  }
  SplitGroups(scheme_, own);
  ranges_.assign(static_cast<size_t>(scheme_.num_groups), {DType::kQuint8, 0, 0});
  for (size_t i = 0; i < seen.size(); ++i) {
    const QuantizedTensor& t = scheme_.tensors[i];
    GroupRange& range = ranges_[static_cast<size_t>(t.group)];
    if (!t.never_negative && (!t.is_input || seen[i].negative())) range.dtype = DType::kQint8;
    range.low = std::min(range.low, own[i].low);
    range.high = std::max(range.high, own[i].high);
  }
  for (GroupRange& range : ranges_) Settle(range);
  return absl::OkStatus();
}

absl::StatusOr<bool> Quantizer::Measure() {
  Graph measured = graph_;
  {
    std::vector<GraphOutput> outputs;
    Rewriter rw(measured);
    RuleContext context(rw, services_);
    TENON_RETURN_IF_ERROR(InsertMeasures(context, layers_, scheme_, ranges_, outputs));
    measured.SetOutputs(std::move(outputs));
  }
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, MakeSession(std::move(measured)));
  std::vector<double> sums(session->outputs().size(), 0.0);
  TENON_RETURN_IF_ERROR(ForBatches(*session, "measuring layers",
                                   [&](const std::vector<NamedTensor>& outputs, int64_t) {
                                     for (size_t i = 0; i < sums.size(); ++i)
                                       sums[i] += outputs[i].second.data<float>()[0];
                                     return absl::OkStatus();
                                   }));
  bool kept = false;
  size_t next = 0;
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    if (!layer.kept.empty()) continue;
    const double difference = sums[next++], size = sums[next++];
    LayerReport& report = report_.layers[i];
    report.error = difference == 0 ? 0 : std::sqrt(difference / size);
    for (const QuantizedTensor& t : scheme_.tensors) {
      if (t.tensor != layer.data) continue;
      report.data = ranges_[static_cast<size_t>(t.group)].dtype;
      report.low = ranges_[static_cast<size_t>(t.group)].low;
      report.high = ranges_[static_cast<size_t>(t.group)].high;
    }
    // Also true if the error is NaN.
    if (options_.max_error > 0 && !(report.error <= options_.max_error)) {
      layer.kept = absl::StrCat("its error is above ", 100 * options_.max_error, " %");
      kept = true;
    }
  }
  return kept;
}

absl::StatusOr<Graph> Quantizer::Build() {
  Graph quantized = graph_;
  Rewriter rw(quantized);
  RuleContext context(rw, services_);
  TENON_RETURN_IF_ERROR(InsertPairs(context, layers_, scheme_, ranges_));
  return quantized;
}

absl::Status Quantizer::Compare(const Graph& quantized) {
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> before, MakeSession(graph_));
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> after, MakeSession(quantized));
  size_t scores = before->outputs().size();
  std::vector<Difference> differences(before->outputs().size());
  std::vector<bool> compared(differences.size(), false);
  int64_t right_before = 0, right_after = 0;
  const auto consume = [&](const std::vector<NamedTensor>& exact, int64_t first) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> got,
                           after->Run(samples_->Batch(first / samples_->batch_size())));
    const int64_t count = std::min(samples_->batch_size(), samples_->used() - first);
    for (size_t i = 0; i < exact.size(); ++i) {
      const Tensor &a = exact[i].second, &b = got[i].second;
      if (a.dtype() != DType::kFloat || a.shape() != b.shape()) continue;
      differences[i].Add(a, b);
      compared[i] = true;
      const Shape& shape = a.shape();
      if (labels_.empty() || shape.rank() != 2 || shape[0] != count || shape[1] < 1) continue;
      scores = std::min(scores, i);
      if (scores != i) continue;
      right_before += CountTop1(a, labels_, first);
      right_after += CountTop1(b, labels_, first);
    }
    return absl::OkStatus();
  };
  TENON_RETURN_IF_ERROR(ForBatches(*before, "comparing", consume));
  for (size_t i = 0; i < differences.size(); ++i) {
    if (!compared[i]) continue;
    report_.outputs.push_back(
        {before->outputs()[i].name, differences[i].error(), differences[i].correlation()});
  }
  if (labels_.empty()) return absl::OkStatus();
  if (scores == differences.size()) {
    return InvalidArgument("no output has a row of scores for each sample");
  }
  const auto n = static_cast<double>(samples_->used());
  report_.top1_before = static_cast<double>(right_before) / n;
  report_.top1_after = static_cast<double>(right_after) / n;
  return absl::OkStatus();
}

absl::StatusOr<Quantized> Quantizer::Run(std::vector<NamedTensor> arrays) {
  TENON_RETURN_IF_ERROR(Prepare());
  {
    TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, MakeSession(graph_));
    TENON_ASSIGN_OR_RETURN(samples_,
                           Samples::Create(std::move(arrays), session->inputs(), options_.batch));
  }
  report_.samples = samples_->used();
  report_.left_out = samples_->total() - samples_->used();
  TENON_RETURN_IF_ERROR(ReadLabels());
  TENON_RETURN_IF_ERROR(FindAllLayers());
  if (options_.equalize) TENON_RETURN_IF_ERROR(EqualizeChannels());
  bool changed = true;
  while (changed) {
    TENON_RETURN_IF_ERROR(Choose());
    TENON_RETURN_IF_ERROR(Calibrate());
    TENON_ASSIGN_OR_RETURN(changed, Measure());
  }
  for (size_t i = 0; i < layers_.size(); ++i) report_.layers[i].kept = layers_[i].kept;
  Quantized result;
  TENON_ASSIGN_OR_RETURN(result.graph, Build());
  TENON_RETURN_IF_ERROR(Compare(result.graph));
  result.report = std::move(report_);
  return result;
}

}  // namespace

absl::StatusOr<Quantized> Quantize(Graph graph, std::vector<NamedTensor> samples,
                                   const QuantizeOptions& options) {
  return Quantizer(std::move(graph), options).Run(std::move(samples));
}

}  // namespace tenon

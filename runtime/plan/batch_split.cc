#include "runtime/plan/batch_split.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/cpu.h"
#include "env/status.h"
#include "ops/op.h"
#include "runtime/plan/plan_builder.h"

namespace tenon {
namespace {

// The bytes per thread that one part's tensors may use: about its share of the CPU's caches.
// Measured on Zen 4 with two threads: parts of 10 to 25 MB perform alike, and parts of 50 MB are as
// slow as whole batches; in the smallest ones, the threads wait for each other more often.
constexpr size_t kCacheBytesPerThread = size_t{10} << 20;

using Specs = std::vector<TensorSpec>;

// The number of rows of all feeds with a free number of rows; 0 if they differ or there are none.
int64_t RowsOf(absl::Span<const TensorSpec> feeds, const std::vector<bool>& free_rows) {
  int64_t rows = 0;
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].dtype == DType::kInvalid || !free_rows[i]) continue;
    if (feeds[i].shape.rank() < 1 || SizeOf(feeds[i].dtype) == 0) return 0;
    const int64_t have = feeds[i].shape.dim(0);
    if (rows != 0 && have != rows) return 0;
    rows = have;
  }
  return rows;
}

Specs WithRows(absl::Span<const TensorSpec> feeds, const std::vector<bool>& free_rows,
               int64_t rows) {
  Specs part(feeds.begin(), feeds.end());
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i].dtype == DType::kInvalid || !free_rows[i]) continue;
    std::vector<int64_t> dims(part[i].shape.dims().begin(), part[i].shape.dims().end());
    dims[0] = rows;
    part[i].shape = Shape(dims);
  }
  return part;
}

// Whether all rows of both are the same.
bool OneRow(const Tensor& a, const Tensor& b) {
  if (SizeOf(a.dtype()) == 0 || b.shape().dim(0) == 0) return false;
  const size_t row = b.bytes() / static_cast<size_t>(b.shape().dim(0));
  const char* const first = b.data<char>();
  const auto same = [&](const Tensor& t) {
    for (size_t at = 0; row > 0 && at + row <= t.bytes(); at += row) {
      if (std::memcmp(t.data<char>() + at, first, row) != 0) return false;
    }
    return true;
  };
  return same(a) && same(b);
}

// Compares the results of two dry runs for each tensor.
class BatchAxisAnalysis {
 public:
  BatchAxisAnalysis(const ModelState& model, const PlanDryRun& all, const PlanDryRun& part,
                    int64_t parts)
      : model_(model), all_(all), part_(part), parts_(parts) {
    rows_.resize(all.outputs.size());
  }

  // Whether the graph's outputs can be computed in parts.
  bool Run(absl::Span<const TensorSpec> feeds, const std::vector<bool>& free_rows) {
    const Graph& graph = model_.graph();
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      if (feeds[i].dtype == DType::kInvalid) continue;  // a default, treated like other nodes
      std::vector<BatchAxis>& fed = rows_[static_cast<size_t>(graph.inputs()[i].node)];
      if (!fed.empty() || all_.outputs[static_cast<size_t>(graph.inputs()[i].node)].empty()) {
        continue;
      }
      if (model_.is_live(graph.inputs()[i].node)) {
        fed = {free_rows[i] ? BatchAxis::kFirst : BatchAxis::kNone};
      }
    }
    for (NodeId id : model_.order()) {
      if (rows_[static_cast<size_t>(id)].empty() && !Visit(graph.node(id))) {
        stopped_at_ = id;
        return false;
      }
    }
    return std::all_of(graph.outputs().begin(), graph.outputs().end(), [&](const auto& output) {
      const TensorSpec& spec = Spec(all_, output.source);
      stopped_at_ = output.source.node;
      return Of(output.source) != BatchAxis::kOther && SizeOf(spec.dtype) > 0;
    });
  }
  // The node at which Run found that they cannot.
  const Node& StoppedAt() const { return model_.graph().node(stopped_at_); }
  BatchAxis Of(Endpoint e) const {
    return rows_[static_cast<size_t>(e.node)][static_cast<size_t>(e.port)];
  }
  const TensorSpec& Spec(Endpoint e) const { return Spec(all_, e); }

 private:
  static const TensorSpec& Spec(const PlanDryRun& dry_run, Endpoint e) {
    return dry_run.outputs[static_cast<size_t>(e.node)][static_cast<size_t>(e.port)];
  }

  // kFirst: axis 0 is `parts` times as long; kNone: the same shape.
  BatchAxis ByShape(const Shape& all, const Shape& part) const {
    if (all == part) return BatchAxis::kNone;
    if (all.rank() != part.rank() || all.rank() < 1) return BatchAxis::kOther;
    for (int d = 1; d < all.rank(); ++d) {
      if (all.dim(d) != part.dim(d)) return BatchAxis::kOther;
    }
    return all.dim(0) == parts_ * part.dim(0) ? BatchAxis::kFirst : BatchAxis::kOther;
  }

  BatchAxis ByValue(const Tensor& all, const Tensor& part) const {
    switch (ByShape(all.shape(), part.shape())) {
      case BatchAxis::kNone:
        return Identical(all, part) ? BatchAxis::kNone : BatchAxis::kOther;
      case BatchAxis::kFirst:
        return OneRow(all, part) ? BatchAxis::kFirst : BatchAxis::kOther;
      case BatchAxis::kOther:
        break;
    }
    return BatchAxis::kOther;
  }

  // Returns false if rows are not independent after this node.
  bool Visit(const Node& node) {
    const Specs& all = all_.outputs[static_cast<size_t>(node.id)];
    const Specs& part = part_.outputs[static_cast<size_t>(node.id)];
    std::vector<BatchAxis>& rows = rows_[static_cast<size_t>(node.id)];
    if (all.size() != part.size()) return false;
    if (model_.constant(node.id) != nullptr) {
      rows.assign(all.size(), BatchAxis::kNone);
      return true;
    }
    const OpLookup op = FindOp(node.op);
    if (!op || op.info->row.stateful) return false;
    std::vector<BatchAxis> inputs;
    Specs in;
    for (const Endpoint& e : node.inputs) {
      inputs.push_back(Of(e));
      in.push_back(Spec(e));
    }
    std::optional<bool> keeps;  // computed once, and only if needed
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].shape.IsComplete() || !part[i].shape.IsComplete()) return false;
      if (all[i].value != nullptr && part[i].value != nullptr) {
        rows.push_back(ByValue(*all[i].value, *part[i].value));
        continue;
      }
      const bool free = std::all_of(inputs.begin(), inputs.end(),
                                    [](BatchAxis a) { return a == BatchAxis::kNone; });
      const BatchAxis by_shape = ByShape(all[i].shape, part[i].shape);
      if (free) {
        if (by_shape != BatchAxis::kNone) return false;
        rows.push_back(BatchAxis::kNone);
        continue;
      }
      if (!keeps.has_value()) keeps = KeepsRowsApart(op.info->row, {node, inputs, in, all});
      if (!*keeps) return false;
      const bool range = by_shape == BatchAxis::kNone && op.info->row.range_of_ranges;
      rows.push_back(by_shape == BatchAxis::kFirst || range ? by_shape : BatchAxis::kOther);
    }
    return true;
  }

  const ModelState& model_;
  const PlanDryRun& all_;
  const PlanDryRun& part_;
  const int64_t parts_;
  std::vector<std::vector<BatchAxis>> rows_;  // by node, then port
  NodeId stopped_at_ = 0;
};

// All divisors less than `rows`, ascending.
std::vector<int64_t> DivisorsBelow(int64_t rows) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d <= rows / d; ++d) {
    if (rows % d != 0) continue;
    small.push_back(d);
    if (d > 1 && d != rows / d) large.push_back(rows / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

// The bytes of weights that one run reads: more than the weights have if a step reads them
// repeatedly.
double WeightBytesRead(const ModelState& model, const PlanDryRun& dry_run) {
  auto bytes = static_cast<double>(dry_run.weight_bytes);
  for (NodeId id : model.order()) {
    const Node& node = model.graph().node(id);
    const OpLookup op = FindOp(node.op);
    if (!op || op.info->row.weight_reads == nullptr) continue;
    Specs in;
    size_t weights = 0;
    for (const Endpoint& e : node.inputs) {
      in.push_back(dry_run.outputs[static_cast<size_t>(e.node)][static_cast<size_t>(e.port)]);
      const Constant* const constant = model.constant(e.node);
      if (constant != nullptr) {
        weights +=
            static_cast<size_t>(constant->shape().num_elements()) * SizeOf(constant->dtype());
      }
    }
    const int64_t again = op.info->row.weight_reads(node, in) - 1;
    bytes += static_cast<double>(weights) * static_cast<double>(std::max<int64_t>(again, 0));
  }
  return bytes;
}

// The rows of a part: the largest divisor of `rows` whose tensors fit the caches; more if weights,
// which each part reads again, would otherwise outweigh what its steps write and read. `rows`
// means: do not split.
int64_t RowsOfPart(const PlanDryRun& dry_run, double weights, int64_t rows, size_t cache_bytes) {
  const auto share = [&](size_t bytes, int64_t part) {
    return static_cast<double>(bytes) * static_cast<double>(part) / static_cast<double>(rows);
  };
  int64_t best = 1;
  for (const int64_t part : DivisorsBelow(rows)) {
    const bool fits = share(dry_run.arena_bytes, part) <= static_cast<double>(cache_bytes);
    const bool light = 2 * share(dry_run.written_bytes, best) >= weights;
    if (fits || !light) best = part;
  }
  const bool light = 2 * share(dry_run.written_bytes, best) >= weights;
  return light ? best : rows;
}

// The number of parts that threads run side by side, each on its own; 1: each step runs on all
// threads. Only where each thread keeps all weights in its second-level cache.
int64_t PartsForThreads(const PlanDryRun& dry_run, int64_t rows, int threads) {
  constexpr int64_t kLeastRows = 8, kMostTurns = 4;
  // With less, all of the run takes little longer than starting the threads.
  constexpr size_t kLeastBytes = size_t{128} << 10;
  if (threads < 2 || dry_run.weight_bytes > SecondLevelCacheBytes() / 2 ||
      dry_run.written_bytes + dry_run.weight_bytes < kLeastBytes) {
    return 1;
  }
  for (int64_t turns = 1; turns <= kMostTurns; ++turns) {
    for (int64_t parts = (turns - 1) * threads + 1; parts <= turns * threads; ++parts) {
      const bool balanced = 8 * turns * threads <= 9 * parts;
      if (parts > 1 && balanced && rows % parts == 0 && rows / parts >= kLeastRows) return parts;
    }
  }
  return 1;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SplitPlan>> BuildSplitPlan(
    const std::shared_ptr<const ModelState>& model, absl::Span<const TensorSpec> feeds,
    const std::vector<bool>& free_rows, const Services& services, KernelCache& cache) {
  const int64_t rows = RowsOf(feeds, free_rows);
  if (rows < 2) return nullptr;
  // An error that a dry run cannot see is reported by the plan itself.
  const absl::StatusOr<PlanDryRun> all = DryRunPlan(model, feeds, services);
  if (!all.ok() || all->dynamic) return nullptr;
  const size_t cache_bytes =
      kCacheBytesPerThread * static_cast<size_t>(std::max(services.threads, 1));
  const bool large = all->arena_bytes > cache_bytes;
  const int64_t parts =
      large ? rows / RowsOfPart(*all, WeightBytesRead(*model, *all), rows, cache_bytes)
            : PartsForThreads(*all, rows, services.threads);
  if (parts == 1) return nullptr;
  const Specs part_feeds = WithRows(feeds, free_rows, rows / parts);
  const absl::StatusOr<PlanDryRun> part = DryRunPlan(model, part_feeds, services);
  if (!part.ok() || part->dynamic) return nullptr;
  BatchAxisAnalysis analysis(*model, *all, *part, parts);
  if (!analysis.Run(feeds, free_rows)) return nullptr;

  std::vector<SplitPlan::Output> outputs;
  for (const GraphOutput& output : model->graph().outputs()) {
    const TensorSpec& spec = analysis.Spec(output.source);
    outputs.push_back(
        {{spec.dtype, spec.shape, nullptr}, analysis.Of(output.source) == BatchAxis::kFirst});
  }
  Services of_part = services;
  if (!large) of_part.threads = 1;
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan,
                         BuildPlan(model, part_feeds, of_part, cache));
  return std::make_shared<const SplitPlan>(std::move(plan), parts, free_rows, std::move(outputs),
                                           large ? 1 : services.threads);
}

absl::Status CheckRowsApart(const std::shared_ptr<const ModelState>& model,
                            absl::Span<const TensorSpec> feeds, const std::vector<bool>& free_rows,
                            const Services& services) {
  constexpr int64_t kRows = 2, kParts = 2;
  if (RowsOf(feeds, free_rows) == 0) {
    return absl::FailedPreconditionError("the inputs do not have the same number of rows");
  }
  const Specs part_feeds = WithRows(feeds, free_rows, kRows);
  const Specs all_feeds = WithRows(feeds, free_rows, kRows * kParts);
  TENON_ASSIGN_OR_RETURN(const PlanDryRun part, DryRunPlan(model, part_feeds, services));
  TENON_ASSIGN_OR_RETURN(const PlanDryRun all, DryRunPlan(model, all_feeds, services));
  if (part.dynamic || all.dynamic) {
    return absl::FailedPreconditionError("some shapes in the graph are known only when it runs");
  }
  BatchAxisAnalysis analysis(*model, all, part, kParts);
  if (analysis.Run(all_feeds, free_rows)) return absl::OkStatus();
  const Node& node = analysis.StoppedAt();
  return absl::FailedPreconditionError(
      absl::StrCat("node '", node.name, "' (", node.op, ") may look at several rows at once"));
}

}  // namespace tenon

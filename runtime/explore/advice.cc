#include "runtime/explore/advice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "env/containers.h"
#include "env/cpu.h"
#include "ops/op.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

constexpr double kBfloat16Saves = 0.5;
constexpr double kSmallWeightsSave = 0.4;
constexpr double kBatchSaves = 0.4;
constexpr double kLeastShare = 0.03;  // of the time, for advice to be worth a line

double WeightBytes(const Graph& graph, NodeId id) {
  if (!graph.Has(id)) return 0;
  double bytes = 0;
  for (const Endpoint& e : graph.node(id).inputs) {
    const Tensor* value = graph.node(e.node).attr<Tensor>("value");
    if (value != nullptr) bytes += static_cast<double>(value->bytes());
  }
  return bytes;
}

std::string Percent(double part) { return absl::StrFormat("%.0f %%", 100 * part); }

// Inputs whose first dimension the caller chooses.
bool TakesBatches(const Exploration& e) {
  return std::any_of(e.story.loaded().inputs().begin(), e.story.loaded().inputs().end(),
                     [&](const GraphInput& in) {
                       const Shape* shape = e.story.loaded().node(in.node).attr<Shape>("shape");
                       return shape != nullptr && shape->has_rank() && shape->rank() > 0 &&
                              shape->dim(0) < 0;
                     });
}

bool RunsOneRow(const Exploration& e) {
  return std::all_of(e.inputs.begin(), e.inputs.end(), [](const TensorSpec& in) {
    return !in.shape.has_rank() || in.shape.rank() == 0 || in.shape.dim(0) <= 1;
  });
}

class Adviser {
 public:
  Adviser(const Exploration& e, const Machine& machine) : e_(e), machine_(machine) {}

  std::vector<Advice> Run() {
    for (const ExploredStep& s : e_.steps) time_[LimitOf(e_, s, machine_)] += s.ms;
    Precision();
    Weights();
    Batch();
    NearMisses();
    Threads();
    NotAccelerated();
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Advice& a, const Advice& b) { return a.saves_ms > b.saves_ms; });
    return std::move(out_);
  }

 private:
  double Share(double ms) const { return e_.total_ms > 0 ? ms / e_.total_ms : 0; }
  void Add(Advice::Kind kind, std::string what, std::string why, double saves_ms) {
    if (e_.total_ms > 0 && Share(saves_ms) < kLeastShare) return;
    out_.push_back({kind, std::move(what), std::move(why), saves_ms});
  }

  void Precision() {
    const double ms = time_[Limit::kCompute];
    if (ms <= 0 || e_.precision == Precision::kBfloat16 || !machine_.bfloat16) return;
    Add(Advice::Kind::kBfloat16, "compute in bfloat16: --precision bf16",
        absl::StrCat(Percent(Share(ms)), " of the time goes into multiply-adds in float"),
        ms * kBfloat16Saves);
  }

  void Weights() {
    const double ms = time_[Limit::kWeights];
    if (ms <= 0) return;
    Add(Advice::Kind::kSmallWeights, "store weights in 8 bits: tenon quantize --weights int8",
        absl::StrCat(Percent(Share(ms)), " of the time goes into products that wait for weights"),
        ms * kSmallWeightsSave);
  }

  void Batch() {
    const double ms = time_[Limit::kSequence];
    if (ms <= 0 || !TakesBatches(e_) || !RunsOneRow(e_)) return;
    Add(Advice::Kind::kBatch, "run several sequences together, as one batch",
        absl::StrCat(Percent(Share(ms)),
                     " of the time goes into recurrent layers, whose steps "
                     "wait for each other"),
        ms * kBatchSaves);
  }

  void NearMisses() {
    for (const MissGroup& group : GroupMisses(e_)) {
      const NearMiss& first = group.misses.front()->miss;
      const size_t more = group.misses.size() - 1;
      Add(Advice::Kind::kNearMiss, first.reason.change,
          absl::StrCat(first.reason.Text(), ", so ", first.rule, " does not fire",
                       more > 0 ? absl::StrCat(" (and in ", more, " more places)") : ""),
          group.saves_ms);
    }
  }

  void Threads() {
    if (e_.threads >= machine_.cpus) return;
    Add(Advice::Kind::kThreads, absl::StrCat("use more threads: --threads ", machine_.cpus),
        absl::StrCat("it runs on ", e_.threads, " of ", machine_.cpus, " CPUs"),
        e_.total_ms * (1 - static_cast<double>(e_.threads) / machine_.cpus) / 2);
  }

  void NotAccelerated() {
    OrderedMap<std::string, std::pair<double, int>> by_op;
    for (const ExploredStep& s : e_.steps) {
      if (s.info.accelerated || s.info.dynamic) continue;
      by_op[s.info.op].first += s.ms;
      ++by_op[s.info.op].second;
    }
    for (const auto& [op, sum] : by_op) {
      Add(Advice::Kind::kNotAccelerated, absl::StrCat("do without ", op, ", if you can"),
          absl::StrCat(sum.second, sum.second == 1 ? " node takes " : " nodes take ",
                       Percent(Share(sum.first)), " of the time on a reference kernel"),
          sum.first / 2);
    }
  }

  const Exploration& e_;
  const Machine& machine_;
  OrderedMap<Limit, double> time_;
  std::vector<Advice> out_;
};

}  // namespace

Machine ThisMachine(const MachinePeak& peak) {
  return {peak, HasBfloat16Instructions(), AvailableCpus()};
}

const char* Name(Limit limit) {
  switch (limit) {
    case Limit::kCompute:
      return "compute";
    case Limit::kWeights:
      return "weights";
    case Limit::kSequence:
      return "sequence";
    case Limit::kMoves:
      return "moves";
  }
  return "";
}

const char* Name(Advice::Kind kind) {
  switch (kind) {
    case Advice::Kind::kBfloat16:
      return "bfloat16";
    case Advice::Kind::kSmallWeights:
      return "small_weights";
    case Advice::Kind::kBatch:
      return "batch";
    case Advice::Kind::kNearMiss:
      return "near_miss";
    case Advice::Kind::kThreads:
      return "threads";
    case Advice::Kind::kNotAccelerated:
      return "not_accelerated";
  }
  return "";
}

Limit LimitOf(const Exploration& e, const ExploredStep& step, const Machine& machine) {
  const OpRow& row = FactsOf(step.info.op);
  // op names: the only op that runs a loop of its own.
  if (row.name != nullptr && absl::string_view(row.name) == "_Recurrence") return Limit::kSequence;
  if (row.precision != PrecisionRole::kLeads || step.info.flops <= 0) return Limit::kMoves;
  const double reading =
      WeightBytes(e.graph(), step.node) / std::max(machine.peak.bytes_per_s, 1.0);
  const double computing = step.info.flops / std::max(machine.peak.flops_per_s, 1.0);
  return reading > computing ? Limit::kWeights : Limit::kCompute;
}

std::vector<Advice> Advise(const Exploration& e, const Machine& machine) {
  return Adviser(e, machine).Run();
}

}  // namespace tenon

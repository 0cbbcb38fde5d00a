#include "runtime/explore/exploration.h"

#include <algorithm>

#include "env/containers.h"
#include "env/cpu.h"
#include "env/monotonic_seconds.h"
#include "env/status.h"
#include "graph_rewrite/free_work.h"
#include "graph_rewrite/origins.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

// The fastest time of each step, and when each step of the fastest run ran.
class Fastest final : public StepObserver {
 public:
  explicit Fastest(size_t steps) : ns_(steps, 0) {}
  void OnStep(int step, int64_t nanoseconds) override {
    int64_t& ns = ns_[static_cast<size_t>(step)];
    ns = runs_ == 0 ? nanoseconds : std::min(ns, nanoseconds);
    const double us = static_cast<double>(nanoseconds) / 1e3;
    run_.push_back({step, (MonotonicSeconds() - start_) * 1e6 - us, us});
  }
  void BeginRun() {
    run_.clear();
    start_ = MonotonicSeconds();
  }
  void EndRun() {
    const double ms = (MonotonicSeconds() - start_) * 1e3;
    if (runs_++ > 0 && ms >= run_ms_) return;
    run_ms_ = ms;
    fastest_run_ = run_;
  }
  int runs() const { return runs_; }
  double ms(size_t step) const { return static_cast<double>(ns_[step]) / 1e6; }
  double run_ms() const { return run_ms_; }
  // A plan that computes a few rows at a time reports its steps at the end: then one after the
  // other.
  std::vector<TimedStep> Timeline() const {
    std::vector<TimedStep> steps = fastest_run_;
    double end = 0;
    bool apart = true;
    for (const TimedStep& s : steps) {
      apart &= s.start_us >= end - kClockUs;
      end = s.start_us + s.us;
    }
    end = 0;
    for (TimedStep& s : steps) {
      s.start_us = apart ? std::max(s.start_us, end) : end;
      end = s.start_us + s.us;
    }
    return steps;
  }

 private:
  static constexpr double kClockUs = 1;  // what two readings of the clock may differ by

  std::vector<int64_t> ns_;
  std::vector<TimedStep> run_, fastest_run_;
  double start_ = 0, run_ms_ = 0;
  int runs_ = 0;
};

absl::Status Measure(Exploration& e, absl::Span<const Tensor> inputs,
                     const ExploreOptions& wanted) {
  TENON_RETURN_IF_ERROR(e.session->Run(inputs).status());  // caches, frequencies
  Fastest fastest(e.steps.size());
  const double start = MonotonicSeconds();
  do {
    fastest.BeginRun();
    TENON_RETURN_IF_ERROR(e.session->Run(inputs, {.observer = &fastest}).status());
    fastest.EndRun();
    if (wanted.progress)
      wanted.progress("measuring", (MonotonicSeconds() - start) / wanted.seconds);
  } while (MonotonicSeconds() - start < wanted.seconds);
  e.runs = fastest.runs();
  e.timeline = fastest.Timeline();
  e.timeline_ms = fastest.run_ms();
  for (size_t i = 0; i < e.steps.size(); ++i) {
    e.steps[i].ms = fastest.ms(i);
    e.total_ms += e.steps[i].ms;
  }
  return absl::OkStatus();
}

absl::Status PlanAndRun(Exploration& e, absl::Span<const Tensor> inputs,
                        const ExploreOptions& wanted, const Services& services) {
  if (wanted.progress) wanted.progress("planning", 0);
  TENON_ASSIGN_OR_RETURN(e.plan, e.session->PlanFor(inputs));
  for (const Tensor& t : inputs) e.inputs.push_back({t.dtype(), t.shape()});
  for (StepInfo& info : e.plan->Describe()) {
    const Node* n = e.graph().FindNode(info.node);
    e.steps.push_back({std::move(info), n == nullptr ? kNoNode : n->id, 0});
  }
  std::vector<NodeId> reference;
  for (const ExploredStep& s : e.steps) {
    if (s.node != kNoNode && !s.info.accelerated && !s.info.dynamic) reference.push_back(s.node);
  }
  // Without them, less is known; that is no error.
  if (auto details = DetailsOfPlan(e.graph(), e.inputs, reference, services); details.ok()) {
    e.details = *std::move(details);
  }
  if (wanted.seconds > 0) TENON_RETURN_IF_ERROR(Measure(e, inputs, wanted));
  e.plan_cache = e.session->plan_stats();
  e.kernel_cache = e.session->kernel_stats();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> StartSession(Exploration& e, const Model& model,
                                                 const SessionOptions& options,
                                                 const ExploreOptions& wanted) {
  if (wanted.progress) wanted.progress("loading", 0);
  TENON_ASSIGN_OR_RETURN(e.session, Session::Create(model, options));
  TENON_RETURN_IF_ERROR(e.session->report().status);
  e.threads = e.session->threads();
  return wanted.inputs(*e.session);
}

void WeighMisses(Exploration& e) {
  const OriginMap origins(e.story.report);
  const FreeWork free(e.graph());
  HashMap<NodeId, double> ms;
  for (const ExploredStep& s : e.steps) ms[s.node] += s.ms;
  for (const NearMiss& miss : e.story.near_misses) {
    ExploredMiss explored{miss, {}, 0};
    const auto add = [&](NodeId now) {
      if (!e.graph().Has(now) || free.IsFree(now)) return;
      if (std::find(explored.now.begin(), explored.now.end(), now) == explored.now.end()) {
        explored.now.push_back(now);
      }
    };
    for (NodeId id : miss.function.empty() ? miss.nodes : std::vector<NodeId>()) {
      for (NodeId now : origins.ResultsOf(id)) add(now);
    }
    for (const std::string& name : miss.names) {
      if (const Node* n = e.graph().FindNode(name)) add(n->id);
    }
    double sum = 0, longest = 0;
    for (NodeId id : explored.now) {
      const auto it = ms.find(id);
      if (it == ms.end()) continue;
      sum += it->second;
      longest = std::max(longest, it->second);
    }
    explored.saves_ms = sum - longest;
    e.misses.push_back(std::move(explored));
  }
  std::stable_sort(e.misses.begin(), e.misses.end(),
                   [](const auto& a, const auto& b) { return a.saves_ms > b.saves_ms; });
}

}  // namespace

ShortNames Exploration::short_names() const { return ShortNamesOf(graph()); }

Reason Exploration::WhyReference(const ExploredStep& step) const {
  if (!graph().Has(step.node)) return MakeReason(ReasonKind::kCondition, "", "", "");
  Reason reason = WhyNotAccelerated(graph().node(step.node));
  const auto it = details.refusals.find(step.node);
  return it == details.refusals.end() ? reason : it->second;
}

std::vector<MissGroup> GroupMisses(const Exploration& e) {
  OrderedMap<std::pair<std::string, ReasonKind>, MissGroup> groups;
  OrderedSet<std::vector<NodeId>> seen;
  for (const ExploredMiss& m : e.misses) {
    if (e.runs > 0 && m.saves_ms <= 0 && m.miss.function.empty()) continue;
    if (!m.now.empty() && !seen.insert(m.now).second) continue;
    MissGroup& group = groups[{m.miss.rule, m.miss.reason.kind}];
    group.misses.push_back(&m);
    group.saves_ms += m.saves_ms;
  }
  std::vector<MissGroup> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const MissGroup& a, const MissGroup& b) { return a.saves_ms > b.saves_ms; });
  return sorted;
}

absl::StatusOr<Exploration> Explore(const Model& model, const SessionOptions& options,
                                    const ExploreOptions& wanted) {
  Exploration e;
  Flags flags;
  if (options.flags) {
    flags = *options.flags;
  } else {
    TENON_ASSIGN_OR_RETURN(flags, Flags::FromEnvironment());
  }
  e.threads = options.threads > 0 ? options.threads : AvailableCpus();
  const Services services{.flags = &flags, .threads = e.threads};
  RewriteOptions rewrite;
  rewrite.services = &services;
  TENON_ASSIGN_OR_RETURN(e.precision, ResolvePrecision(options.precision, flags));
  if (e.precision == Precision::kBfloat16 && !HasBfloat16Instructions()) {
    e.precision = Precision::kFloat;  // as a session does
  }
  rewrite.precision = e.precision;

  StoryOptions story;
  story.near_misses = wanted.near_misses;
  if (wanted.progress) {
    story.progress = [&](double part) { wanted.progress("trying rules", part); };
  }
  std::vector<Tensor> inputs;
  if (wanted.inputs) {
    auto made = StartSession(e, model, options, wanted);
    e.planning = made.status();
    if (made.ok()) inputs = *std::move(made);
    // A graph with fixed shapes would have these.
    for (size_t i = 0; i < model.graph.inputs().size() && i < inputs.size(); ++i) {
      const Node& n = model.graph.node(model.graph.inputs()[i].node);
      if (inputs[i].dtype() != DType::kInvalid) story.input_shapes[n.name] = inputs[i].shape();
    }
  }
  TENON_ASSIGN_OR_RETURN(e.story, TellStory(model.graph, rewrite, story));
  if (wanted.inputs && e.planning.ok()) e.planning = PlanAndRun(e, inputs, wanted, services);
  if (wanted.weights) e.weights = StatsOfWeights(e.graph());
  WeighMisses(e);
  return e;
}

}  // namespace tenon

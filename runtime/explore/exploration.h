// What there is to know of a model on this machine: the story of its rewriting, the plan for given
// inputs, the time of each step, and what follows from them together. The source of `tenon explain`
// and of the report "tenon.explore".
#ifndef TENON_RUNTIME_EXPLORE_EXPLORATION_H_
#define TENON_RUNTIME_EXPLORE_EXPLORATION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/explain.h"
#include "graph_rewrite/story.h"
#include "runtime/explore/plan_details.h"
#include "runtime/explore/scopes.h"
#include "runtime/explore/weight_stats.h"
#include "runtime/session/session.h"

namespace tenon {

struct ExploreOptions {
  // Makes the inputs of the plan and of the runs; null: neither plan nor profile.
  std::function<absl::StatusOr<std::vector<Tensor>>(const Session&)> inputs = nullptr;
  // How long to measure; 0: not at all.
  double seconds = 0;
  bool near_misses = true;
  // Also Exploration::weights, which reads all of them.
  bool weights = false;
  // Called now and then with what is being done and the part that is done, in 0..1.
  std::function<void(const char* what, double part)> progress = nullptr;
};

// A step of the plan, with its time.
struct ExploredStep {
  StepInfo info;
  NodeId node = kNoNode;  // of the rewritten graph
  double ms = 0;  // in its fastest run, since other load on the machine only adds; 0: not run
};

// When a step ran.
struct TimedStep {
  int step = 0;
  double start_us = 0;  // from the start of the run
  double us = 0;
};

// A near miss and the time that it may save: that of all steps which would become one, but for the
// longest. 0 if it is not known, as in functions: a call is one step.
struct ExploredMiss {
  NearMiss miss;
  std::vector<NodeId> now;  // the nodes of the rewritten graph that would become one
  double saves_ms = 0;
};

struct Exploration {
  Story story;
  std::unique_ptr<Session> session;  // null without inputs
  // Why there is no plan or profile; OK if there is one, or none was asked for.
  absl::Status planning;
  std::shared_ptr<const Plan> plan;
  std::vector<TensorSpec> inputs;
  std::vector<ExploredStep> steps;
  int runs = 0;
  double total_ms = 0;               // of all steps
  std::vector<TimedStep> timeline;   // of the fastest run; empty: not run
  double timeline_ms = 0;            // from its start to its end
  PlanDetails details;               // empty without a plan
  std::vector<WeightStats> weights;  // of constants of the rewritten graph
  std::vector<ExploredMiss> misses;  // what saves most first
  CacheStats plan_cache, kernel_cache;
  int threads = 0;
  Precision precision = Precision::kFloat;

  const Graph& graph() const { return story.rewritten(); }
  // For the names of nodes that run.
  ShortNames short_names() const;
  // Why the step runs a reference kernel.
  Reason WhyReference(const ExploredStep& step) const;
};

// Near misses of one rule for the same kind of reason.
struct MissGroup {
  std::vector<const ExploredMiss*> misses;  // what saves most first
  double saves_ms = 0;
};
// What saves most first; with a profile, only what saves something or is in a function. Changes, or
// rules, that would fuse the same steps count once.
std::vector<MissGroup> GroupMisses(const Exploration& e);

// Rewriting that fails is an error; a plan that cannot be made is not.
absl::StatusOr<Exploration> Explore(const Model& model, const SessionOptions& options,
                                    const ExploreOptions& wanted);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_EXPLORATION_H_

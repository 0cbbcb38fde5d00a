#include "python/core/reports.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "graph_rewrite/explain.h"
#include "include/c_api_types.h"
#include "python/core/status.h"
#include "tools/rewrite_args.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

int64_t Now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class Times final : public StepObserver {
 public:
  explicit Times(size_t steps) : ns(steps, 0) {}
  void OnStep(int step, int64_t nanoseconds) override {
    ns[static_cast<size_t>(step)] = nanoseconds;
  }
  std::vector<int64_t> ns;
};

struct Measured {
  std::vector<StepInfo> steps;
  std::vector<int64_t> ns;
  int64_t wall_ns = 0;
};

absl::StatusOr<Measured> Measure(Session& session, absl::Span<const Tensor> inputs, int runs) {
  TENON_RETURN_IF_ERROR(session.Run(inputs).status());  // builds the plan
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, session.PlanFor(inputs));
  Measured best;
  best.steps = plan->Describe();
  for (int i = 0; i < runs; ++i) {
    Times times(best.steps.size());
    const int64_t start = Now();
    TENON_RETURN_IF_ERROR(session.Run(inputs, &times).status());
    const int64_t wall_ns = Now() - start;
    if (i == 0 || wall_ns < best.wall_ns) {
      best.wall_ns = wall_ns;
      best.ns = std::move(times.ns);
    }
  }
  return best;
}

template <typename T>
T Value(absl::StatusOr<T> result) {
  Check(WrapStatus(result.status()));
  return *std::move(result);
}

nb::dict Counts(const absl::btree_map<std::string, int>& counts) {
  nb::dict dict;
  for (const auto& [name, count] : counts) dict[name.c_str()] = count;
  return dict;
}

absl::StatusOr<std::vector<NodeExplanation>> ExplainModel(const ModelArgs& model,
                                                          const std::vector<std::string>& nodes) {
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<RewriteServices> services,
                         RewriteServices::Create());
  TENON_ASSIGN_OR_RETURN(const Model loaded, OpenModel(model, /*allow_missing_ops=*/true));
  RewriteOptions options = services->options();
  options.precision = PrecisionOf(model);
  return Explain(loaded.graph, options, nodes);
}

// (node, op, what computes it now, its op, accelerated, [(rule, fired,
// reason)]) for each node.
nb::list ExplainNodes(const std::string& path, const std::string& signature,
                      const std::string& fetches, const std::string& precision,
                      const std::vector<std::string>& nodes) {
  ModelArgs model;
  model.path = path;
  model.signature = signature;
  model.fetch = fetches;
  model.precision = precision;
  absl::StatusOr<std::vector<NodeExplanation>> explained;
  {
    nb::gil_scoped_release release;
    explained = ExplainModel(model, nodes);
  }
  nb::list list;
  for (const NodeExplanation& node : Value(std::move(explained))) {
    nb::list rules;
    for (const RuleVerdict& verdict : node.rules) {
      rules.append(nb::make_tuple(verdict.rule, verdict.fired, verdict.reason));
    }
    list.append(nb::make_tuple(node.node, node.op, node.now, node.now_op, node.accelerated, rules));
  }
  return list;
}

}  // namespace

nb::dict Profile(tenon_session* session, absl::Span<const tenon_tensor* const> inputs, int runs) {
  std::vector<Tensor> in;
  for (const tenon_tensor* tensor : inputs) {
    in.push_back(tensor == nullptr ? Tensor() : tensor->tensor);
  }
  absl::StatusOr<Measured> result;
  {
    nb::gil_scoped_release release;
    result = Measure(*session->session, in, runs);
  }
  in.clear();
  const Measured measured = Value(std::move(result));
  nb::list steps;
  for (size_t i = 0; i < measured.steps.size(); ++i) {
    const StepInfo& step = measured.steps[i];
    const bool reference = absl::StartsWith(step.implementation, "ref");
    steps.append(nb::make_tuple(step.node, step.op, step.implementation,
                                step.accelerated && !reference, step.dynamic, step.flops,
                                measured.ns[i]));
  }
  nb::dict dict;
  dict["steps"] = steps;
  dict["wall_ns"] = measured.wall_ns;
  return dict;
}

nb::dict Memory(const tenon_session* session) {
  const SessionBytes bytes = session->session->bytes();
  nb::dict dict;
  dict["weights"] = bytes.weights;
  dict["packed"] = bytes.packed;
  dict["plans"] = bytes.plans;
  dict["primitives"] = bytes.primitives;
  dict["total"] = bytes.total();
  return dict;
}

nb::dict Report(const tenon_session* session) {
  const SessionReport& report = session->session->report();
  nb::dict dict;
  dict["enabled"] = report.rewrite.enabled;
  dict["ms"] = report.rewrite.ms;
  dict["note"] = report.note;
  dict["error"] = std::string(report.status.message());
  dict["threads"] = session->session->threads();
  dict["ops_before"] = Counts(report.rewrite.ops_before);
  dict["ops_after"] = Counts(report.rewrite.ops_after);
  absl::btree_map<std::string, int> fired;
  for (const PhaseReport& phase : report.rewrite.phases) {
    for (const auto& [rule, count] : phase.fired) fired[rule] += count;
  }
  dict["rules"] = Counts(fired);
  return dict;
}

void AddReports(nb::module_& module) {
  module.def("explain", ExplainNodes, nb::arg("path"), nb::arg("signature"), nb::arg("fetches"),
             nb::arg("precision"), nb::arg("nodes"));
}

}  // namespace tenon::python

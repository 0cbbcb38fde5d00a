#include "graph_rewrite/pipeline.h"

#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "env/containers.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph/functions.h"
#include "graph/verify.h"
#include "graph_rewrite/call_shapes.h"
#include "graph_rewrite/constant_arguments.h"
#include "graph_rewrite/loop_invariants.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kMaxSweeps = 30;
constexpr int kMaxFunctionDepth = 32;

using RuleSet = HashSet<std::string>;
using Clock = std::chrono::steady_clock;

double MsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

absl::StatusOr<RuleSet> DisabledRules(const Flags& flags) {
  RuleSet disabled;
  for (absl::string_view word : absl::StrSplit(flags.disabled_rules, ',')) {
    word = absl::StripAsciiWhitespace(word);
    if (word.empty()) continue;
    if (FindRule(word) == nullptr) {
      return InvalidArgument("TENON_DISABLE_RULES: no rule is named '", word,
                             "'; `tenon rules` lists them");
    }
    disabled.insert(std::string(word));
  }
  return disabled;
}

// Nodes by op, so that a rule looks only where it can start. Ids are checked on use.
class OpIndex {
 public:
  explicit OpIndex(const Graph& graph) {
    for (NodeId id : graph.NodeIds()) Add(id, graph.node(id).op);
  }
  void Add(NodeId id, const std::string& op) { by_op_[op].push_back(id); }
  bool Has(absl::string_view op) const { return by_op_.contains(op); }
  std::vector<NodeId> NodesOf(const Graph& graph, absl::Span<const std::string> ops) const {
    std::vector<NodeId> out;
    if (ops.size() == 1 && ops[0] == "*") return graph.NodeIds();
    for (const std::string& op : ops) {
      auto it = by_op_.find(op);
      if (it != by_op_.end()) out.insert(out.end(), it->second.begin(), it->second.end());
    }
    return out;
  }

 private:
  HashMap<std::string, std::vector<NodeId>> by_op_;
};

// Folding creates new work for the clean rules: a permutation that became constant, common
// constants.
bool RunsIn(const Rule& rule, Phase phase) {
  return rule.phase == phase || (rule.phase == Phase::kClean && phase == Phase::kFold);
}

bool IsAskedFor(Phase phase, const RewriteOptions& options) {
  if (phase == Phase::kPrecision && options.precision == Precision::kFloat) return false;
  return phase >= options.first && phase <= options.last;
}

// What a graph that is a function knows of where it is called.
struct Caller {
  LoopInvariants invariants = {};
  const FunctionLibrary* library = nullptr;  // has the function
};

// Runs a phase. All phases go through this function.
absl::Status RunPhase(Phase phase, const RuleSet& disabled, const RewriteOptions& options,
                      Caller caller, Graph& graph, PhaseReport& report) {
  const auto start = Clock::now();
  Rewriter rewriter(graph);
  rewriter.RecordDiffs(options.record_steps);
  rewriter.RecordEdits(options.record_edits);
  RuleContext context(rewriter, *options.services, std::move(caller.invariants), caller.library);

  for (int sweep = 0;; ++sweep) {
    if (sweep == kMaxSweeps) {
      report.hit_bound = true;
      break;
    }
    bool changed = false;
    context.shapes.Refresh();
    OpIndex index(graph);
    rewriter.TakeTouched();
    for (const Rule& rule : AllRules()) {
      if (!RunsIn(rule, phase) || disabled.contains(rule.name)) continue;
      if ((!rule.repeat && sweep > 0) || (rule.last && (changed || options.skip_last_rules))) {
        continue;
      }
      if (rule.sweep != nullptr) {
        const int before = context.fired[rule.name];
        TENON_RETURN_IF_ERROR(rule.sweep(context));
        changed = changed || context.fired[rule.name] != before;
        if (context.fired[rule.name] != before) index = OpIndex(graph);
        continue;
      }
      if (!CanMatch(rule, [&](absl::string_view op) { return index.Has(op); })) continue;
      const std::vector<std::string> ops = AnchorOps(rule);
      for (NodeId id : index.NodesOf(graph, ops)) {
        // It was removed, or turned into another op by an earlier match.
        if (!graph.Has(id)) continue;
        if (ops[0] != "*" && std::find(ops.begin(), ops.end(), graph.node(id).op) == ops.end()) {
          continue;
        }
        const NodeId fresh = graph.end_id();
        rewriter.BeginStep(rule.name, graph.node(id).name);
        const Outcome outcome = TryRule(rule, context, id);
        rewriter.EndStep();
        if (!outcome.fired) continue;
        changed = true;
        ++context.fired[rule.name];
        for (NodeId n = fresh; n < graph.end_id(); ++n) {
          if (graph.Has(n)) index.Add(n, graph.node(n).op);
        }
      }
    }
    report.sweeps = sweep + 1;
    if (!changed) break;
  }
  report.phase = phase;
  for (const auto& [rule, count] : context.fired) {
    if (count > 0) report.fired[rule] += count;
  }
  for (RewriteStep& s : rewriter.TakeSteps()) report.steps.push_back(std::move(s));
  report.nodes_after = static_cast<int>(graph.num_nodes());
  report.ms += MsSince(start);
  if (options.verify) {
    if (absl::Status s = VerifyWithOps(graph); !s.ok()) {
      return Annotate(s, absl::StrCat("after phase ", Name(phase)));
    }
  }
  return absl::OkStatus();
}

// Lets the Placeholders of a function state the shapes of its arguments.
void StateShapes(absl::Span<const Shape> shapes, Graph& function) {
  Rewriter rewriter(function);
  const std::vector<GraphInput>& inputs = function.inputs();
  for (size_t i = 0; i < inputs.size() && i < shapes.size(); ++i) {
    const Node& n = function.node(inputs[i].node);
    const Shape* stated = n.attr<Shape>("shape");
    if (stated == nullptr) continue;
    const auto merged = MergeShapes(*stated, shapes[i]);
    if (merged.ok() && *merged != *stated) rewriter.SetAttr(n.id, "shape", *merged);
  }
}

absl::Status RunPhaseOnAll(Phase phase, const RuleSet& disabled, const RewriteOptions& options,
                           Caller caller, Graph& graph, PhaseReport& report, int depth) {
  if (depth > kMaxFunctionDepth) return InvalidArgument("functions are nested too deeply");
  TENON_RETURN_IF_ERROR(RunPhase(phase, disabled, options, std::move(caller), graph, report));
  if (!report.fired.empty()) DropUnusedFunctions(graph);
  if (graph.functions().empty()) return absl::OkStatus();
  const ArgumentShapes arguments = InferArguments(graph);
  const HashSet<std::string> loops = LoopBodies(graph);
  for (const auto& [name, body] : graph.functions()) {
    auto rewritten = std::make_shared<Graph>(*body);
    if (const auto shapes = arguments.find(name); shapes != arguments.end()) {
      StateShapes(shapes->second, *rewritten);
    }
    PhaseReport inner;
    Caller called;
    if (loops.contains(name)) called.invariants = LoopInvariants(*rewritten);
    called.library = &graph.functions();
    if (absl::Status s = RunPhaseOnAll(phase, disabled, options, std::move(called), *rewritten,
                                       inner, depth + 1);
        !s.ok()) {
      return Annotate(s, absl::StrCat("function '", name, "'"));
    }
    for (const auto& [rule, count] : inner.fired) report.fired[rule] += count;
    for (RewriteStep& step : inner.steps) {
      step.function = step.function.empty() ? name : absl::StrCat(name, "/", step.function);
      report.steps.push_back(std::move(step));
    }
    report.ms += inner.ms;
    graph.SetFunction(name, std::move(rewritten));
  }
  return absl::OkStatus();
}

}  // namespace

int RewriteReport::Fired(absl::string_view rule) const {
  int count = 0;
  for (const PhaseReport& p : phases) {
    auto it = p.fired.find(rule);
    if (it != p.fired.end()) count += it->second;
  }
  return count;
}

OrderedMap<std::string, int> CountOps(const Graph& graph) {
  OrderedMap<std::string, int> counts;
  for (NodeId id : graph.NodeIds()) ++counts[graph.node(id).op];
  return counts;
}

absl::Status VerifyWithOps(const Graph& graph) {
  return VerifyGraph(graph, [](const Graph&, const Node& n) -> absl::StatusOr<int> {
    const OpLookup op = FindOp(n.op);
    if (!op) return -1;
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> inputs, InputDTypes(*op.info, n));
    if (inputs.size() != n.inputs.size()) {
      return InvalidArgument(n.op, " takes ", inputs.size(), " inputs, but has ", n.inputs.size());
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> outputs, OutputDTypes(*op.info, n));
    return static_cast<int>(outputs.size());
  });
}

absl::StatusOr<Precision> ResolvePrecision(std::optional<Precision> asked, const Flags& flags) {
  if (asked.has_value()) return *asked;
  const std::string mode = absl::AsciiStrToUpper(flags.fpmath_mode);
  if (mode.empty() || mode == "STRICT") return Precision::kFloat;
  if (mode == "BF16") return Precision::kBfloat16;
  return InvalidArgument("TF_SET_ONEDNN_FPMATH_MODE='", flags.fpmath_mode,
                         "' is not BF16, STRICT or empty");
}

absl::StatusOr<RewriteReport> Rewrite(Graph& graph, const RewriteOptions& asked) {
  RewriteReport report;
  RewriteOptions options = asked;
  const Flags& flags = *options.services->flags;
  TENON_ASSIGN_OR_RETURN(options.precision, ResolvePrecision(asked.precision, flags));
  TENON_ASSIGN_OR_RETURN(const RuleSet disabled, DisabledRules(flags));
  report.ops_before = CountOps(graph);
  if (options.dump) options.dump("loaded", graph);
  report.enabled = flags.onednn_opts;
  if (report.enabled) {
    const auto start = Clock::now();
    BindConstantArguments(graph);
    for (Phase phase : kPhases) {
      if (!IsAskedFor(phase, options)) continue;
      report.phases.emplace_back();
      TENON_RETURN_IF_ERROR(
          RunPhaseOnAll(phase, disabled, options, {}, graph, report.phases.back(), 0));
      if (options.dump) options.dump(Name(phase), graph);
    }
    report.ms = MsSince(start);
  }
  report.ops_after = CountOps(graph);
  return report;
}

}  // namespace tenon

#include "graph_rewrite/near_miss.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/containers.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/free_work.h"

namespace tenon {
namespace {

constexpr size_t kMostReaders = 4;      // a tensor with more is meant to be shared
constexpr int kMostExperiments = 1000;  // per phase

// A copy of the graph with one change, in which the rule can be tried.
class Experiment {
 public:
  Experiment(const Graph& graph, const RewriteOptions& options)
      : graph_(graph), rewriter_(graph_), context_(rewriter_, *options.services) {}

  // Lets only `keep` read the node.
  void CutReaders(NodeId node, NodeId keep) {
    const std::vector<Use> uses(rewriter_.uses(node).begin(), rewriter_.uses(node).end());
    for (const Use& u : uses) {
      if (!u.is_control() && u.reader != keep) {
        rewriter_.SetInput(u.reader, u.slot, StubFor({node, u.port}));
      }
    }
  }
  void Unfetch(NodeId node) {
    const std::vector<GraphOutput> outputs = graph_.outputs();
    for (const GraphOutput& o : outputs) {
      if (o.source.node == node) rewriter_.ReplaceOutputs(o.source, StubFor(o.source));
    }
  }
  void CutControlInputs(NodeId node) { rewriter_.SetControlInputs(node, {}); }
  void CutControlUses(NodeId node) {  // of targets, too
    Node none;
    none.name = "stub";
    none.op = "NoOp";
    rewriter_.ReplaceControlUses(node, rewriter_.AddNode(std::move(none)));
  }
  void AllowAnyDType() { context_.any_dtype = true; }

  // The nodes that the rule replaced; empty if it did not fire.
  std::vector<NodeId> Try(const Rule& rule, NodeId at) {
    rewriter_.RecordEdits(true);
    rewriter_.BeginStep(rule.name, graph_.node(at).name);
    const bool fired = TryRule(rule, context_, at).fired;
    rewriter_.EndStep();
    std::vector<NodeId> replaced;
    if (!fired || rewriter_.steps().empty()) return replaced;
    const GraphEdit& edit = rewriter_.steps().back().edit;
    for (const GraphEdit::Removed& r : edit.removed) {
      if (!stubs_.contains(r.id)) replaced.push_back(r.id);
    }
    return replaced;
  }

 private:
  Endpoint StubFor(Endpoint e) {
    Node stub;
    stub.name = "stub";
    stub.op = "Placeholder";
    stub.attrs["dtype"] = context_.shapes.dtype(e);
    stub.attrs["shape"] = context_.shapes.shape(e);
    const NodeId id = rewriter_.AddNode(std::move(stub));
    stubs_.insert(id);
    return {id, 0};
  }

  Graph graph_;
  Rewriter rewriter_;
  RuleContext context_;
  HashSet<NodeId> stubs_;
};

std::vector<NodeId> ReadersOf(const Rewriter& rw, NodeId node) {
  std::vector<NodeId> readers;
  for (const Use& u : rw.uses(node)) {
    if (u.is_control()) continue;
    if (std::find(readers.begin(), readers.end(), u.reader) == readers.end()) {
      readers.push_back(u.reader);
    }
  }
  return readers;
}

class Search {
 public:
  Search(Phase phase, const Graph& graph, const RewriteOptions& options)
      : phase_(phase),
        graph_(graph),
        copy_(graph),
        rewriter_(copy_),
        shapes_(rewriter_, *options.services),
        free_(graph),
        options_(options) {}

  void Visit(const Try& attempt, const Block& block) {
    const Node& n = graph_.node(block.node);
    if (!IsFloating(shapes_.dtype({block.node, 0}))) return;  // shape arithmetic, mostly
    if (!tested_.emplace(attempt.rule, attempt.at, block.kind, block.node).second) return;
    if (block.kind == ReasonKind::kReader) return VisitReaders(attempt, n);
    Experiment e(graph_, options_);
    std::string found;
    switch (block.kind) {
      case ReasonKind::kOutput:
        if (n.op == "Placeholder") return;
        e.Unfetch(n.id);
        found = "is an output of the graph";
        break;
      case ReasonKind::kTarget:
        e.CutControlUses(n.id);
        found = "is a target of the graph";
        break;
      case ReasonKind::kControlIn:
        e.CutControlInputs(n.id);
        found = absl::StrCat("must run after '", graph_.node(n.control_inputs[0]).name, "'");
        break;
      case ReasonKind::kControlOut:
        e.CutControlUses(n.id);
        found = "must run before another node";
        break;
      case ReasonKind::kDType:
        e.AllowAnyDType();
        found = absl::StrCat("computes in ", Name(shapes_.dtype({n.id, 0})));
        break;
      default:
        return;
    }
    Keep(attempt, MakeReason(block.kind, n.name, n.op, found), e.Try(*attempt.rule, attempt.at));
  }

  std::vector<NearMiss> Take() { return std::move(out_); }

 private:
  void VisitReaders(const Try& attempt, const Node& n) {
    const std::vector<NodeId> readers = ReadersOf(rewriter_, n.id);
    if (readers.size() < 2 || readers.size() > kMostReaders) return;
    for (NodeId keep : readers) {
      Experiment e(graph_, options_);
      e.CutReaders(n.id, keep);
      const std::vector<NodeId> replaced = e.Try(*attempt.rule, attempt.at);
      if (replaced.empty()) continue;
      std::vector<std::string> others;
      for (NodeId r : readers) {
        if (r != keep) others.push_back(absl::StrCat("'", graph_.node(r).name, "'"));
      }
      const char* const noun = others.size() == 1 ? "has another reader, " : "has other readers, ";
      return Keep(attempt,
                  MakeReason(ReasonKind::kReader, n.name, n.op,
                             absl::StrCat(noun, absl::StrJoin(others, ", "))),
                  replaced);
    }
  }

  void Keep(const Try& attempt, Reason reason, std::vector<NodeId> nodes) {
    // A rule that removes only what costs nothing is not missed.
    std::erase_if(nodes, [this](NodeId id) { return free_.IsFree(id); });
    if (nodes.empty()) return;
    for (NearMiss& miss : out_) {  // another anchor of the same rewrite
      if (miss.rule != attempt.rule->name || miss.reason.kind != reason.kind ||
          miss.reason.node != reason.node) {
        continue;
      }
      if (nodes.size() > miss.nodes.size()) miss.nodes = std::move(nodes);
      return;
    }
    out_.push_back({std::move(reason),
                    phase_,
                    attempt.rule->name,
                    "",
                    graph_.node(attempt.at).name,
                    attempt.at,
                    std::move(nodes),
                    {}});
  }

  const Phase phase_;
  const Graph& graph_;
  Graph copy_;
  Rewriter rewriter_;
  ShapeInfo shapes_;
  const FreeWork free_;
  const RewriteOptions& options_;
  std::set<std::tuple<const Rule*, NodeId, ReasonKind, NodeId>> tested_;
  std::vector<NearMiss> out_;
};

using Place = std::tuple<Phase, std::string, std::string>;  // phase, rule, node
struct Fired {
  Place place;
  const RewriteStep* step = nullptr;
};

// Where rules fired, in order.
std::vector<Fired> FiredIn(const RewriteReport& report) {
  std::vector<Fired> out;
  for (const PhaseReport& phase : report.phases) {
    for (const RewriteStep& step : phase.steps) {
      const Rule* rule = FindRule(step.rule);
      if (rule == nullptr || rule->sweep != nullptr || rule->last || !step.function.empty()) {
        continue;
      }
      out.push_back({{phase.phase, step.rule, step.node}, &step});
    }
  }
  return out;
}

// What fired in `changed` more often than in `report`.
absl::StatusOr<std::vector<NearMiss>> Compare(const Graph& loaded, const RewriteReport& report,
                                              const RewriteOptions& options, ReasonKind kind,
                                              absl::string_view found) {
  RewriteOptions again = options;
  again.record_edits = true;
  again.dump = nullptr;
  Graph graph = loaded;
  TENON_ASSIGN_OR_RETURN(const RewriteReport changed, Rewrite(graph, again));
  std::set<Place> known;
  for (const Fired& fired : FiredIn(report)) known.insert(fired.place);
  std::vector<NearMiss> out;
  for (const Fired& fired : FiredIn(changed)) {
    const auto& [phase, rule, node] = fired.place;
    // Clean and rename follow from the rest.
    if (phase == Phase::kClean || phase == Phase::kRename || known.contains(fired.place)) continue;
    if (changed.Fired(rule) <= report.Fired(rule)) continue;
    NearMiss miss{MakeReason(kind, "", "", found), phase, rule, "", node, kNoNode, {}, {}};
    for (const GraphEdit::Removed& r : fired.step->edit.removed) miss.names.push_back(r.name);
    out.push_back(std::move(miss));
  }
  return out;
}

}  // namespace

std::vector<NearMiss> FindNearMisses(Phase phase, const Graph& graph, const std::vector<Try>& tries,
                                     const RewriteOptions& options,
                                     const std::function<void(double)>& progress) {
  std::vector<std::pair<const Try*, Block>> todo;
  for (const Try& attempt : tries) {
    for (const Block& block : attempt.blocks) todo.emplace_back(&attempt, block);
  }
  if (todo.size() > kMostExperiments) todo.resize(kMostExperiments);
  Search search(phase, graph, options);
  for (size_t i = 0; i < todo.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(todo.size()));
    search.Visit(*todo[i].first, todo[i].second);
  }
  return search.Take();
}

absl::StatusOr<std::vector<NearMiss>> FindShapeMisses(
    const Graph& loaded, const RewriteReport& report, const RewriteOptions& options,
    const OrderedMap<std::string, Shape>& input_shapes) {
  Graph fixed = loaded;
  Rewriter rewriter(fixed);
  std::vector<std::string> changed;
  for (const auto& [name, shape] : input_shapes) {
    const Node* n = fixed.FindNode(name);
    if (n == nullptr || n->op != "Placeholder") continue;
    const Shape* stated = n->attr<Shape>("shape");
    if (stated != nullptr && *stated == shape) continue;
    changed.push_back(absl::StrCat("'", name, "' is ", shape.ToString()));
    rewriter.SetAttr(n->id, "shape", shape);
  }
  if (changed.empty()) return std::vector<NearMiss>();
  return Compare(fixed, report, options, ReasonKind::kShape,
                 absl::StrCat("fires if ", absl::StrJoin(changed, ", ")));
}

absl::StatusOr<std::vector<NearMiss>> FindDisabledMisses(const Graph& loaded,
                                                         const RewriteReport& report,
                                                         const RewriteOptions& options) {
  const Flags& given = *options.services->flags;
  if (given.disabled_rules.empty()) return std::vector<NearMiss>();
  Flags flags = given;
  flags.disabled_rules.clear();
  Services services = *options.services;
  services.flags = &flags;
  RewriteOptions enabled = options;
  enabled.services = &services;
  TENON_ASSIGN_OR_RETURN(std::vector<NearMiss> misses,
                         Compare(loaded, report, enabled, ReasonKind::kDisabled, ""));
  std::erase_if(
      misses, [&](const NearMiss& m) { return !absl::StrContains(given.disabled_rules, m.rule); });
  for (NearMiss& m : misses) m.reason.found = absl::StrCat("TENON_DISABLE_RULES names ", m.rule);
  return misses;
}

}  // namespace tenon

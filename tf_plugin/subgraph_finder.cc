#include "tf_plugin/subgraph_finder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "graph/object.h"
#include "ops/op.h"
#include "ops/rename.h"
#include "tf_plugin/names.h"

namespace tenon::plugin {
namespace {

// Constants up to these sizes are copied into the part; larger ones are inputs, so that their
// values are not stored twice.
constexpr size_t kSmallNumbers = 1024, kSmallIndices = 65536;

size_t At(NodeId id) { return static_cast<size_t>(id); }

// A constant that may be copied: it waits for nobody. Those that TensorFlow has folded wait for
// what they were computed from; they are nodes like others if they are small.
bool IsFreeConst(const Node& n) { return n.op == "Const" && n.control_inputs.empty(); }

bool IsSmall(const Tensor& value) {
  return value.bytes() <= (IsFloating(value.dtype()) ? kSmallNumbers : kSmallIndices);
}

// Whether the op may have to wait for another one without an edge from there, or for the caller: a
// feed of a session comes later in a partial run.
bool MayWait(absl::string_view op) {
  // op names: by spelling, for most have no rows. None of these waits.
  static constexpr absl::string_view kReady[] = {
      "VarHandleOp", "Variable",           "ReadVariableOp", "Resource", "Assign",
      "LookupTable", "HashTable",          "Random",         "NoOp",     "_Arg",
      "Identity",    "VarIsInitializedOp", "_Retval"};
  if (absl::StartsWith(op, "Placeholder")) return true;
  const OpLookup row = FindOp(op);
  if (row && !row.info->row.stateful && row.info->row.name == op) return false;
  return !IsControlFlow(op) &&
         std::none_of(std::begin(kReady), std::end(kReady),
                      [&](absl::string_view ready) { return absl::StartsWith(op, ready); });
}

// The dtypes of a node's tensors, inputs first.
std::vector<DType> DTypesOf(const Node& movable) {
  const OpInfo& row = *FindOp(movable.op).info;
  std::vector<DType> all = *InputDTypes(row, movable);
  const std::vector<DType> outputs = *OutputDTypes(row, movable);
  all.insert(all.end(), outputs.begin(), outputs.end());
  return all;
}

}  // namespace

SubgraphFinder::SubgraphFinder(const ProcessGraph& process, const Graph& graph,
                               std::vector<NodeId> order)
    : process_(process),
      graph_(graph),
      order_(std::move(order)),
      control_(process, graph_, order_),
      variables_(process, graph_, order_, [&](const Node& n) { return Runs(n); }) {
  for (const NodeId id : order_) {
    const Node& n = graph_.node(id);
    if (GivesValue(process_.OpOf(id)) && !n.inputs.empty() && !control_.IsConditional(id)) {
      read_anyway_.insert(variables_.Source(n.inputs[0]));
    }
  }
  for (std::vector<NodeId>& nodes : control_.Regions()) {
    const bool runs = RunsInPart(nodes);
    regions_.push_back({std::move(nodes), runs});
  }
}

bool SubgraphFinder::Runs(const Node& n) const {
  const Node* const movable = process_.Movable(n.id);
  // `_Opaque` and what rewriting made are internal; a Placeholder is an input.
  if (movable == nullptr || movable->op == "Placeholder") return false;
  const OpInfo& row = *FindOp(movable->op).info;
  if (row.row.internal || row.row.stateful) return false;
  const Tensor* const value = n.op == "Const" ? n.attr<Tensor>("value") : nullptr;
  if (n.op == "Const" && (IsFreeConst(n) || value == nullptr || !IsSmall(*value))) return false;
  const std::vector<DType> dtypes = DTypesOf(*movable);
  return std::all_of(dtypes.begin(), dtypes.end(), [](DType dtype) {
    return IsValid(dtype) && dtype != DType::kString && dtype != DType::kResource;
  });
}

bool SubgraphFinder::MayReadAhead(const Node& read, const Endpoint& handle) const {
  // A loop may wait for another thread to change a flag or a count.
  if (!IsFloating(variables_.ValueOf(handle))) return false;
  const int64_t* const batch_dims = read.attr<int64_t>("batch_dims");
  if (batch_dims != nullptr && *batch_dims != 0) return false;
  // The variables of a function have values; those of a session's graph may not have one yet, and
  // the branch may not be taken.
  const Endpoint variable = variables_.Source(handle);
  return process_.OpOf(variable.node) != "VarHandleOp" || read_anyway_.contains(variable);
}

bool SubgraphFinder::RunsInRegion(const Node& n) const {
  const Node* const movable = process_.Movable(n.id);
  if (movable == nullptr || movable->op == "ControlTrigger") return false;
  if (GivesValue(movable->op)) return MayReadAhead(*movable, n.inputs[0]);
  const OpInfo& row = *FindOp(movable->op).info;
  const bool flows = IsControlFlow(movable->op) || movable->op == "Identity";
  if (row.row.internal || (row.row.stateful && !flows)) return false;
  const std::vector<DType> dtypes = DTypesOf(*movable);
  return std::all_of(dtypes.begin(), dtypes.end(), [&](DType dtype) {
    if (dtype == DType::kResource) return flows && IsValid(variables_.ValueOf(n.inputs[0]));
    return IsValid(dtype) && dtype != DType::kString;
  });
}

bool SubgraphFinder::RunsInPart(const std::vector<NodeId>& region) const {
  const HashSet<NodeId> nodes(region.begin(), region.end());
  return std::all_of(region.begin(), region.end(),
                     [&](NodeId id) { return RunsInRegion(graph_.node(id)); }) &&
         std::none_of(
             graph_.outputs().begin(), graph_.outputs().end(), [&](const GraphOutput& output) {
               return nodes.contains(output.source.node) && control_.IsConditional(output.source);
             });
}

bool SubgraphFinder::MakeUnits() {
  std::vector<Unit> made;
  std::vector<int> made_of(At(graph_.end_id()), -1);
  for (const Region& region : regions_) {
    for (const NodeId id : region.nodes) made_of[At(id)] = static_cast<int>(made.size());
    made.push_back({.nodes = region.nodes, .is_region = true, .runs_in_part = region.runs_in_part});
  }
  for (const NodeId id : order_) {
    if (made_of[At(id)] >= 0) continue;
    made_of[At(id)] = static_cast<int>(made.size());
    const bool runs = !control_.IsConditional(id) && Runs(graph_.node(id));
    made.push_back({.nodes = {id}, .runs_in_part = runs, .after_split = split_.contains(id)});
  }
  std::vector<std::vector<int>> after(made.size());
  std::vector<int> awaited(made.size(), 0);
  for (size_t u = 0; u < made.size(); ++u) {
    std::vector<int>& before = made[u].before;
    for (const NodeId id : made[u].nodes) {
      const auto add = [&](NodeId source) {
        const bool matters =
            made_of[At(source)] != static_cast<int>(u) && !IsFreeConst(graph_.node(source));
        if (matters) before.push_back(made_of[At(source)]);
      };
      for (const Endpoint& e : graph_.node(id).inputs) add(e.node);
      for (const NodeId c : graph_.node(id).control_inputs) add(c);
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    awaited[u] = static_cast<int>(before.size());
    for (const int b : before) after[At(b)].push_back(static_cast<int>(u));
  }
  std::vector<int> order, index(made.size(), -1);
  for (size_t u = 0; u < made.size(); ++u) {
    if (awaited[u] == 0) order.push_back(static_cast<int>(u));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    index[At(order[i])] = static_cast<int>(i);
    for (const int u : after[At(order[i])]) {
      if (--awaited[At(u)] == 0) order.push_back(u);
    }
  }
  if (order.size() < made.size()) {
    size_t u = 0;
    for (const Region& region : regions_) {
      if (index[u++] < 0) split_.insert(region.nodes.begin(), region.nodes.end());
    }
    std::erase_if(regions_, [&](const Region& region) { return split_.contains(region.nodes[0]); });
    return false;
  }
  units_.clear();
  unit_of_.assign(made_of.size(), -1);
  for (const int u : order) {
    Unit& unit = units_.emplace_back(std::move(made[At(u)]));
    for (int& b : unit.before) b = index[At(b)];
  }
  for (size_t u = 0; u < units_.size(); ++u) {
    for (const NodeId id : units_[u].nodes) unit_of_[At(id)] = static_cast<int>(u);
  }
  return true;
}

void SubgraphFinder::CheckReads() {
  for (size_t u = 0; u < units_.size(); ++u) {
    if (!units_[u].is_region || !units_[u].runs_in_part) continue;
    HashSet<int> writers;
    for (const NodeId id : units_[u].nodes) {
      if (!GivesValue(process_.OpOf(id))) continue;
      for (const NodeId writer : variables_.WritersOf(graph_.node(id).inputs[0])) {
        writers.insert(unit_of_[At(writer)]);
      }
    }
    if (writers.empty()) continue;
    std::vector<bool> after(units_.size(), false);
    after[u] = true;
    for (size_t v = u + 1; v < units_.size(); ++v) {
      const std::vector<int>& before = units_[v].before;
      after[v] = std::any_of(before.begin(), before.end(), [&](int b) { return after[At(b)]; });
    }
    units_[u].runs_in_part = std::all_of(writers.begin(), writers.end(), [&](int writer) {
      return writer != static_cast<int>(u) && after[At(writer)];
    });
  }
}

void SubgraphFinder::SetLevels() {
  num_waiting_ = 0;
  for (Unit& unit : units_) {
    for (const int b : unit.before) {
      unit.after_split = unit.after_split || units_[At(b)].after_split;
    }
    unit.inside = unit.runs_in_part && !unit.after_split && !left_out_.contains(unit.nodes[0]);
    unit.level = 0;
    unit.own_wait = 0;
    const bool may_wait = std::any_of(unit.nodes.begin(), unit.nodes.end(),
                                      [&](NodeId id) { return MayWait(process_.OpOf(id)); });
    if (may_wait) unit.own_wait = uint64_t{1} << (num_waiting_++ % 64);
    unit.waits_for = unit.own_wait;
    for (const int b : unit.before) {
      const Unit& before = units_[At(b)];
      unit.waits_for |= before.waits_for;
      unit.level = std::max(unit.level, before.level + (before.inside == unit.inside ? 0 : 1));
    }
  }
}

void SubgraphFinder::RaiseLevels() {
  constexpr int kNone = std::numeric_limits<int>::max();
  // By what reads the unit: its level, and what all of them wait for anyway.
  std::vector<int> latest(units_.size(), kNone);
  std::vector<uint64_t> all_wait_for(units_.size(), ~uint64_t{0});
  for (const GraphOutput& output : graph_.outputs()) {
    all_wait_for[At(unit_of_[At(output.source.node)])] = 0;
  }
  for (size_t u = units_.size(); u-- > 0;) {
    Unit& unit = units_[u];
    if (unit.inside && latest[u] != kNone) {
      unit.level = latest[u];
      unit.waits_for |= all_wait_for[u];
    }
    for (const int b : unit.before) {
      const int crossed = units_[At(b)].inside == unit.inside ? 0 : 1;
      latest[At(b)] = std::min(latest[At(b)], unit.level - crossed);
      all_wait_for[At(b)] &= unit.waits_for & ~unit.own_wait;
    }
  }
}

int SubgraphFinder::PartOf(int unit) {
  while (units_[At(unit)].part != unit) {
    int& part = units_[At(unit)].part;
    unit = part = units_[At(part)].part;
  }
  return unit;
}

void SubgraphFinder::JoinUnits() {
  for (size_t u = 0; u < units_.size(); ++u) units_[u].part = static_cast<int>(u);
  for (size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    for (const int b : unit.before) {
      const Unit& before = units_[At(b)];
      if (before.inside && unit.inside && before.level == unit.level &&
          before.waits_for == unit.waits_for) {
        units_[At(PartOf(static_cast<int>(u)))].part = PartOf(b);
      }
    }
  }
}

bool SubgraphFinder::LeaveOutObjects() {
  const size_t before = left_out_.size();
  const auto unit_of = [&](NodeId id) -> const Unit& { return units_[At(unit_of_[At(id)])]; };
  const auto leave_out = [&](NodeId id) {
    if (unit_of(id).inside) left_out_.insert(unit_of(id).nodes[0]);
  };
  for (const NodeId id : order_) {
    const Node& n = graph_.node(id);
    for (size_t slot = 0; slot < n.inputs.size(); ++slot) {
      const Endpoint& e = n.inputs[slot];
      const bool given = unit_of(e.node).inside;
      if ((!given && !unit_of(id).inside) || SameParts(e.node, id)) continue;
      const DType dtype = given ? OutputDType(e) : InputDType(id, slot);
      // The part reads a variable, and gets its value.
      if (!HoldsObjects(dtype) || (!given && dtype == DType::kResource)) continue;
      leave_out(id);
      leave_out(e.node);
    }
  }
  for (const GraphOutput& output : graph_.outputs()) {
    const NodeId id = output.source.node;
    if (unit_of(id).inside && HoldsObjects(OutputDType(output.source))) leave_out(id);
  }
  return left_out_.size() > before;
}

int SubgraphFinder::CountAccelerated(const std::vector<NodeId>& nodes) const {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
    const Node& n = *process_.Movable(id);
    const OpInfo& row = *FindOp(n.op).info;
    return InGraphs(row) && NativeName(row, n) != nullptr;
  }));
}

DType SubgraphFinder::OutputDType(const Endpoint& e) const {
  const Node& n = *process_.Movable(e.node);
  return (*OutputDTypes(*FindOp(n.op).info, n))[static_cast<size_t>(e.port)];
}

DType SubgraphFinder::InputDType(NodeId id, size_t slot) const {
  const Node& n = *process_.Movable(id);
  return (*InputDTypes(*FindOp(n.op).info, n))[slot];
}

HashMap<NodeId, DType> SubgraphFinder::ValuesIn(const Subgraph& part) const {
  HashMap<NodeId, DType> values;
  for (const NodeId id : part.nodes) {
    const Node& n = graph_.node(id);
    if (n.inputs.empty() || InputDType(id, 0) != DType::kResource) continue;
    values[id] = variables_.ValueOf(n.inputs[0]);
  }
  return values;
}

void SubgraphFinder::FindBorder(Subgraph& part) const {
  const HashSet<NodeId> nodes(part.nodes.begin(), part.nodes.end());
  HashSet<Endpoint> read;
  HashSet<NodeId> awaited;
  for (const NodeId id : part.nodes) {
    const Node& n = graph_.node(id);
    for (size_t slot = 0; slot < n.inputs.size(); ++slot) {
      const Endpoint& e = n.inputs[slot];
      if (nodes.contains(e.node) || !read.insert(e).second) continue;
      const Node& source = graph_.node(e.node);
      const Tensor* const value = IsFreeConst(source) ? source.attr<Tensor>("value") : nullptr;
      if (value != nullptr && IsSmall(*value)) continue;
      Subgraph::Input input{.source = e, .dtype = InputDType(id, slot)};
      input.is_handle = input.dtype == DType::kResource;
      if (input.is_handle) input.dtype = variables_.ValueOf(e);
      input.is_stable =
          source.op == "Const" ||
          (input.is_handle ? variables_.WritersOf(e).empty() : variables_.ReadsConstant(e.node));
      part.inputs.push_back(input);
    }
    for (const NodeId c : n.control_inputs) {
      const bool matters = !nodes.contains(c) && !IsFreeConst(graph_.node(c));
      if (matters && awaited.insert(c).second) part.waits_for.push_back(c);
    }
  }
  HashSet<Endpoint> given;
  const auto give = [&](const Endpoint& e) {
    if (nodes.contains(e.node) && given.insert(e).second) part.outputs.push_back(e);
  };
  for (const NodeId id : order_) {
    if (nodes.contains(id)) continue;
    for (const Endpoint& e : graph_.node(id).inputs) give(e);
  }
  for (const GraphOutput& output : graph_.outputs()) give(output.source);
}

std::vector<Subgraph> SubgraphFinder::Find(int least_accelerated) {
  while (!MakeUnits()) continue;
  CheckReads();
  do {
    SetLevels();
    if (num_waiting_ > 64) return {};
    RaiseLevels();
    JoinUnits();
  } while (LeaveOutObjects());
  OrderedMap<int, std::vector<NodeId>> nodes;
  HashSet<int> with_control_flow;
  for (const NodeId id : order_) {
    const int unit = unit_of_[At(id)];
    if (!units_[At(unit)].inside) continue;
    nodes[PartOf(unit)].push_back(id);
    if (units_[At(unit)].is_region) with_control_flow.insert(PartOf(unit));
  }
  std::vector<std::pair<int, Subgraph>> found;  // with the first of its units
  for (auto& [unit, of_part] : nodes) {
    if (CountAccelerated(of_part) < least_accelerated) continue;
    Subgraph part;
    part.nodes = std::move(of_part);
    part.has_control_flow = with_control_flow.contains(unit);
    FindBorder(part);
    if (part.inputs.empty() || part.outputs.empty()) continue;
    found.emplace_back(unit, std::move(part));
  }
  const auto order = [&](const auto& part) {
    const Unit& unit = units_[At(part.first)];
    return std::pair(unit.level, std::popcount(unit.waits_for));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return order(a) > order(b); });
  std::vector<Subgraph> parts;
  for (auto& [unit, part] : found) parts.push_back(std::move(part));
  return parts;
}

void SubgraphFinder::LeaveOutRegions(const Subgraph& part) {
  const HashSet<NodeId> nodes(part.nodes.begin(), part.nodes.end());
  for (Region& region : regions_) {
    if (nodes.contains(region.nodes[0])) region.runs_in_part = false;
  }
}

}  // namespace tenon::plugin

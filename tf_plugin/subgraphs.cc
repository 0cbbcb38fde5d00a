#include "tf_plugin/subgraphs.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph/object.h"
#include "ops/op.h"
#include "ops/rename.h"
#include "proto/export/export.h"
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

bool IsBranchOrLoop(absl::string_view op) {
  // op names: TensorFlow's control flow between nodes.
  static const auto* const kOps = new HashSet<absl::string_view>(
      {"Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge", "Enter", "RefEnter", "Exit",
       "RefExit", "NextIteration", "RefNextIteration", "LoopCond", "ControlTrigger"});
  return kOps->contains(op);
}

bool OnlyReadsVariable(absl::string_view op) {
  // op names: what TensorFlow does with a variable that leaves its value as it is.
  static const auto* const kOps =
      new HashSet<absl::string_view>({"ReadVariableOp", "ResourceGather", "ResourceGatherNd",
                                      "VariableShape", "VarIsInitializedOp"});
  return kOps->contains(op);
}

// Whether the op may have to wait for another one without an edge from there, or for the caller: a
// feed of a session comes later in a partial run.
bool MayWait(const OpLookup& row, absl::string_view op) {
  // op names: by spelling, for most have no rows. None of these waits.
  static constexpr absl::string_view kReady[] = {
      "VarHandleOp", "Variable", "ReadVariableOp", "Resource", "Assign",   "LookupTable",
      "HashTable",   "Random",   "NoOp",           "_Arg",     "Identity", "VarIsInitializedOp"};
  if (absl::StartsWith(op, "Placeholder")) return true;
  if (row && !row.info->row.stateful && row.info->row.name == op) return false;
  return !IsBranchOrLoop(op) &&
         std::none_of(std::begin(kReady), std::end(kReady),
                      [&](absl::string_view ready) { return absl::StartsWith(op, ready); });
}

class Finder {
 public:
  Finder(ProcessGraph& process, std::vector<NodeId> order)
      : process_(process), graph_(process.graph()), order_(std::move(order)) {
    const size_t n = At(graph_.end_id());
    inside_.assign(n, false);
    may_be_dead_.assign(n, false);
    level_.assign(n, 0);
    waits_for_.assign(n, 0);
    part_.resize(n);
    std::iota(part_.begin(), part_.end(), 0);
  }

  // The nodes of each part; each part before those that it depends on.
  std::vector<std::vector<NodeId>> Parts(int least_accelerated);
  // False if it reads a weight that the graph changes.
  bool MayRead(const Subgraph& part) const;
  void FindBorder(Subgraph& part) const;

 private:
  bool Runs(const Node& n) const;
  // Makes nodes inside as late as those that read them, so that more of them are together.
  void RaiseLevels();
  // The tensor that control flow has passed on to be this one.
  Endpoint VariableOf(const Endpoint& e) const;
  void NoteWrites(const Node& n);
  void ReadLevels(const Node& n);
  // `id` reads or waits for `before`.
  void JoinParts(NodeId before, NodeId id);
  NodeId PartOf(NodeId id) {
    while (part_[At(id)] != id) id = part_[At(id)] = part_[At(part_[At(id)])];
    return id;
  }

  ProcessGraph& process_;
  const Graph& graph_;
  const std::vector<NodeId> order_;
  std::vector<bool> inside_, may_be_dead_;
  // How often the longest way to a node enters or leaves the nodes inside. Between two nodes inside
  // of the same level, no way leads through a node that is not.
  std::vector<int> level_;
  // A bit for each op that may wait and that the node depends on, or is.
  std::vector<uint64_t> waits_for_;
  int num_waiting_ = 0;
  std::vector<NodeId> part_;  // of nodes inside: another node of the part, or itself
  HashMap<Endpoint, Endpoint> passed_on_;
  HashSet<Endpoint> written_;  // variables that a node may change, and other tensors
};

bool Finder::Runs(const Node& n) const {
  const OpLookup op = FindOp(n.op);
  // `_Opaque` and what rewriting made are internal; a Placeholder is an input.
  if (!op || op.info->row.internal || op.info->row.stateful || n.op == "Placeholder") return false;
  const Tensor* const value = n.op == "Const" ? n.attr<Tensor>("value") : nullptr;
  if (n.op == "Const" && (IsFreeConst(n) || value == nullptr || !IsSmall(*value))) return false;
  const auto inputs = InputDTypes(*op.info, n), outputs = OutputDTypes(*op.info, n);
  if (!inputs.ok() || !outputs.ok() || outputs->empty()) return false;
  for (const std::vector<DType>* dtypes : {&*inputs, &*outputs}) {
    for (const DType dtype : *dtypes) {
      if (!IsValid(dtype) || dtype == DType::kString || HoldsObjects(dtype)) return false;
    }
  }
  return true;
}

Endpoint Finder::VariableOf(const Endpoint& e) const {
  const auto passed = passed_on_.find(e);
  return passed == passed_on_.end() ? e : passed->second;
}

void Finder::NoteWrites(const Node& n) {
  const absl::string_view op = process_.OpOf(n.id);
  if (OnlyReadsVariable(op) || n.inputs.empty()) return;
  // Control flow passes on what it gets first; the other input of a Switch is a condition.
  const bool passes = IsBranchOrLoop(op) || op == "Identity";
  const bool one = n.inputs.size() == 1 || op == "Switch";
  if (passes && one) {
    for (const int port : {0, 1}) passed_on_[{n.id, port}] = VariableOf(n.inputs[0]);
    return;
  }
  for (const Endpoint& e : n.inputs) written_.insert(VariableOf(e));
}

void Finder::ReadLevels(const Node& n) {
  const size_t i = At(n.id);
  const auto follows = [&](NodeId before) {
    if (may_be_dead_[At(before)]) may_be_dead_[i] = true;
    waits_for_[i] |= waits_for_[At(before)];
  };
  const absl::string_view op = process_.OpOf(n.id);
  if (MayWait(FindOp(op), op)) waits_for_[i] = uint64_t{1} << (num_waiting_++ % 64);
  if (IsBranchOrLoop(op)) may_be_dead_[i] = true;
  const bool runs = Runs(n);
  if (!runs) NoteWrites(n);
  for (const Endpoint& e : n.inputs) follows(e.node);
  for (const NodeId c : n.control_inputs) follows(c);
  inside_[i] = !may_be_dead_[i] && runs;
  const auto after = [&](NodeId before) {
    if (IsFreeConst(graph_.node(before))) return;
    const int crossed = inside_[At(before)] == inside_[i] ? 0 : 1;
    level_[i] = std::max(level_[i], level_[At(before)] + crossed);
  };
  for (const Endpoint& e : n.inputs) after(e.node);
  for (const NodeId c : n.control_inputs) after(c);
}

void Finder::RaiseLevels() {
  constexpr int kNone = std::numeric_limits<int>::max();
  std::vector<int> latest(level_.size(), kNone);  // by what reads the node
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    const size_t i = At(*id);
    if (inside_[i] && latest[i] != kNone) level_[i] = latest[i];
    const auto before = [&](NodeId node) {
      const int crossed = inside_[At(node)] == inside_[i] ? 0 : 1;
      latest[At(node)] = std::min(latest[At(node)], level_[i] - crossed);
    };
    for (const Endpoint& e : graph_.node(*id).inputs) before(e.node);
    for (const NodeId c : graph_.node(*id).control_inputs) before(c);
  }
}

void Finder::JoinParts(NodeId before, NodeId id) {
  if (inside_[At(before)] && inside_[At(id)] && level_[At(before)] == level_[At(id)] &&
      waits_for_[At(before)] == waits_for_[At(id)]) {
    part_[At(PartOf(id))] = PartOf(before);
  }
}

std::vector<std::vector<NodeId>> Finder::Parts(int least_accelerated) {
  for (const NodeId id : order_) ReadLevels(graph_.node(id));
  if (num_waiting_ > 64) return {};
  RaiseLevels();
  for (const NodeId id : order_) {
    for (const Endpoint& e : graph_.node(id).inputs) JoinParts(e.node, id);
    for (const NodeId c : graph_.node(id).control_inputs) JoinParts(c, id);
  }
  OrderedMap<NodeId, std::vector<NodeId>> parts;
  for (const NodeId id : order_) {
    if (inside_[At(id)]) parts[PartOf(id)].push_back(id);
  }
  std::vector<std::vector<NodeId>> enough;
  for (auto& [first, nodes] : parts) {
    const auto accelerated = std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
      const Node& n = graph_.node(id);
      const OpLookup op = FindOp(n.op);
      return InGraphs(*op.info) && NativeName(*op.info, n) != nullptr;
    });
    if (accelerated >= least_accelerated) enough.push_back(std::move(nodes));
  }
  const auto order = [&](const std::vector<NodeId>& nodes) {
    return std::pair(level_[At(nodes[0])], std::popcount(waits_for_[At(nodes[0])]));
  };
  std::stable_sort(enough.begin(), enough.end(),
                   [&](const auto& a, const auto& b) { return order(a) > order(b); });
  return enough;
}

void Finder::FindBorder(Subgraph& part) const {
  const HashSet<NodeId> nodes(part.nodes.begin(), part.nodes.end());
  HashSet<Endpoint> read;
  HashSet<NodeId> awaited;
  for (const NodeId id : part.nodes) {
    const Node& n = graph_.node(id);
    const auto types = InputDTypes(*FindOp(n.op).info, n);
    for (size_t slot = 0; slot < n.inputs.size(); ++slot) {
      const Endpoint& e = n.inputs[slot];
      if (nodes.contains(e.node) || !read.insert(e).second) continue;
      const Node& source = graph_.node(e.node);
      const Tensor* const value = IsFreeConst(source) ? source.attr<Tensor>("value") : nullptr;
      if (value != nullptr && IsSmall(*value)) continue;
      part.inputs.push_back(e);
      part.input_types.push_back((*types)[slot]);
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

bool Finder::MayRead(const Subgraph& part) const {
  return std::none_of(part.inputs.begin(), part.inputs.end(), [&](const Endpoint& e) {
    const Node& source = graph_.node(e.node);
    return process_.OpOf(e.node) == "ReadVariableOp" && !source.inputs.empty() &&
           written_.contains(VariableOf(source.inputs[0]));
  });
}

// Copies the part's nodes into its graph.
class Copier {
 public:
  Copier(const Graph& from, Subgraph& part) : from_(from), part_(part) {}

  absl::Status AddInput(const Endpoint& e, const TensorSpec& spec) {
    Node placeholder;
    placeholder.op = "Placeholder";
    placeholder.name = SubgraphInputName(part_.graph.inputs().size());
    placeholder.attrs["dtype"] = spec.dtype;
    placeholder.attrs["shape"] = spec.shape;
    const std::string name = placeholder.name;
    TENON_ASSIGN_OR_RETURN(copies_[e].node, part_.graph.AddNode(std::move(placeholder)));
    part_.graph.AddInput({name, copies_[e].node});
    return absl::OkStatus();
  }

  absl::Status AddNode(const Node& n) {
    Node copy = n;
    copy.name = part_.graph.UniqueName(n.name);  // not that of an input
    copy.control_inputs.clear();
    copy.device.clear();
    for (Endpoint& e : copy.inputs) {
      const auto found = copies_.find(e);
      if (found == copies_.end()) {  // a small constant
        TENON_RETURN_IF_ERROR(AddNode(from_.node(e.node)));
      }
      e = copies_.at(e);
    }
    TENON_ASSIGN_OR_RETURN(const auto dtypes, OutputDTypes(*FindOp(n.op).info, n));
    TENON_ASSIGN_OR_RETURN(const NodeId id, part_.graph.AddNode(std::move(copy)));
    for (size_t port = 0; port < dtypes.size(); ++port) {
      copies_[{n.id, static_cast<int>(port)}] = {id, static_cast<int>(port)};
    }
    return absl::OkStatus();
  }

  void AddOutput(const Endpoint& e) {
    const Endpoint copy = copies_.at(e);
    part_.graph.AddOutput({EndpointName(part_.graph, copy), copy});
  }

 private:
  const Graph& from_;
  Subgraph& part_;
  HashMap<Endpoint, Endpoint> copies_;
};

}  // namespace

absl::StatusOr<std::vector<Subgraph>> FindSubgraphs(ProcessGraph& process, int least_accelerated,
                                                    const OutputsFn& outputs_of) {
  const Graph& graph = process.graph();
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order, graph.TopologicalOrder());
  Finder finder(process, std::move(order));
  std::vector<Subgraph> parts;
  for (std::vector<NodeId>& nodes : finder.Parts(least_accelerated)) {
    Subgraph part;
    part.nodes = std::move(nodes);
    finder.FindBorder(part);
    if (part.inputs.empty() || part.outputs.empty() || !finder.MayRead(part)) continue;
    Copier copier(graph, part);
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      const Endpoint& e = part.inputs[i];
      const std::vector<TensorSpec> specs = outputs_of(graph.node(e.node).name);
      TensorSpec spec;
      if (static_cast<size_t>(e.port) < specs.size()) spec = specs[static_cast<size_t>(e.port)];
      spec.dtype = part.input_types[i];
      TENON_RETURN_IF_ERROR(copier.AddInput(e, spec));
    }
    for (const NodeId id : part.nodes) TENON_RETURN_IF_ERROR(copier.AddNode(graph.node(id)));
    for (const Endpoint& e : part.outputs) copier.AddOutput(e);
    absl::StatusOr<std::string> bytes = GraphDefBytes(part.graph);
    if (!bytes.ok()) continue;
    part.graph_def = *std::move(bytes);
    parts.push_back(std::move(part));
  }
  return parts;
}

absl::Status ReplaceSubgraph(Rewriter& rewriter, const Subgraph& part) {
  const Graph& graph = rewriter.graph();
  Node whole;
  whole.op = kSubgraphOp;
  whole.name = graph.UniqueName(absl::StrCat(graph.node(part.outputs[0].node).name, "/subgraph"));
  whole.inputs.assign(part.inputs.begin(), part.inputs.end());
  whole.control_inputs.assign(part.waits_for.begin(), part.waits_for.end());
  whole.attrs["graph"] = part.graph_def;
  std::vector<DType> in, out;
  std::vector<std::string> fetches;
  for (const GraphInput& input : part.graph.inputs()) {
    in.push_back(*part.graph.node(input.node).attr<DType>("dtype"));
  }
  for (const GraphOutput& output : part.graph.outputs()) {
    const Node& n = part.graph.node(output.source.node);
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> all, OutputDTypes(*FindOp(n.op).info, n));
    out.push_back(all[static_cast<size_t>(output.source.port)]);
    fetches.push_back(output.name);
  }
  whole.attrs["Tin"] = std::move(in);
  whole.attrs["Tout"] = std::move(out);
  whole.attrs["fetches"] = std::move(fetches);

  const NodeId id = rewriter.AddNode(std::move(whole));
  for (size_t o = 0; o < part.outputs.size(); ++o) {
    rewriter.ReplaceAllUses(part.outputs[o], {id, static_cast<int>(o)});
  }
  for (auto node = part.nodes.rbegin(); node != part.nodes.rend(); ++node) {
    const bool awaited = std::any_of(rewriter.uses(*node).begin(), rewriter.uses(*node).end(),
                                     [](const Use& use) { return use.is_control(); });
    if (awaited) rewriter.ReplaceControlUses(*node, id);
    rewriter.Remove(*node);
  }
  return absl::OkStatus();
}

}  // namespace tenon::plugin

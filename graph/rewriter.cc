#include "graph/rewriter.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "graph/text.h"

namespace tenon {
namespace {

constexpr PrintOptions kDiffPrint{.max_elements = 8};

constexpr size_t kLongList = 64;  // longer lists of uses do not keep their order
constexpr int64_t kOrderGap = 1 << 16;

bool SameUse(const Use& a, const Use& b) {
  return a.reader == b.reader && a.slot == b.slot && a.port == b.port;
}

}  // namespace

Rewriter::Rewriter(Graph& graph)
    : graph_(graph),
      uses_(static_cast<size_t>(graph.end_id())),
      versions_(static_cast<size_t>(graph.end_id()), 1),
      kept_(static_cast<size_t>(graph.end_id()), 0),
      is_touched_(static_cast<size_t>(graph.end_id()), false) {
  for (NodeId id : graph.NodeIds()) {
    const Node& n = graph.node(id);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      AddUse(n.inputs[i].node, {id, static_cast<int>(i), n.inputs[i].port});
    }
    for (NodeId c : n.control_inputs) AddUse(c, {id, Use::kControl, 0});
  }
  const auto keep = [&](NodeId id) {
    if (graph.Has(id)) ++kept_[static_cast<size_t>(id)];
  };
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Endpoint source = graph.outputs()[i].source;
    outputs_[source].push_back(static_cast<int>(i));
    keep(source.node);
  }
  for (const GraphInput& input : graph.inputs()) keep(input.node);
  for (NodeId target : graph.targets()) keep(target);
}

int Rewriter::NumReaders(Endpoint e) const {
  int count = 0;
  for (const Use& u : uses(e.node)) count += !u.is_control() && u.port == e.port;
  return count;
}

void Rewriter::Order() const {
  const absl::StatusOr<std::vector<NodeId>> sorted = graph_.TopologicalOrder();
  order_.assign(static_cast<size_t>(graph_.end_id()), 0);
  if (!sorted.ok()) return;  // a cycle: all numbers are equal, and DependsOn visits every node
  int64_t next = 0;
  for (NodeId id : *sorted) order_[static_cast<size_t>(id)] = next += kOrderGap;
}

void Rewriter::CheckOrder(NodeId reader, NodeId input) {
  if (order_.empty() || !graph_.Has(input)) return;
  const size_t r = static_cast<size_t>(reader), i = static_cast<size_t>(input);
  if (order_[i] >= order_[r]) order_.clear();
}

bool Rewriter::DependsOn(NodeId node, NodeId from) const {
  if (node == from) return true;
  if (order_.empty()) Order();
  const int64_t earliest = order_[static_cast<size_t>(from)];
  HashSet<NodeId> seen = {node};
  std::vector<NodeId> todo = {node};
  while (!todo.empty()) {
    const Node& n = graph_.node(todo.back());
    todo.pop_back();
    auto visit = [&](NodeId on) {
      if (on == from) return true;
      if (order_[static_cast<size_t>(on)] < earliest) return false;
      if (seen.insert(on).second) todo.push_back(on);
      return false;
    };
    for (const Endpoint& e : n.inputs) {
      if (visit(e.node)) return true;
    }
    for (NodeId c : n.control_inputs) {
      if (visit(c)) return true;
    }
  }
  return false;
}

std::vector<NodeId> Rewriter::TakeTouched() {
  std::vector<NodeId> out;
  for (NodeId id : touched_) {
    is_touched_[static_cast<size_t>(id)] = false;
    if (graph_.Has(id)) out.push_back(id);
  }
  touched_.clear();
  std::sort(out.begin(), out.end());
  return out;
}

void Rewriter::Touch(NodeId id) {
  changed_ = true;
  if (is_touched_[static_cast<size_t>(id)]) return;
  is_touched_[static_cast<size_t>(id)] = true;
  touched_.push_back(id);
}

void Rewriter::AddUse(NodeId of, Use use) {
  if (graph_.Has(of)) uses_[static_cast<size_t>(of)].push_back(use);
  CheckOrder(use.reader, of);
}

size_t Rewriter::FindNearLast(NodeId of, const Use& use) {
  const auto& list = uses_[static_cast<size_t>(of)];
  const size_t start = dropped_of_ == of ? std::min(dropped_at_, list.size() - 1) : 0;
  size_t found = list.size();
  for (size_t d = 0; found == list.size() && d < list.size(); ++d) {
    if (start + d < list.size() && SameUse(list[start + d], use)) found = start + d;
    if (d <= start && SameUse(list[start - d], use)) found = start - d;
  }
  dropped_of_ = of;
  dropped_at_ = found;
  return found;
}

void Rewriter::DropUse(NodeId of, Use use) {
  if (!graph_.Has(of)) return;
  auto& list = uses_[static_cast<size_t>(of)];
  if (list.size() > kLongList) {
    const size_t at = FindNearLast(of, use);
    assert(at != list.size());
    if (at != list.size()) {
      list[at] = list.back();
      list.pop_back();
    }
  } else {
    auto it = std::find_if(list.begin(), list.end(), [&](const Use& u) { return SameUse(u, use); });
    assert(it != list.end());
    if (it != list.end()) list.erase(it);
  }
  if (log_ != nullptr && in_step_ && !use.is_control()) log_->Drop(of, use.reader);
  Touch(of);
}

void Rewriter::BeforeChange(NodeId id) {
  if (record_ && in_step_ &&
      std::none_of(before_.begin(), before_.end(), [&](const auto& b) { return b.first == id; })) {
    before_.emplace_back(id, PrintNode(graph_, graph_.node(id), kDiffPrint));
  }
  if (log_ != nullptr && in_step_) log_->Touch(graph_.node(id));
  Touch(id);
}

NodeId Rewriter::AddNode(Node node) {
  node.name = graph_.UniqueName(node.name);
  const NodeId id = *graph_.AddNode(std::move(node));
  uses_.resize(static_cast<size_t>(id) + 1);
  versions_.resize(static_cast<size_t>(id) + 1, 1);
  is_touched_.resize(static_cast<size_t>(id) + 1, false);
  kept_.resize(static_cast<size_t>(id) + 1, 0);
  const Node& n = graph_.node(id);
  if (!order_.empty()) {
    int64_t after = 0;
    for (const Endpoint& e : n.inputs) {
      after = std::max(after, order_[static_cast<size_t>(e.node)]);
    }
    for (NodeId c : n.control_inputs) after = std::max(after, order_[static_cast<size_t>(c)]);
    order_.push_back(after + 1);
  }
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    AddUse(n.inputs[i].node, {id, static_cast<int>(i), n.inputs[i].port});
    Touch(n.inputs[i].node);
  }
  for (NodeId c : n.control_inputs) AddUse(c, {id, Use::kControl, 0});
  if (record_ && in_step_) before_.emplace_back(id, "");
  if (log_ != nullptr && in_step_) log_->Add(id);
  Touch(id);
  return id;
}

void Rewriter::Remove(NodeId id) {
  assert(uses(id).empty());
  BeforeChange(id);
  const Node& n = graph_.node(id);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    DropUse(n.inputs[i].node, {id, static_cast<int>(i), n.inputs[i].port});
  }
  for (NodeId c : n.control_inputs) DropUse(c, {id, Use::kControl, 0});
  graph_.Erase(id);
}

void Rewriter::RemoveIfDead(NodeId id) {
  std::vector<NodeId> todo = {id};
  while (!todo.empty()) {
    const NodeId now = todo.back();
    todo.pop_back();
    if (!Has(now) || !uses(now).empty() || IsKept(now)) continue;
    const Node& n = node(now);
    for (const Endpoint& e : n.inputs) todo.push_back(e.node);
    todo.insert(todo.end(), n.control_inputs.begin(), n.control_inputs.end());
    Remove(now);
  }
}

void Rewriter::SetOp(NodeId id, absl::string_view op) {
  BeforeChange(id);
  mutable_node(id).op = std::string(op);
  ++versions_[static_cast<size_t>(id)];
}

void Rewriter::SetInput(NodeId id, int slot, Endpoint value) {
  BeforeChange(id);
  Endpoint& input = mutable_node(id).inputs[static_cast<size_t>(slot)];
  DropUse(input.node, {id, slot, input.port});
  input = value;
  AddUse(value.node, {id, slot, value.port});
  Touch(value.node);
  ++versions_[static_cast<size_t>(id)];
}

void Rewriter::SetInputs(NodeId id, absl::Span<const Endpoint> inputs) {
  BeforeChange(id);
  Node& n = mutable_node(id);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    DropUse(n.inputs[i].node, {id, static_cast<int>(i), n.inputs[i].port});
  }
  n.inputs.assign(inputs.begin(), inputs.end());
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    AddUse(n.inputs[i].node, {id, static_cast<int>(i), n.inputs[i].port});
    Touch(n.inputs[i].node);
  }
  ++versions_[static_cast<size_t>(id)];
}

void Rewriter::SetControlInputs(NodeId id, absl::Span<const NodeId> controls) {
  BeforeChange(id);
  const std::vector<NodeId> fresh(controls.begin(), controls.end());
  Node& n = mutable_node(id);
  for (NodeId c : n.control_inputs) DropUse(c, {id, Use::kControl, 0});
  n.control_inputs.assign(fresh.begin(), fresh.end());
  for (NodeId c : n.control_inputs) AddUse(c, {id, Use::kControl, 0});
}

void Rewriter::SetAttr(NodeId id, absl::string_view name, AttrValue value) {
  BeforeChange(id);
  mutable_node(id).attrs.insert_or_assign(std::string(name), std::move(value));
  ++versions_[static_cast<size_t>(id)];
}

void Rewriter::SetFunction(const std::string& name, std::shared_ptr<const Graph> body) {
  graph_.SetFunction(name, std::move(body));
}

void Rewriter::EraseAttr(NodeId id, absl::string_view name) {
  BeforeChange(id);
  auto& attrs = mutable_node(id).attrs;
  if (auto it = attrs.find(name); it != attrs.end()) attrs.erase(it);
  ++versions_[static_cast<size_t>(id)];
}

AttrValue Rewriter::TakeAttr(NodeId id, absl::string_view name) {
  BeforeChange(id);
  ++versions_[static_cast<size_t>(id)];
  auto& attrs = mutable_node(id).attrs;
  auto it = attrs.find(name);
  if (it == attrs.end()) return AttrValue();
  AttrValue value = std::move(it->second);
  attrs.erase(it);
  return value;
}

void Rewriter::Rename(NodeId id, absl::string_view name) {
  if (graph_.node(id).name == name) return;
  assert(graph_.FindNode(name) == nullptr);
  BeforeChange(id);
  Node& n = mutable_node(id);
  graph_.by_name_.erase(n.name);
  n.name = std::string(name);
  graph_.by_name_.emplace(n.name, id);
}

void Rewriter::ReplaceAllUses(Endpoint from, Endpoint to) {
  if (log_ != nullptr && in_step_) log_->BeginReplacing(from.node, to.node);
  const absl::InlinedVector<Use, 2> readers = uses_[static_cast<size_t>(from.node)];
  for (const Use& u : readers) {
    if (!u.is_control() && u.port == from.port) SetInput(u.reader, u.slot, to);
  }
  if (log_ != nullptr) log_->EndReplacing();
  ReplaceOutputs(from, to);
}

void Rewriter::ReplaceOutputs(Endpoint from, Endpoint to) {
  const auto found = outputs_.find(from);
  if (found == outputs_.end() || from == to) return;
  const absl::InlinedVector<int, 1> positions = std::move(found->second);
  outputs_.erase(found);
  for (int at : positions) graph_.outputs_[static_cast<size_t>(at)].source = to;
  auto& of_to = outputs_[to];
  of_to.insert(of_to.end(), positions.begin(), positions.end());
  kept_[static_cast<size_t>(from.node)] -= static_cast<int>(positions.size());
  kept_[static_cast<size_t>(to.node)] += static_cast<int>(positions.size());
  Touch(to.node);
}

void Rewriter::ReplaceControlUses(NodeId from, NodeId to) {
  const absl::InlinedVector<Use, 2> readers = uses_[static_cast<size_t>(from)];
  for (const Use& u : readers) {
    if (!u.is_control()) continue;
    BeforeChange(u.reader);
    auto& controls = mutable_node(u.reader).control_inputs;
    auto it = std::find(controls.begin(), controls.end(), from);
    DropUse(from, {u.reader, Use::kControl, 0});
    if (it == controls.end()) continue;
    if (std::find(controls.begin(), controls.end(), to) != controls.end() || u.reader == to) {
      controls.erase(it);
    } else {
      *it = to;
      AddUse(to, {u.reader, Use::kControl, 0});
    }
  }
  if (!IsKept(from)) return;
  for (NodeId& t : graph_.targets_) {
    if (t != from) continue;
    t = to;
    --kept_[static_cast<size_t>(from)];
    ++kept_[static_cast<size_t>(to)];
  }
}

void Rewriter::ReplaceNode(NodeId old, Endpoint by) {
  ReplaceAllUses({old, 0}, by);
  ReplaceControlUses(old, by.node);
  const std::string name = graph_.node(old).name;
  Remove(old);
  Rename(by.node, name);
}

void Rewriter::RecordEdits(bool record) { log_ = record ? std::make_unique<EditLog>() : nullptr; }

void Rewriter::BeginStep(absl::string_view rule, absl::string_view node) {
  in_step_ = true;
  changed_ = false;
  before_.clear();
  if (!record_ && log_ == nullptr) return;
  // A step begins for every try of a rule, and few change anything: no allocation here.
  step_rule_.assign(rule.data(), rule.size());
  step_node_.assign(node.data(), node.size());
  if (log_ != nullptr) log_->BeginStep();
}

bool Rewriter::EndStep() {
  in_step_ = false;
  if (!changed_ || (!record_ && log_ == nullptr)) return changed_;
  RewriteStep step;
  step.rule = step_rule_;
  step.node = step_node_;
  std::vector<std::string> added;
  for (const auto& [id, before] : before_) {
    const std::string after =
        graph_.Has(id) ? PrintNode(graph_, graph_.node(id), kDiffPrint) : std::string();
    if (before == after) continue;
    if (!before.empty()) step.diff.push_back("- " + before);
    if (!after.empty()) added.push_back("+ " + after);
  }
  step.diff.insert(step.diff.end(), added.begin(), added.end());
  if (log_ != nullptr) {
    const Node* anchor = graph_.FindNode(step_node_);
    step.edit = log_->EndStep(graph_, anchor == nullptr ? kNoNode : anchor->id, [this](NodeId id) {
      const absl::Span<const Use> all = uses(id);
      return IsKept(id) ||
             std::any_of(all.begin(), all.end(), [](const Use& u) { return !u.is_control(); });
    });
  }
  steps_.push_back(std::move(step));
  return true;
}

}  // namespace tenon

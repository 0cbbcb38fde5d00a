#include "graph/edit_log.h"

#include <algorithm>

#include "graph/tensor.h"

namespace tenon {
namespace {

template <typename Ids>
void AddOnce(Ids& ids, NodeId id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

// Without tensors, so that a log does not keep intermediate constants alive.
Node WithoutTensors(const Node& node) {
  Node copy;
  copy.id = node.id;
  copy.name = node.name;
  copy.op = node.op;
  copy.inputs = node.inputs;
  copy.control_inputs = node.control_inputs;
  for (const auto& [name, value] : node.attrs) {
    if (value.get_if<Tensor>() == nullptr) copy.attrs.emplace(name, value);
  }
  return copy;
}

}  // namespace

void EditLog::BeginStep() {
  touched_.clear();
  position_.clear();
  dropped_.clear();
}

void EditLog::Touch(const Node& node) {
  if (!position_.emplace(node.id, touched_.size()).second) return;
  touched_.push_back({node.id, false, node.name, node.op});
}

void EditLog::Add(NodeId id) {
  position_.emplace(id, touched_.size());
  touched_.push_back({id, true, "", ""});
}

void EditLog::Take(NodeId of, NodeId taker) {
  if (of == kNoNode || of == taker) return;
  AddOnce(takers_[of], taker);
  dropped_.push_back(of);
}

void EditLog::Drop(NodeId of, NodeId reader) {
  if (!replacing_) Take(of, reader);
}

void EditLog::BeginReplacing(NodeId of, NodeId by) {
  Take(of, by);
  replacing_ = true;
}

EditLog::Ids EditLog::Resolve(const Graph& graph, NodeId removed) const {
  Ids out;
  const auto takers = takers_.find(removed);
  if (takers == takers_.end()) return out;
  for (NodeId taker : takers->second) {
    if (graph.Has(taker)) {
      AddOnce(out, taker);
    } else if (auto it = resolved_.find(taker); it != resolved_.end()) {
      for (NodeId id : it->second) {
        if (graph.Has(id)) AddOnce(out, id);
      }
    }
  }
  return out;
}

GraphEdit EditLog::EndStep(const Graph& graph, NodeId anchor,
                           absl::FunctionRef<bool(NodeId)> in_use) {
  // What still has readers goes on; what has none left may be removed by a later step.
  for (NodeId id : dropped_) {
    if (graph.Has(id) && in_use(id)) takers_.erase(id);
  }
  GraphEdit edit;
  for (const Touched& t : touched_) {
    const bool there = graph.Has(t.id);
    if (there && t.is_new) edit.added.push_back(WithoutTensors(graph.node(t.id)));
    if (there && !t.is_new) edit.changed.push_back(WithoutTensors(graph.node(t.id)));
    if (!there && !t.is_new) edit.removed.push_back({t.id, t.name, t.op});
  }
  // Readers before what they read, since a node is removed after its last reader.
  HashMap<NodeId, Ids> made_from;
  for (const GraphEdit::Removed& r : edit.removed) {
    Ids to = Resolve(graph, r.id);
    for (NodeId id : to) {
      edit.moved.emplace_back(r.id, id);
      made_from[id].push_back(r.id);
    }
    resolved_[r.id] = std::move(to);
  }
  for (const Node& n : edit.added) {
    const auto it = made_from.find(n.id);
    if (it != made_from.end()) {
      for (NodeId from : it->second) edit.made_from.emplace_back(n.id, from);
    } else if (!edit.removed.empty()) {
      for (const GraphEdit::Removed& r : edit.removed) edit.made_from.emplace_back(n.id, r.id);
    } else if (anchor != kNoNode && anchor != n.id) {
      edit.made_from.emplace_back(n.id, anchor);
    }
  }
  return edit;
}

}  // namespace tenon

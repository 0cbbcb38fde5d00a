#include "runtime/explore/layout/slots.h"

#include <algorithm>
#include <limits>

#include "env/containers.h"

namespace tenon {
namespace {

class Assigner {
 public:
  Slots Run(const Story& story) {
    const Graph& loaded = story.loaded();
    const auto sorted = loaded.TopologicalOrder();
    for (NodeId id : sorted.ok() ? *sorted : loaded.NodeIds()) {
      Put(id, NewSlot(loaded.node(id), static_cast<double>(out_.slots.size())));
    }
    for (NodeId id : loaded.NodeIds()) AddEdges(loaded.node(id));
    for (const PhaseReport& phase : story.report.phases) {
      for (const RewriteStep& step : phase.steps) {
        if (step.function.empty()) Follow(step.edit);
      }
    }
    std::sort(out_.edges.begin(), out_.edges.end());
    out_.edges.erase(std::unique(out_.edges.begin(), out_.edges.end()), out_.edges.end());
    FindFloating();
    return std::move(out_);
  }

 private:
  Slots::Slot& slot(int s) { return out_.slots[static_cast<size_t>(s)]; }
  int Of(NodeId id) const {
    return id >= 0 && static_cast<size_t>(id) < out_.of.size() ? out_.of[static_cast<size_t>(id)]
                                                               : -1;
  }
  void Put(NodeId id, int s) {
    if (static_cast<size_t>(id) >= out_.of.size()) out_.of.resize(static_cast<size_t>(id) + 1, -1);
    out_.of[static_cast<size_t>(id)] = s;
  }
  int NewSlot(const Node& n, double rank) {
    out_.slots.push_back({n.name, rank, n.op == "Const"});
    may_float_.push_back(n.op != "Placeholder");
    return static_cast<int>(out_.slots.size()) - 1;
  }
  void AddEdge(NodeId from, int to) {
    const int s = Of(from);
    if (s < 0 || s == to) return;
    if (slot(s).rank < slot(to).rank) {
      out_.edges.emplace_back(s, to);
    } else {
      ++out_.contrary;
    }
  }
  void AddEdges(const Node& n) {
    const int to = Of(n.id);
    for (const Endpoint& e : n.inputs) AddEdge(e.node, to);
    for (NodeId id : n.control_inputs) AddEdge(id, to);
  }

  void Follow(const GraphEdit& edit) {
    HashSet<NodeId> left;  // removed nodes whose slots are free
    for (const GraphEdit::Removed& r : edit.removed) left.insert(r.id);
    HashMap<NodeId, std::vector<NodeId>> from;  // by added node
    for (const auto& [old, now] : edit.moved) from[now].push_back(old);
    for (const auto& [node, old] : edit.made_from) from[node].push_back(old);
    // The smallest rank of what reads an added node.
    HashMap<NodeId, double> before;
    for (const auto* nodes : {&edit.added, &edit.changed}) {
      for (const Node& n : *nodes) {
        if (Of(n.id) < 0) continue;
        for (const Endpoint& e : n.inputs) {
          const double rank = slot(Of(n.id)).rank;
          const auto [it, is_new] = before.emplace(e.node, rank);
          if (!is_new) it->second = std::min(it->second, rank);
        }
      }
    }
    for (const Node& n : edit.added) {
      double after = -1;  // the largest rank of what it reads
      for (const Endpoint& e : n.inputs) {
        if (Of(e.node) >= 0) after = std::max(after, slot(Of(e.node)).rank);
      }
      const auto it = before.find(n.id);
      const double until = it == before.end() ? std::numeric_limits<double>::max() : it->second;
      Put(n.id, Choose(n, from[n.id], after, until, left));
    }
    for (const auto* nodes : {&edit.added, &edit.changed}) {
      for (const Node& n : *nodes) AddEdges(n);
    }
  }

  // The last of the free slots that suit it, or a new one.
  int Choose(const Node& n, const std::vector<NodeId>& from, double after, double until,
             HashSet<NodeId>& left) {
    NodeId best = kNoNode;
    for (NodeId old : from) {
      const int s = Of(old);
      if (s < 0 || !left.contains(old)) continue;
      if (slot(s).rank <= after || slot(s).rank >= until) continue;
      if (best == kNoNode || slot(s).rank > slot(Of(best)).rank) best = old;
    }
    if (best == kNoNode) return NewSlot(n, (after + std::min(until, after + 1)) / 2);
    left.erase(best);
    const int s = Of(best);
    if (n.op == "Placeholder") may_float_[static_cast<size_t>(s)] = false;
    return s;
  }

  void FindFloating() {
    std::vector<int> order(out_.slots.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(),
                     [this](int a, int b) { return slot(a).rank < slot(b).rank; });
    std::vector<bool> reads(out_.slots.size()), reads_others(out_.slots.size());
    std::vector<std::vector<int>> readers(out_.slots.size());
    for (const Edge& e : out_.edges) readers[static_cast<size_t>(e.first)].push_back(e.second);
    for (int s : order) {
      const auto i = static_cast<size_t>(s);
      slot(s).is_floating = may_float_[i] && (slot(s).is_constant || reads[i]) && !reads_others[i];
      for (int to : readers[i]) {
        reads[static_cast<size_t>(to)] = true;
        if (!slot(s).is_floating) reads_others[static_cast<size_t>(to)] = true;
      }
    }
  }

  Slots out_;
  std::vector<bool> may_float_;
};

}  // namespace

Slots AssignSlots(const Story& story) { return Assigner().Run(story); }

}  // namespace tenon

#include "graph_rewrite/origins.h"

#include <algorithm>

namespace tenon {
namespace {

// Everything reachable from `start` by `next`, in order of discovery, `start` first.
std::vector<NodeId> Reach(NodeId start, const HashMap<NodeId, std::vector<NodeId>>& next) {
  std::vector<NodeId> out = {start};
  HashSet<NodeId> seen = {start};
  for (size_t at = 0; at < out.size(); ++at) {
    const auto it = next.find(out[at]);
    if (it == next.end()) continue;
    for (NodeId id : it->second) {
      if (seen.insert(id).second) out.push_back(id);
    }
  }
  return out;
}

}  // namespace

OriginMap::OriginMap(const RewriteReport& report, const std::string& function) {
  for (const PhaseReport& phase : report.phases) {
    for (const RewriteStep& step : phase.steps) {
      if (step.function != function) continue;
      for (const Node& n : step.edit.added) added_.insert(n.id);
      for (const GraphEdit::Removed& r : step.edit.removed) removed_.insert(r.id);
      for (const auto& [old, now] : step.edit.moved) {
        from_[now].push_back(old);
        to_[old].push_back(now);
      }
      for (const auto& [node, from] : step.edit.made_from) from_[node].push_back(from);
    }
  }
}

std::vector<NodeId> OriginMap::SourcesOf(NodeId node) const {
  std::vector<NodeId> out = Reach(node, from_);
  std::erase_if(out, [this](NodeId id) { return added_.contains(id); });
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<NodeId> OriginMap::ResultsOf(NodeId node) const {
  std::vector<NodeId> out = Reach(node, to_);
  std::erase_if(out, [this](NodeId id) { return removed_.contains(id); });
  return out;
}

}  // namespace tenon

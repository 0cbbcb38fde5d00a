#include "runtime/explore/scopes.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "env/containers.h"
#include "graph_rewrite/free_work.h"

namespace tenon {

ShortNames::ShortNames(const std::vector<std::string>& names) {
  const auto scoped = std::count_if(names.begin(), names.end(), [](const std::string& name) {
    return absl::StrContains(name, '/');
  });
  // Scope by scope, while one of them holds nearly all names.
  while (true) {
    HashMap<absl::string_view, int> counts;
    absl::string_view best;
    for (const std::string& name : names) {
      if (!absl::StartsWith(name, prefix_)) continue;
      const size_t end = name.find('/', prefix_.size());
      if (end == std::string::npos) continue;
      const absl::string_view scope = absl::string_view(name).substr(0, end + 1);
      const int count = ++counts[scope];
      if (best.empty() || count > counts[best]) best = scope;
    }
    if (best.empty() || 10 * counts[best] < 9 * scoped) return;
    prefix_ = std::string(best);
  }
}

std::string ShortNames::operator()(absl::string_view name) const {
  if (!prefix_.empty() && absl::StartsWith(name, prefix_)) name.remove_prefix(prefix_.size());
  return std::string(name);
}

ShortNames ShortNamesOf(const Graph& graph) {
  std::vector<std::string> names;
  const FreeWork free(graph);
  for (NodeId id : graph.NodeIds()) {
    if (!free.IsFree(id)) names.push_back(graph.node(id).name);
  }
  return ShortNames(names);
}

std::vector<std::string> ScopesOf(absl::string_view name) {
  std::vector<std::string> out;
  for (size_t at = name.find('/'); at != absl::string_view::npos; at = name.find('/', at + 1)) {
    out.emplace_back(name.substr(0, at));
  }
  return out;
}

}  // namespace tenon

// Which nodes of a loaded graph each node of the rewritten graph computes, and the reverse. Names
// change when nodes are fused; ids do not repeat, and the recorded edits tell where each went.
//
//   options.record_edits = true;
//   TENON_ASSIGN_OR_RETURN(const RewriteReport report, Rewrite(graph, options));
//   const OriginMap origins(report);
//   for (NodeId source : origins.SourcesOf(fused)) ...
#ifndef TENON_GRAPH_REWRITE_ORIGINS_H_
#define TENON_GRAPH_REWRITE_ORIGINS_H_

#include <string>
#include <vector>

#include "env/containers.h"
#include "graph_rewrite/pipeline.h"

namespace tenon {

class OriginMap {
 public:
  // Of the graph itself, or of a function as RewriteStep::function names it.
  explicit OriginMap(const RewriteReport& report, const std::string& function = "");

  // The nodes of the loaded graph that `node` computes, sorted; `node` exists after some phase.
  std::vector<NodeId> SourcesOf(NodeId node) const;
  // The nodes of the rewritten graph that compute `node`, which existed after some phase (or as
  // loaded); empty if it was removed or folded. The one that replaced it comes first.
  std::vector<NodeId> ResultsOf(NodeId node) const;

 private:
  HashSet<NodeId> added_, removed_;
  HashMap<NodeId, std::vector<NodeId>> from_;  // what a node took over or is made from
  HashMap<NodeId, std::vector<NodeId>> to_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_ORIGINS_H_

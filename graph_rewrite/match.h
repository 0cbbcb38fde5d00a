// Matches: the search for a pattern in a graph, and the nodes to which its names are bound.
#ifndef TENON_GRAPH_REWRITE_MATCH_H_
#define TENON_GRAPH_REWRITE_MATCH_H_

#include <vector>

#include "graph_rewrite/compiled_pattern.h"
#include "graph_rewrite/context.h"

namespace tenon {

// A successful match: the nodes and tensors to which the pattern's names are bound.
class Match {
 public:
  Match(RuleContext& context, const CompiledPattern& pattern)
      : context_(context), pattern_(pattern), bound_(pattern.nodes.size()) {}

  // Whether the matching alternative has the name.
  bool has(absl::string_view name) const;
  // For a captured or matched name, which must exist, since names are the rule's own.
  Endpoint at(absl::string_view name) const;
  const Node& node(absl::string_view name) const { return context_.node(at(name)); }
  // The value of a Const node; null for other nodes.
  const Tensor* constant(absl::string_view name) const { return context_.Constant(at(name)); }
  const Shape& shape(absl::string_view name) const { return context_.shapes.shape(at(name)); }
  DType dtype(absl::string_view name) const { return context_.shapes.dtype(at(name)); }
  bool SameShape(absl::string_view a, absl::string_view b) const {
    return context_.shapes.SameShape(at(a), at(b));
  }
  const Node& root() const { return context_.node(bound_[static_cast<size_t>(pattern_.root)]); }
  // The nodes that the pattern's ops are bound to so far.
  std::vector<NodeId> MatchedOps() const;
  RuleContext& context() const { return context_; }

 private:
  friend class Matcher;
  RuleContext& context_;
  const CompiledPattern& pattern_;
  std::vector<Endpoint> bound_;
};

// Binds the pattern's names, with `root` as its result, and makes the safety checks: ports, operand
// order of commutative ops, other readers, fetched nodes, control edges. Returns false if there is
// no match; while explaining, `best` then gets the number of matched nodes and the reason.
bool FindMatch(Match& match, NodeId root, Outcome& best);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_MATCH_H_

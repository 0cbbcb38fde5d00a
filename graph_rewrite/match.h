// Where a pattern matches: what its names stand for, and the search for it.
#ifndef TENON_GRAPH_REWRITE_MATCH_H_
#define TENON_GRAPH_REWRITE_MATCH_H_

#include <vector>

#include "graph_rewrite/compiled_pattern.h"
#include "graph_rewrite/context.h"

namespace tenon {

// A pattern that matched: what its names stand for.
class Match {
 public:
  Match(RuleContext& context, const CompiledPattern& pattern)
      : context_(context), pattern_(pattern), bound_(pattern.nodes.size()) {}

  // Whether the alternative that matched has the name.
  bool has(absl::string_view name) const;
  // Of a captured or matched name; the names are the rule's own, so they must exist.
  Endpoint at(absl::string_view name) const;
  const Node& node(absl::string_view name) const { return context_.node(at(name)); }
  // Its value if it is a Const node, else null.
  const Tensor* constant(absl::string_view name) const { return context_.Constant(at(name)); }
  const Shape& shape(absl::string_view name) const { return context_.shapes.shape(at(name)); }
  DType dtype(absl::string_view name) const { return context_.shapes.dtype(at(name)); }
  bool SameShape(absl::string_view a, absl::string_view b) const {
    return context_.shapes.SameShape(at(a), at(b));
  }
  const Node& root() const { return context_.node(bound_[static_cast<size_t>(pattern_.root)]); }
  RuleContext& context() const { return context_; }

 private:
  friend class Matcher;
  RuleContext& context_;
  const CompiledPattern& pattern_;
  std::vector<Endpoint> bound_;
};

// Binds the pattern's names, with `root` as its result, and checks all that makes a pattern safe:
// ports, operand order of commutative ops, other readers, fetched nodes, control edges. False if it
// does not match; while explaining, `best` gets how much matched and what stopped it.
bool FindMatch(Match& match, NodeId root, Outcome& best);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_MATCH_H_

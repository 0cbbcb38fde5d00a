// Replacements: the values that a rule computes for a match, and the nodes that replace it.
#ifndef TENON_GRAPH_REWRITE_REPLACEMENT_H_
#define TENON_GRAPH_REWRITE_REPLACEMENT_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "env/containers.h"
#include "graph_rewrite/match.h"

namespace tenon {

// The values that a `fold` hook provides.
class Replacement {
 public:
  // Sets an attribute of a node of the replacement.
  void SetAttr(absl::string_view node, absl::string_view attr, AttrValue value) {
    attrs_[std::string(node)].insert_or_assign(std::string(attr), std::move(value));
  }
  // Binds the name to a new Const with this value.
  void SetConst(absl::string_view name, Tensor value) {
    consts_.insert_or_assign(std::string(name), std::move(value));
  }

 private:
  friend class Emitter;
  HashMap<std::string, AttrMap> attrs_;
  HashMap<std::string, Tensor> consts_;
};

// Replaces the match with the replacement's nodes. On error, the graph is unchanged.
absl::Status ReplaceMatch(const CompiledPattern& pattern, const Match& match,
                          const Replacement& replacement);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_REPLACEMENT_H_

// What stands in place of a match: what a rule computes for it, and its nodes.
#ifndef TENON_GRAPH_REWRITE_REPLACEMENT_H_
#define TENON_GRAPH_REWRITE_REPLACEMENT_H_

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "graph_rewrite/match.h"

namespace tenon {

// What a `fold` hook fills in.
class Replacement {
 public:
  // Attribute of a node of the replacement.
  void SetAttr(absl::string_view node, absl::string_view attr, AttrValue value) {
    attrs_[std::string(node)].insert_or_assign(std::string(attr), std::move(value));
  }
  // The name stands for a new Const of this value.
  void SetConst(absl::string_view name, Tensor value) {
    consts_.insert_or_assign(std::string(name), std::move(value));
  }

 private:
  friend class Emitter;
  absl::flat_hash_map<std::string, AttrMap> attrs_;
  absl::flat_hash_map<std::string, Tensor> consts_;
};

// Puts the replacement's nodes in place of the match. An error: the graph is as it was.
absl::Status ReplaceMatch(const CompiledPattern& pattern, const Match& match,
                          const Replacement& replacement);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_REPLACEMENT_H_

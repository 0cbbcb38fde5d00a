// Scopes of names, as a tree: the blocks of a model.
#ifndef TENON_RUNTIME_EXPLORE_LAYOUT_SCOPE_TREE_H_
#define TENON_RUNTIME_EXPLORE_LAYOUT_SCOPE_TREE_H_

#include <string>
#include <vector>

namespace tenon {

struct ScopeTree {
  struct Scope {
    std::string name;   // "encoder/layer_0"
    std::string label;  // the part of it that its parent does not have: "layer_0"
    int parent = -1;    // -1: none
  };
  std::vector<Scope> scopes;  // parents before children
  std::vector<int> scope_of;  // by name given: the innermost one that holds it, or -1

  int DepthOf(int scope) const;
};

// Of names with parts divided by '/'. Siblings whose names begin alike, up to an underscore after a
// number, form a scope too: "conv2_block1_1_conv" and "conv2_block1_add" are in "conv2_block1". A
// scope holds at least three names, and more than each scope in it; no scope holds all names.
ScopeTree ScopesByName(const std::vector<std::string>& names);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_LAYOUT_SCOPE_TREE_H_

// Where to draw the nodes of a graph: a layer and a place in it for each, inside its scope. Scopes
// collapse like blocks of the model, because the children of each scope (nodes and scopes) are laid
// out by themselves; and the places hold for all phases of rewriting. Takes near-linear time.
#ifndef TENON_RUNTIME_EXPLORE_LAYOUT_LAYOUT_H_
#define TENON_RUNTIME_EXPLORE_LAYOUT_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph_rewrite/story.h"

namespace tenon {

struct Layout {
  // `layer` (from the top) and `order` (from the left) are among the children of the parent: no two
  // of them that exist at the same time have the same.
  struct Scope {
    std::string name;   // without the prefix
    std::string label;  // the part of it that its parent does not have
    int parent = -1;    // in Layout::scopes, where parents come first; -1: none
    int layer = 0, order = 0;
  };
  struct Place {
    NodeId node = kNoNode;
    int scope = -1;  // its parent
    int layer = 0, order = 0;
  };
  std::vector<Scope> scopes;
  std::vector<Place> nodes;  // every node of the story, by id
  int64_t visits = 0;        // of vertices and edges while computing it: a measure of the work
};

// An edge, in whichever phase, leads from a layer to a larger one among the children of the
// innermost scope that holds both nodes, unless rewriting turned it round. Constants are just above
// their readers. A scope that would have to be both above and below another one is dissolved: its
// nodes belong to its parent.
//
// A node that replaces a removed one has its place. Nodes of the graph's functions have none.
// `prefix` is left out of names.
Layout LayOut(const Story& story, const std::string& prefix);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_LAYOUT_LAYOUT_H_

// The places of a graph's nodes through all phases of rewriting: a node that takes over from a
// removed one gets its slot, so that what stays the same stays in its place.
#ifndef TENON_RUNTIME_EXPLORE_LAYOUT_SLOTS_H_
#define TENON_RUNTIME_EXPLORE_LAYOUT_SLOTS_H_

#include <string>
#include <vector>

#include "graph_rewrite/story.h"
#include "runtime/explore/layout/layers.h"

namespace tenon {

struct Slots {
  struct Slot {
    std::string name;  // of its first node
    // Slots that are computed from others have larger numbers.
    double rank = 0;
    bool is_constant = false;  // its first node is a constant
    // Computed from constants alone in all phases.
    bool is_floating = false;
  };
  std::vector<Slot> slots;
  std::vector<int> of;      // by node; -1: there never was one of that id
  std::vector<Edge> edges;  // between slots, of all phases; each leads to a larger rank
  int contrary = 0;         // edges left out, because rewriting turned them round
};

// Of the graph itself, not of its functions. The nodes of a slot never exist at the same time.
Slots AssignSlots(const Story& story);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_LAYOUT_SLOTS_H_

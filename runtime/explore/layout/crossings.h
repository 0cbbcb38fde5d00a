// The order of vertices within layers, with few crossings.
#ifndef TENON_RUNTIME_EXPLORE_LAYOUT_CROSSINGS_H_
#define TENON_RUNTIME_EXPLORE_LAYOUT_CROSSINGS_H_

#include <cstdint>
#include <vector>

#include "runtime/explore/layout/layers.h"

namespace tenon {

// Fills `layering.order`, given the layers, and counts crossings. Each edge leads to a layer below.
//
// The method is that of Sugiyama, Tagawa and Toda (1981): an edge that passes layers has a point in
// each; then, layer by layer, down and up, every vertex and point moves to the mean position of its
// neighbors; the order with the fewest crossings is kept. The shortest of such edges get points
// first; there are at most a few times as many as vertices and edges.
void OrderLayers(const std::vector<Edge>& edges, Layering& layering);

// Of edges between two adjacent layers, given as positions (above, below), in any order.
int64_t CountCrossings(std::vector<Edge> edges);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_LAYOUT_CROSSINGS_H_

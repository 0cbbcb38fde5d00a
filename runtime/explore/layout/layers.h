// Layers of a directed graph, for drawing it from top to bottom: edges lead from a layer to one
// below, and the order within layers keeps crossings few. Near-linear in vertices and edges.
#ifndef TENON_RUNTIME_EXPLORE_LAYOUT_LAYERS_H_
#define TENON_RUNTIME_EXPLORE_LAYOUT_LAYERS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace tenon {

using Edge = std::pair<int, int>;  // (from, to)

struct Layering {
  // By vertex. No two vertices have the same layer and order; in each layer, orders begin with 0.
  std::vector<int> layer, order;
  int64_t crossings = 0;  // between adjacent layers, with long edges as chains
  int64_t visits = 0;     // of vertices and edges while computing it: a measure of the work
};

// Vertices are 0..n-1, best in the order in which they are computed. A vertex is as many layers
// below the top as its longest path has edges; those in `floating` (constants, say), if they have
// readers, are just above the first of these instead. Edges that close a cycle, repeated ones and
// those from a vertex to itself do not count.
Layering LayOutLayers(int n, absl::Span<const Edge> edges, const std::vector<bool>& floating);

// For each vertex the number of its strongly connected component: vertices that reach each other
// have the same one. Numbers are 0..m-1, and m is one more than the largest.
std::vector<int> StrongComponents(int n, absl::Span<const Edge> edges);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_LAYOUT_LAYERS_H_

// Statistics of constants: what a page or report can say of weights without holding them.
#ifndef TENON_RUNTIME_EXPLORE_WEIGHT_STATS_H_
#define TENON_RUNTIME_EXPLORE_WEIGHT_STATS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace tenon {

struct WeightStats {
  static constexpr size_t kBins = 16;

  NodeId node = kNoNode;
  DType dtype = DType::kInvalid;
  Shape shape;
  size_t bytes = 0;
  // Of the finite elements; 0 without any.
  double min = 0, max = 0, mean = 0, stddev = 0;
  int64_t finite = 0, zeros = 0, nonfinite = 0;
  std::array<int64_t, kBins> histogram = {};  // of finite elements, from min to max
};

// Of the graph's constants with at least `least` elements and a real dtype (quantized ones as
// integers), by id. Reads all of their elements twice.
std::vector<WeightStats> StatsOfWeights(const Graph& graph, int64_t least = 16);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_WEIGHT_STATS_H_

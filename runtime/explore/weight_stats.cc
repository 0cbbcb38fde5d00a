#include "runtime/explore/weight_stats.h"

#include <algorithm>
#include <cmath>

#include "graph/constants.h"
#include "graph/stored_dtype.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Elements are summed up in pieces, so that sums of many millions keep their digits.
constexpr size_t kSummedTogether = 4096;

template <typename T>
void Measure(absl::Span<const T> values, WeightStats& stats) {
  const auto number = [](T v) { return static_cast<double>(ToCompute(v)); };
  double sum = 0, squares = 0;
  for (size_t begin = 0; begin < values.size(); begin += kSummedTogether) {
    double piece = 0, piece_squares = 0;
    for (const T v : values.subspan(begin, kSummedTogether)) {
      const double x = number(v);
      if (!std::isfinite(x)) {
        ++stats.nonfinite;
        continue;
      }
      if (stats.finite == 0) stats.min = stats.max = x;
      ++stats.finite;
      stats.min = std::min(stats.min, x);
      stats.max = std::max(stats.max, x);
      if (x == 0) ++stats.zeros;
      piece += x;
      piece_squares += x * x;
    }
    sum += piece;
    squares += piece_squares;
  }
  if (stats.finite == 0) return;
  const auto n = static_cast<double>(stats.finite);
  stats.mean = sum / n;
  stats.stddev = std::sqrt(std::max(0.0, squares / n - stats.mean * stats.mean));
  const double width = stats.max - stats.min;
  // A difference of huge numbers may not be finite.
  const double scale = width > 0 && std::isfinite(width) ? WeightStats::kBins / width : 0;
  for (const T v : values) {
    const double x = number(v);
    if (!std::isfinite(x)) continue;
    const auto bin = static_cast<size_t>((x - stats.min) * scale);
    ++stats.histogram[std::min(bin, WeightStats::kBins - 1)];
  }
}

}  // namespace

std::vector<WeightStats> StatsOfWeights(const Graph& graph, int64_t least) {
  std::vector<WeightStats> out;
  for (NodeId id : graph.NodeIds()) {
    const Node& n = graph.node(id);
    const Tensor* value = ConstantOf(n);
    if (value == nullptr || value->num_elements() < least) continue;
    WeightStats stats;
    stats.node = id;
    stats.dtype = value->dtype();
    stats.shape = value->shape();
    stats.bytes = value->bytes();
    const bool real = VisitTypes(RealNumbers{}, StoredAs(value->dtype()),
                                 [&]<typename T>() { Measure<T>(value->flat<T>(), stats); });
    if (real) out.push_back(std::move(stats));
  }
  return out;
}

}  // namespace tenon

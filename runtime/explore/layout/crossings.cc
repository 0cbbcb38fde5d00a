#include "runtime/explore/layout/crossings.h"

#include <algorithm>
#include <numeric>

namespace tenon {
namespace {

constexpr int kSweeps = 6;            // down and up
constexpr size_t kPointsForEach = 3;  // vertex and edge

class Orderer {
 public:
  Orderer(const std::vector<Edge>& edges, Layering& layering) : out_(layering) {
    layer_ = layering.layer;
    num_real_ = layer_.size();
    AddPoints(edges);
    const int deepest = layer_.empty() ? -1 : *std::max_element(layer_.begin(), layer_.end());
    rows_.resize(static_cast<size_t>(deepest + 1));
    for (size_t v = 0; v < layer_.size(); ++v) row(layer_[v]).push_back(static_cast<int>(v));
    above_.resize(layer_.size());
    below_.resize(layer_.size());
    for (const Edge& e : edges_) {
      below_[static_cast<size_t>(e.first)].push_back(e.second);
      above_[static_cast<size_t>(e.second)].push_back(e.first);
    }
    position_.resize(layer_.size());
    key_.resize(layer_.size());
  }

  void Run() {
    for (const std::vector<int>& r : rows_) Number(r);
    std::vector<int> best = position_;
    int64_t fewest = Crossings();
    for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
      for (std::vector<int>& r : rows_) SortBy(above_, r);
      for (auto r = rows_.rbegin(); r != rows_.rend(); ++r) SortBy(below_, *r);
      const int64_t crossings = Crossings();
      if (crossings >= fewest) continue;
      fewest = crossings;
      best = position_;
    }
    out_.crossings = fewest;
    // Without the points.
    out_.order.assign(num_real_, 0);
    for (std::vector<int>& r : rows_) {
      std::erase_if(r, [this](int v) { return static_cast<size_t>(v) >= num_real_; });
      std::sort(r.begin(), r.end(), [&](int a, int b) {
        return best[static_cast<size_t>(a)] < best[static_cast<size_t>(b)];
      });
      for (size_t i = 0; i < r.size(); ++i) {
        out_.order[static_cast<size_t>(r[i])] = static_cast<int>(i);
      }
    }
  }

 private:
  std::vector<int>& row(int layer) { return rows_[static_cast<size_t>(layer)]; }

  // Divides long edges, the shortest first, as long as there may be more points.
  void AddPoints(const std::vector<Edge>& edges) {
    const auto span = [this](const Edge& e) {
      return layer_[static_cast<size_t>(e.second)] - layer_[static_cast<size_t>(e.first)];
    };
    std::vector<Edge> sorted = edges;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Edge& a, const Edge& b) { return span(a) < span(b); });
    const size_t most = num_real_ + kPointsForEach * (num_real_ + edges.size());
    for (const Edge& e : sorted) {
      const int length = span(e);
      if (length == 1 || layer_.size() + static_cast<size_t>(length) > most) {
        edges_.push_back(e);
        continue;
      }
      const int top = layer_[static_cast<size_t>(e.first)];
      int from = e.first;
      for (int i = 1; i < length; ++i) {
        const int point = static_cast<int>(layer_.size());
        layer_.push_back(top + i);
        edges_.emplace_back(from, point);
        from = point;
      }
      edges_.emplace_back(from, e.second);
    }
  }

  void Number(const std::vector<int>& r) {
    for (size_t i = 0; i < r.size(); ++i) {
      position_[static_cast<size_t>(r[i])] = static_cast<int>(i);
    }
  }

  // Vertices without such neighbors keep their places among the others.
  void SortBy(const std::vector<std::vector<int>>& neighbors, std::vector<int>& r) {
    for (int v : r) {
      const std::vector<int>& of = neighbors[static_cast<size_t>(v)];
      double sum = 0;
      for (int u : of) sum += position_[static_cast<size_t>(u)];
      key_[static_cast<size_t>(v)] = of.empty()
                                         ? static_cast<double>(position_[static_cast<size_t>(v)])
                                         : sum / static_cast<double>(of.size());
      out_.visits += 1 + static_cast<int64_t>(of.size());
    }
    std::stable_sort(r.begin(), r.end(), [this](int a, int b) {
      return key_[static_cast<size_t>(a)] < key_[static_cast<size_t>(b)];
    });
    Number(r);
  }

  int64_t Crossings() {
    int64_t sum = 0;
    std::vector<Edge> between;
    for (size_t i = 0; i + 1 < rows_.size(); ++i) {
      between.clear();
      for (int v : rows_[i]) {
        for (int to : below_[static_cast<size_t>(v)]) {
          if (layer_[static_cast<size_t>(to)] != static_cast<int>(i) + 1) continue;
          between.emplace_back(position_[static_cast<size_t>(v)],
                               position_[static_cast<size_t>(to)]);
        }
      }
      out_.visits += static_cast<int64_t>(rows_[i].size() + between.size());
      sum += CountCrossings(between);
    }
    return sum;
  }

  Layering& out_;
  size_t num_real_ = 0;
  std::vector<int> layer_;   // of vertices, then of points
  std::vector<Edge> edges_;  // with points
  std::vector<std::vector<int>> rows_, above_, below_;
  std::vector<int> position_;
  std::vector<double> key_;
};

}  // namespace

int64_t CountCrossings(std::vector<Edge> edges) {
  std::sort(edges.begin(), edges.end());
  int widest = 0;
  for (const Edge& e : edges) widest = std::max(widest, e.second + 1);
  // Counts of ends below, as sums over ranges (a Fenwick tree).
  std::vector<int64_t> tree(static_cast<size_t>(widest) + 1);
  int64_t crossings = 0, seen = 0;
  for (const Edge& e : edges) {
    int64_t not_right = 0;
    for (int i = e.second + 1; i > 0; i -= i & -i) not_right += tree[static_cast<size_t>(i)];
    crossings += seen - not_right;
    for (int i = e.second + 1; i <= widest; i += i & -i) ++tree[static_cast<size_t>(i)];
    ++seen;
  }
  return crossings;
}

void OrderLayers(const std::vector<Edge>& edges, Layering& layering) {
  Orderer(edges, layering).Run();
}

}  // namespace tenon

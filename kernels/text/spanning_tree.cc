#include "kernels/text/spanning_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/interface/types.h"

namespace tenon {
namespace {

// The score of arcs. Fewer roots are better than any score: arcs from the root of all count as one,
// or as none in a forest.
struct Score {
  int64_t roots = 0;
  double sum = -std::numeric_limits<double>::infinity();

  bool exists() const { return std::isfinite(sum); }
  bool operator<(const Score& other) const {
    return roots != other.roots ? roots > other.roots : sum < other.sum;
  }
  Score operator-(const Score& other) const { return {roots - other.roots, sum - other.sum}; }
};

// A square matrix of arcs, [target, source].
class Arcs {
 public:
  explicit Arcs(size_t nodes) : nodes_(nodes), scores_(nodes * nodes) {}
  size_t nodes() const { return nodes_; }
  Score& at(size_t target, size_t source) { return scores_[target * nodes_ + source]; }
  const Score& at(size_t target, size_t source) const { return scores_[target * nodes_ + source]; }

 private:
  size_t nodes_;
  std::vector<Score> scores_;
};

constexpr size_t kNoNode = static_cast<size_t>(-1);

// A cycle of the graph in which each node but 0 has one source; empty if there is none.
std::vector<size_t> FindCycle(const std::vector<size_t>& sources) {
  std::vector<size_t> seen(sources.size(), kNoNode);  // from which node a walk came here
  for (size_t begin = 1; begin < sources.size(); ++begin) {
    size_t node = begin;
    while (node != 0 && seen[node] == kNoNode) {
      seen[node] = begin;
      node = sources[node];
    }
    if (node == 0 || seen[node] != begin) continue;
    std::vector<size_t> cycle;
    for (size_t at = node; cycle.empty() || at != node; at = sources[at]) cycle.push_back(at);
    return cycle;
  }
  return {};
}

// The sources of the best tree from node 0, by the algorithm of Chu, Liu and Edmonds; empty if
// there is none.
std::vector<size_t> BestTree(Arcs arcs) {
  const size_t n = arcs.nodes();
  std::vector<size_t> sources(n, 0);
  for (size_t target = 1; target < n; ++target) {
    size_t best = kNoNode;
    for (size_t source = 0; source < n; ++source) {
      if (source == target || !arcs.at(target, source).exists()) continue;
      if (best == kNoNode || arcs.at(target, best) < arcs.at(target, source)) best = source;
    }
    if (best == kNoNode) return {};
    sources[target] = best;
  }
  const std::vector<size_t> cycle = FindCycle(sources);
  if (cycle.empty()) return sources;

  // The graph with the cycle as one node, the last.
  std::vector<size_t> place(n, kNoNode), node_at;
  std::vector<bool> in_cycle(n, false);
  for (const size_t node : cycle) in_cycle[node] = true;
  for (size_t node = 0; node < n; ++node) {
    if (in_cycle[node]) continue;
    place[node] = node_at.size();
    node_at.push_back(node);
  }
  const size_t joined = node_at.size();
  Arcs smaller(joined + 1);
  // Where the best arc into the cycle from each node ends, and where that to each node begins.
  std::vector<size_t> into(joined, kNoNode), out_of(joined, kNoNode);
  for (size_t i = 0; i < joined; ++i) {
    const size_t node = node_at[i];
    for (size_t j = 0; j < joined; ++j) smaller.at(i, j) = arcs.at(node, node_at[j]);
    for (const size_t member : cycle) {
      const Score& out = arcs.at(node, member);
      if (out.exists() && (out_of[i] == kNoNode || smaller.at(i, joined) < out)) {
        smaller.at(i, joined) = out;
        out_of[i] = member;
      }
      // An arc into the cycle takes the place of one of the cycle's.
      if (!arcs.at(member, node).exists()) continue;
      const Score in = arcs.at(member, node) - arcs.at(member, sources[member]);
      if (into[i] == kNoNode || smaller.at(joined, i) < in) {
        smaller.at(joined, i) = in;
        into[i] = member;
      }
    }
  }
  arcs = Arcs(0);  // so that one graph is in memory, however deep cycles are nested
  const std::vector<size_t> tree = BestTree(std::move(smaller));
  if (tree.empty()) return {};
  for (size_t i = 1; i < joined; ++i) {
    sources[node_at[i]] = tree[i] == joined ? out_of[i] : node_at[tree[i]];
  }
  sources[into[tree[joined]]] = node_at[tree[joined]];
  return sources;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MaxSpanningTreeKernel(PrepareContext& p) {
  const bool forest = p.attrs().Bool("forest", false);
  const int64_t batch = p.input_shape(1).dim(0), most = p.input_shape(1).dim(1);
  return DispatchType(TypeList<int32_t, float, double>{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t nodes = run.input<int32_t>(0)[b];
        // TensorFlow Text numbers nodes, and as many cycles, in 16 bits.
        if (nodes <= 0 || nodes > most || 2 * nodes >= 0xFFFF) {
          return InvalidArgument("graph ", b, " has ", nodes, " nodes, where 1 to ",
                                 std::min<int64_t>(most, 0x7FFF - 1), " are possible");
        }
        const T* scores = run.input<T>(1) + b * most * most;
        const size_t n = static_cast<size_t>(nodes);
        Arcs arcs(n + 1);
        for (size_t t = 0; t < n; ++t) {
          for (size_t s = 0; s < n; ++s) {
            const double score = static_cast<double>(scores[t * static_cast<size_t>(most) + s]);
            if (!std::isfinite(score)) continue;
            arcs.at(t + 1, s == t ? 0 : s + 1) = {s == t && !forest ? 1 : 0, score};
          }
        }
        const std::vector<size_t> tree = BestTree(std::move(arcs));
        int64_t roots = 0;
        for (size_t t = 1; t < tree.size(); ++t) roots += tree[t] == 0 ? 1 : 0;
        if (tree.empty() || (roots > 1 && !forest)) {
          return InvalidArgument("the arcs of graph ", b, " make no tree");
        }
        int32_t* sources = run.output<int32_t>(1) + b * most;
        std::fill_n(sources, most, -1);
        T sum = 0;
        for (size_t t = 0; t < n; ++t) {
          const size_t source = tree[t + 1] == 0 ? t : tree[t + 1] - 1;
          sources[t] = static_cast<int32_t>(source);
          sum = WrapAdd(sum, scores[t * static_cast<size_t>(most) + source]);
        }
        run.output<T>(0)[b] = sum;
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon

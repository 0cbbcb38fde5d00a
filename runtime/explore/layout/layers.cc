#include "runtime/explore/layout/layers.h"

#include <algorithm>
#include <numeric>

#include "runtime/explore/layout/crossings.h"

namespace tenon {
namespace {

// Neighbors of all vertices in one array.
struct Adjacency {
  std::vector<int> begin, to;

  Adjacency(int n, absl::Span<const Edge> edges, bool reversed)
      : begin(static_cast<size_t>(n) + 1) {
    for (const Edge& e : edges) ++begin[static_cast<size_t>(reversed ? e.second : e.first) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    to.resize(edges.size());
    std::vector<int> next(begin.begin(), begin.end() - 1);
    for (const Edge& e : edges) {
      const int from = reversed ? e.second : e.first;
      to[static_cast<size_t>(next[static_cast<size_t>(from)]++)] = reversed ? e.first : e.second;
    }
  }
  absl::Span<const int> of(int v) const {
    const auto b = static_cast<size_t>(begin[static_cast<size_t>(v)]);
    const auto e = static_cast<size_t>(begin[static_cast<size_t>(v) + 1]);
    return absl::MakeConstSpan(to).subspan(b, e - b);
  }
};

std::vector<Edge> Distinct(absl::Span<const Edge> edges) {
  std::vector<Edge> out(edges.begin(), edges.end());
  std::erase_if(out, [](const Edge& e) { return e.first == e.second; });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Without the edges that lead back to a vertex on the path of a depth-first search.
std::vector<Edge> WithoutCycles(int n, const std::vector<Edge>& edges) {
  const Adjacency readers(n, edges, /*reversed=*/false);
  enum State : char { kNew, kOnPath, kDone };
  std::vector<State> state(static_cast<size_t>(n), kNew);
  std::vector<std::pair<int, size_t>> path;  // vertex, next of its readers
  std::vector<Edge> out;
  for (int start = 0; start < n; ++start) {
    if (state[static_cast<size_t>(start)] != kNew) continue;
    state[static_cast<size_t>(start)] = kOnPath;
    path.emplace_back(start, 0);
    while (!path.empty()) {
      const int v = path.back().first;
      const absl::Span<const int> next = readers.of(v);
      if (path.back().second == next.size()) {
        state[static_cast<size_t>(v)] = kDone;
        path.pop_back();
        continue;
      }
      const int to = next[path.back().second++];
      State& s = state[static_cast<size_t>(to)];
      if (s != kOnPath) out.emplace_back(v, to);
      if (s == kNew) {
        s = kOnPath;
        path.emplace_back(to, 0);
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<int> LongestPaths(int n, const std::vector<Edge>& edges,
                              const std::vector<bool>& floating) {
  const Adjacency readers(n, edges, /*reversed=*/false);
  std::vector<int> missing(static_cast<size_t>(n)), layer(static_cast<size_t>(n)), sorted;
  for (const Edge& e : edges) ++missing[static_cast<size_t>(e.second)];
  for (int v = 0; v < n; ++v) {
    if (missing[static_cast<size_t>(v)] == 0) sorted.push_back(v);
  }
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (int to : readers.of(sorted[i])) {
      int& below = layer[static_cast<size_t>(to)];
      below = std::max(below, layer[static_cast<size_t>(sorted[i])] + 1);
      if (--missing[static_cast<size_t>(to)] == 0) sorted.push_back(to);
    }
  }
  for (auto v = sorted.rbegin(); v != sorted.rend(); ++v) {
    const absl::Span<const int> next = readers.of(*v);
    if (!floating[static_cast<size_t>(*v)] || next.empty()) continue;
    int first = layer[static_cast<size_t>(next[0])];
    for (int to : next) first = std::min(first, layer[static_cast<size_t>(to)]);
    layer[static_cast<size_t>(*v)] = first - 1;
  }
  return layer;
}

}  // namespace

Layering LayOutLayers(int n, absl::Span<const Edge> edges, const std::vector<bool>& floating) {
  Layering out;
  const std::vector<Edge> kept = WithoutCycles(n, Distinct(edges));
  out.layer = LongestPaths(n, kept, floating);
  out.visits = 4 * (n + static_cast<int64_t>(edges.size()));
  OrderLayers(kept, out);
  return out;
}

std::vector<int> StrongComponents(int n, absl::Span<const Edge> edges) {
  const Adjacency readers(n, edges, /*reversed=*/false);
  const auto size = static_cast<size_t>(n);
  std::vector<int> component(size, -1), number(size, -1), low(size), open;
  std::vector<std::pair<int, size_t>> path;
  int numbers = 0, components = 0;
  const auto enter = [&](int v) {
    number[static_cast<size_t>(v)] = low[static_cast<size_t>(v)] = numbers++;
    open.push_back(v);
    path.emplace_back(v, 0);
  };
  for (int start = 0; start < n; ++start) {
    if (number[static_cast<size_t>(start)] >= 0) continue;
    enter(start);
    while (!path.empty()) {
      const auto v = static_cast<size_t>(path.back().first);
      const absl::Span<const int> next = readers.of(path.back().first);
      if (path.back().second < next.size()) {
        const int reader = next[path.back().second++];
        const auto to = static_cast<size_t>(reader);
        if (number[to] < 0) {
          enter(reader);
        } else if (component[to] < 0) {
          low[v] = std::min(low[v], number[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        const auto before = static_cast<size_t>(path.back().first);
        low[before] = std::min(low[before], low[v]);
      }
      if (low[v] != number[v]) continue;
      while (component[v] < 0) {
        component[static_cast<size_t>(open.back())] = components;
        open.pop_back();
      }
      ++components;
    }
  }
  return component;
}

}  // namespace tenon

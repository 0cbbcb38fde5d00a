// Non-maximum suppression: selects boxes, best first.
#ifndef TENON_KERNELS_IMAGE_SUPPRESSION_H_
#define TENON_KERNELS_IMAGE_SUPPRESSION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "kernels/interface/types.h"

namespace tenon {

// Intersection over union of two boxes, each given by two opposite corners (y, x, y, x); 0 if one
// is empty. Of halves in float: areas may be too large for a half.
template <typename T>
T Overlap(const T* a, const T* b) {
  using C = ComputeType<T>;
  auto low = [](const T* box, int k) { return ToCompute(std::min(box[k], box[k + 2])); };
  auto high = [](const T* box, int k) { return ToCompute(std::max(box[k], box[k + 2])); };
  const C area_a = (high(a, 0) - low(a, 0)) * (high(a, 1) - low(a, 1));
  const C area_b = (high(b, 0) - low(b, 0)) * (high(b, 1) - low(b, 1));
  if (area_a <= 0 || area_b <= 0) return T(0);
  C common = 1;
  for (int k = 0; k < 2; ++k) {
    const C side = std::min(high(a, k), high(b, k)) - std::max(low(a, k), low(b, k));
    common = common * std::max(side, C(0));
  }
  return static_cast<T>(common / (area_a + area_b - common));
}

template <typename T>
struct SuppressionLimits {
  int64_t count = 0;                           // maximum number of selected boxes
  T overlap = T(0);                            // a larger overlap suppresses
  T score = std::numeric_limits<T>::lowest();  // a score that is not larger is never selected
  // Which of equal scores comes first: the lower index, or what a heap of the scores leaves in
  // front.
  bool lower_index_first = true;
  T sigma = T(0);  // if above 0, scores decay with overlap instead, by exp(-overlap^2 / (2 sigma))
};

template <typename T>
struct Selected {
  int64_t index;
  T score;
};

// overlap(i, j) is of boxes i and j.
template <typename T, typename F>
std::vector<Selected<T>> Select(const T* scores, int64_t n, const SuppressionLimits<T>& limits,
                                F&& overlap) {
  struct Candidate {
    int64_t index;
    T score;
    int64_t compared;  // number of selected boxes it was compared with
  };
  auto later = [by_index = limits.lower_index_first](const Candidate& a, const Candidate& b) {
    return a.score < b.score || (by_index && a.score == b.score && a.index > b.index);
  };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later);
  for (int64_t i = 0; i < n; ++i) {
    if (scores[i] > limits.score) queue.push({i, scores[i], 0});
  }
  const bool soft = limits.sigma > T(0);
  const T scale = soft ? T(-0.5) / limits.sigma : T(0);
  std::vector<Selected<T>> selected;
  while (static_cast<int64_t>(selected.size()) < limits.count && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const T before = next.score;
    bool suppressed = false;
    for (int64_t k = static_cast<int64_t>(selected.size()) - 1; k >= next.compared; --k) {
      const T common = overlap(next.index, selected[static_cast<size_t>(k)].index);
      if (!soft && common > limits.overlap) {
        suppressed = true;
        break;
      }
      if (soft) {
        next.score = next.score * static_cast<T>(std::exp(ToCompute(scale * common * common)));
      }
      if (next.score <= limits.score) break;
    }
    next.compared = static_cast<int64_t>(selected.size());
    if (suppressed) continue;
    if (next.score == before) {
      selected.push_back({next.index, next.score});
    } else if (next.score > limits.score) {
      queue.push(next);
    }
  }
  return selected;
}

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_SUPPRESSION_H_

#include "kernels/sparse/coordinates.h"

#include <algorithm>
#include <numeric>

#include "env/status.h"

namespace tenon {

int CompareCoordinates(const int64_t* a, const int64_t* b, int64_t rank) {
  for (int64_t d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

absl::Status CheckCoordinates(const Coordinates& at, const int64_t* shape) {
  for (int64_t d = 0; d < at.rank; ++d) {
    if (shape[d] < 0) return InvalidArgument("a size of ", shape[d], " at dimension ", d);
  }
  for (int64_t i = 0; i < at.n; ++i) {
    for (int64_t d = 0; d < at.rank; ++d) {
      if (at[i][d] >= 0 && at[i][d] < shape[d]) continue;
      return InvalidArgument("indices[", i, ", ", d, "] = ", at[i][d], " is not in [0, ", shape[d],
                             ")");
    }
  }
  return absl::OkStatus();
}

std::vector<int64_t> RowMajorOrder(const Coordinates& at) {
  std::vector<int64_t> order(static_cast<size_t>(at.n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&at](int64_t a, int64_t b) {
    return CompareCoordinates(at[a], at[b], at.rank) < 0;
  });
  return order;
}

std::vector<Pair> UnionOf(const Coordinates& a, const Coordinates& b) {
  std::vector<Pair> all;
  int64_t i = 0, j = 0;
  while (i < a.n || j < b.n) {
    const int order = i == a.n ? 1 : j == b.n ? -1 : CompareCoordinates(a[i], b[j], a.rank);
    all.push_back({order <= 0 ? i : -1, order >= 0 ? j : -1});
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return all;
}

}  // namespace tenon

#include "kernels/sparse/coordinates.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "env/status.h"

namespace tenon {
namespace {

// Sorts elements by their places in a dense tensor, digit by digit. False if a place does not fit
// an integer, or a coordinate is negative.
bool SortByPlaces(const Coordinates& at, std::vector<int64_t>& order) {
  constexpr int kDigit = 11;  // bits
  constexpr size_t kDigits = size_t{1} << kDigit;
  std::vector<int64_t> sizes(static_cast<size_t>(at.rank), 1);
  for (int64_t i = 0; i < at.n; ++i) {
    for (int64_t d = 0; d < at.rank; ++d) {
      const int64_t c = at[i][d];
      if (c < 0 || c == INT64_MAX) return false;
      int64_t& size = sizes[static_cast<size_t>(d)];
      size = std::max(size, c + 1);
    }
  }
  int64_t places = 1;
  for (const int64_t size : sizes) {
    if (__builtin_mul_overflow(places, size, &places)) return false;
  }
  struct Element {
    uint64_t place;
    int64_t index;
  };
  std::vector<Element> elements(order.size()), sorted(order.size());
  for (const int64_t i : order) {
    uint64_t place = 0;
    for (int64_t d = 0; d < at.rank; ++d) {
      place = place * static_cast<uint64_t>(sizes[static_cast<size_t>(d)]) +
              static_cast<uint64_t>(at[i][d]);
    }
    elements[static_cast<size_t>(i)] = {place, i};
  }
  for (int shift = 0; shift < 63 && (places - 1) >> shift > 0; shift += kDigit) {
    std::array<size_t, kDigits + 1> starts{};
    const auto digit = [shift](const Element& e) { return e.place >> shift & (kDigits - 1); };
    for (const Element& e : elements) ++starts[digit(e) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const Element& e : elements) sorted[starts[digit(e)]++] = e;
    elements.swap(sorted);
  }
  std::transform(elements.begin(), elements.end(), order.begin(),
                 [](const Element& e) { return e.index; });
  return true;
}

}  // namespace

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
  const auto before = [&at](int64_t a, int64_t b) {
    return CompareCoordinates(at[a], at[b], at.rank) < 0;
  };
  if (std::is_sorted(order.begin(), order.end(), before)) return order;
  if (!SortByPlaces(at, order)) std::stable_sort(order.begin(), order.end(), before);
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

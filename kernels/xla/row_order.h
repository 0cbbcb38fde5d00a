// Sorts a row's positions by keys, so that equal keys keep their order.
//
//   RowOrder order(length);
//   order.Restart();
//   order.SortBy(second_keys, row, /*descending=*/false);
//   order.SortBy(first_keys, row, /*descending=*/true);
//   order.Arrange(from, row, to);
#ifndef TENON_KERNELS_XLA_ROW_ORDER_H_
#define TENON_KERNELS_XLA_ROW_ORDER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/xla/total_order.h"

namespace tenon {

// A row along the dimension: its elements are `step` apart.
struct SortedRow {
  int64_t first, step;
  int64_t at(int64_t i) const { return first + i * step; }
};

// An unsigned number in the order that is asked for; floats as OrderKey says.
template <typename T>
auto Ascending(T key, bool descending) {
  const auto ordered = OrderKey(key);
  using I = std::remove_const_t<decltype(ordered)>;
  using U = std::make_unsigned_t<I>;
  U u = static_cast<U>(ordered);
  if constexpr (std::is_signed_v<I>) u ^= U{1} << (8 * sizeof(U) - 1);
  return descending ? static_cast<U>(~u) : u;
}

// A key of up to 4 bytes above the place in an order, of which no two are equal.
struct ShortItem {
  uint64_t number;
  uint64_t key() const { return number >> 32; }
  int64_t place() const { return static_cast<int64_t>(number & 0xffffffff); }
  bool operator<(const ShortItem& other) const { return number < other.number; }
};
struct LongItem {
  uint64_t of_key;
  int64_t of_place;
  uint64_t key() const { return of_key; }
  int64_t place() const { return of_place; }
  bool operator<(const LongItem& other) const {
    return of_key != other.of_key ? of_key < other.of_key : of_place < other.of_place;
  }
};

// Sorts items, whose places ascend, by keys of so many bytes.
template <typename Item>
void SortItems(std::vector<Item>& items, std::vector<Item>& other, int key_bytes) {
  constexpr size_t kFewItems = 256;  // for which counting bytes takes longer
  if (std::is_sorted(items.begin(), items.end())) return;
  if (items.size() < kFewItems) return std::sort(items.begin(), items.end());
  other.resize(items.size());
  for (int shift = 0; shift < 8 * key_bytes; shift += 8) {
    const auto byte = [shift](const Item& item) { return item.key() >> shift & 0xff; };
    std::array<size_t, 256> counts{};
    for (const Item& item : items) ++counts[byte(item)];
    if (counts[byte(items[0])] == items.size()) continue;
    size_t begin = 0;
    for (size_t& count : counts) begin += std::exchange(count, begin);
    for (const Item& item : items) other[counts[byte(item)]++] = item;
    items.swap(other);
  }
}

// Positions in a row, which are sorted by one key after the other, the last one first.
class RowOrder {
 public:
  explicit RowOrder(int64_t length) : order_(static_cast<size_t>(length)), sorted_(order_.size()) {}

  void Restart() { std::iota(order_.begin(), order_.end(), 0); }

  template <typename T>
  void SortBy(const T* keys, const SortedRow& row, bool descending) {
    if (sizeof(T) <= 4 && order_.size() <= std::numeric_limits<uint32_t>::max()) {
      Sort<T>(short_, other_short_, [&](size_t i) {
        const uint64_t key = Ascending(keys[row.at(order_[i])], descending);
        return ShortItem{key << 32 | i};
      });
    } else {
      Sort<T>(long_, other_long_, [&](size_t i) {
        return LongItem{Ascending(keys[row.at(order_[i])], descending), static_cast<int64_t>(i)};
      });
    }
  }

  // The row of another tensor of the shape, in this order.
  template <typename T>
  void Arrange(const T* from, const SortedRow& row, T* to) const {
    for (size_t i = 0; i < order_.size(); ++i) {
      to[row.at(static_cast<int64_t>(i))] = from[row.at(order_[i])];
    }
  }

 private:
  template <typename T, typename Item, typename F>
  void Sort(std::vector<Item>& items, std::vector<Item>& other, F item) {
    items.resize(order_.size());
    for (size_t i = 0; i < items.size(); ++i) items[i] = item(i);
    SortItems(items, other, sizeof(T));
    for (size_t i = 0; i < items.size(); ++i) {
      sorted_[i] = order_[static_cast<size_t>(items[i].place())];
    }
    order_.swap(sorted_);
  }

  std::vector<int64_t> order_, sorted_;
  std::vector<ShortItem> short_, other_short_;
  std::vector<LongItem> long_, other_long_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_ROW_ORDER_H_

#include "kernels/xla/sort_by_keys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// A row along the dimension: its elements are `step` apart.
struct SortedRow {
  int64_t first, step;
  int64_t at(int64_t i) const { return first + i * step; }
};

// An unsigned number in the order that is asked for.
template <typename T>
auto Ascending(T key, bool descending) {
  using U = std::make_unsigned_t<T>;
  U u = static_cast<U>(key);
  if constexpr (std::is_signed_v<T>) u ^= U{1} << (8 * sizeof(U) - 1);
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

  // The element that comes at place i.
  int64_t operator[](size_t i) const { return order_[i]; }

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

class SortByKeys final : public Kernel {
 public:
  std::vector<DType> keys, tensors;
  std::vector<bool> descending;
  Shape shape;
  int threads = 1;

  absl::Status Run(RunContext& run) const override {
    const auto num_keys = static_cast<int>(keys.size()),
               num_tensors = static_cast<int>(tensors.size());
    const int32_t dimension = *run.input<int32_t>(num_keys + num_tensors);
    TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(dimension, shape.rank()));
    const int64_t length = shape.dim(axis), elements = shape.num_elements();
    if (elements == 0) return absl::OkStatus();
    const int64_t step = Product(shape, axis + 1, shape.rank());
    const double ns =
        4.0 * static_cast<double>(length) * (1 + std::log2(static_cast<double>(length)));
    ParallelFor(threads, elements / length, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      RowOrder order(length);
      for (int64_t r = begin; r < end; ++r) {
        const SortedRow row{r / step * length * step + r % step, step};
        order.Restart();
        for (int k = num_keys - 1; k >= 0; --k) {
          const auto key = static_cast<size_t>(k);
          VisitTypes(Ints{}, keys[key],
                     [&]<typename T>() { order.SortBy(run.input<T>(k), row, descending[key]); });
        }
        for (int t = 0; t < num_tensors; ++t) {
          VisitStorage(tensors[static_cast<size_t>(t)], [&]<typename T>() {
            const T* const from = run.input<T>(num_keys + t);
            T* const to = run.output<T>(t);
            for (int64_t i = 0; i < length; ++i) {
              to[row.at(i)] = from[row.at(order[static_cast<size_t>(i)])];
            }
          });
        }
      }
    });
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SortByKeysKernel(PrepareContext& p) {
  auto kernel = std::make_unique<SortByKeys>();
  const int tensors = p.num_outputs(), keys = p.num_inputs() - tensors - 1;
  for (int k = 0; k < keys; ++k) kernel->keys.push_back(p.input_dtype(k));
  for (int t = 0; t < tensors; ++t) kernel->tensors.push_back(p.input_dtype(keys + t));
  const auto* descending = p.node().attr<std::vector<bool>>("descending");
  if (descending == nullptr || descending->size() != kernel->keys.size()) {
    return InvalidArgument("'descending' must have a value for each of ", keys, " keys");
  }
  kernel->descending = *descending;
  kernel->shape = p.input_shape(0);
  kernel->threads = p.services().threads;
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon

// TopKV2, TopK: the k largest elements of each row, largest first; of equal ones, lower indices
// first. Unsorted results are in the order of TensorFlow's heap: what a sampler draws from them
// depends on it.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SetShapes(ShapeContext& c, int64_t k) {
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() < 1) return InvalidArgument("input must have at least one dimension");
  const int last = out.rank() - 1;
  if (out.dim(last) >= 0 && k > out.dim(last)) {
    return InvalidArgument("rows of ", out.dim(last), " elements do not have ", k);
  }
  out.set_dim(last, k);
  c.set_output(0, out);
  c.set_output(1, std::move(out));
  return absl::OkStatus();
}

absl::Status TopKV2Shape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  if (c.value(1) == nullptr) return SetShapes(c, -1);
  TENON_ASSIGN_OR_RETURN(const int64_t k, ScalarInteger(*c.value(1), "k"));
  if (k < 0) return InvalidArgument("k must not be negative, but is ", k);
  return SetShapes(c, k);
}

absl::Status TopKShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t k, c.attrs().Int("k"));
  if (k < 0) return InvalidArgument("k must not be negative, but is ", k);
  return SetShapes(c, k);
}

// The first k of `order` become its first elements by `before`, as TensorFlow's heap leaves them:
// the element that is to go next is in front.
template <typename E, typename Before>
void SelectByHeap(std::vector<E>& order, int64_t k, Before before) {
  const auto begin = order.begin(), end = begin + k;
  std::make_heap(begin, end + 1, before);
  std::pop_heap(begin, end + 1, before);
  for (auto next = end + 1; next != order.end(); ++next) {
    if (!before(*next, *begin)) continue;
    std::pop_heap(begin, end, before);
    *(end - 1) = *next;
    std::push_heap(begin, end, before);
  }
}

// A number that is lower for larger elements, and 0 for NaN, which counts as larger than all.
template <typename T>
uint32_t DescendingKey(T element) {
  constexpr uint32_t kSign = uint32_t{1} << 31;
  if constexpr (std::is_integral_v<T>) {
    const auto wide = static_cast<uint32_t>(element);
    return ~(std::is_signed_v<T> ? wide ^ kSign : wide);
  } else {
    const float value = ToCompute(element);
    if (value != value) return 0;
    const auto bits = std::bit_cast<uint32_t>(value == 0 ? 0.0f : value);
    return ~(bits & kSign ? ~bits : bits | kSign);
  }
}

// The order of a row's elements.
template <typename T>
class RowSelector {
 public:
  RowSelector(int64_t n, int64_t k, bool by_heap)
      : k_(k),
        by_heap_(by_heap),
        packs_(kPacks && n <= int64_t{std::numeric_limits<uint32_t>::max()}),
        few_(packs_ && !by_heap && k > 0 && k <= kFew && kLongRow * k <= n),
        n_(static_cast<size_t>(n)),
        order_(packs_ ? 0 : n_),
        keys_(static_cast<size_t>(few_     ? k
                                  : packs_ ? n
                                           : 0)) {}

  // take(i, index of the row's element that is result i)
  template <typename Take>
  void Select(const T* x, Take take) {
    if constexpr (kPacks) {
      if (few_ && k_ == 1) return SelectFirst(x, take);
      if (few_) return SelectFew(x, take);
      if (packs_) return SelectPacked(x, take);
    }
    std::iota(order_.begin(), order_.end(), 0);
    Sort(order_, [x](int64_t a, int64_t b) {
      const auto va = ToCompute(x[a]), vb = ToCompute(x[b]);
      if (va > vb) return true;
      if (va < vb) return false;
      const bool na = va != va, nb = vb != vb;
      return na != nb ? na : a < b;
    });
    for (int64_t i = 0; i < k_; ++i) take(i, order_[static_cast<size_t>(i)]);
  }

 private:
  // Whether an element and its index fit a key.
  static constexpr bool kPacks = sizeof(T) <= sizeof(uint32_t);
  // A heap serves for so few results, of a row this many times as long.
  static constexpr int64_t kFew = 128, kLongRow = 4;

  // An element with its index: lower keys come first in the result.
  static uint64_t KeyOf(const T* x, size_t i) { return uint64_t{DescendingKey(x[i])} << 32 | i; }

  template <typename Take>
  void SelectFirst(const T* x, Take take) const {
    auto best = ToCompute(x[0]);
    size_t at = 0;
    for (size_t i = 1; i < n_ && best == best; ++i) {  // NaN counts as larger than all
      const auto value = ToCompute(x[i]);
      if (value <= best) continue;
      best = value;
      at = i;
    }
    take(0, static_cast<int64_t>(at));
  }

  // Keeps the best elements so far, the worst of them in front. Most of the others are not better
  // than that, which a loop over some elements at a time finds out.
  template <typename Take>
  void SelectFew(const T* x, Take take) {
    constexpr size_t kTogether = 32;
    const size_t k = keys_.size();
    for (size_t i = 0; i < k; ++i) keys_[i] = KeyOf(x, i);
    std::make_heap(keys_.begin(), keys_.end());
    for (size_t i = k; i < n_;) {
      const size_t end = std::min(i + kTogether, n_);
      const auto worst = ToCompute(x[static_cast<uint32_t>(keys_.front())]);
      int better = 0;
      for (size_t j = i; j < end; ++j) better |= ToCompute(x[j]) <= worst ? 0 : 1;
      for (; better != 0 && i < end; ++i) {
        const uint64_t key = KeyOf(x, i);
        if (key > keys_.front()) continue;
        std::pop_heap(keys_.begin(), keys_.end());
        keys_.back() = key;
        std::push_heap(keys_.begin(), keys_.end());
      }
      i = end;
    }
    std::sort_heap(keys_.begin(), keys_.end());
    TakeKeys(take);
  }

  // Sorts the elements with their indices, which is faster than indices alone.
  template <typename Take>
  void SelectPacked(const T* x, Take take) {
    for (size_t i = 0; i < n_; ++i) keys_[i] = KeyOf(x, i);
    Sort(keys_, std::less<uint64_t>());
    TakeKeys(take);
  }

  template <typename Take>
  void TakeKeys(Take take) const {
    for (int64_t i = 0; i < k_; ++i) {
      take(i, static_cast<int64_t>(static_cast<uint32_t>(keys_[static_cast<size_t>(i)])));
    }
  }

  template <typename E, typename Before>
  void Sort(std::vector<E>& elements, Before before) const {
    if (by_heap_) return SelectByHeap(elements, k_, before);
    const auto end = elements.begin() + k_;
    if (2 * k_ < static_cast<int64_t>(elements.size())) {
      std::partial_sort(elements.begin(), end, elements.end(), before);
    } else {
      std::sort(elements.begin(), elements.end(), before);
    }
  }

  const int64_t k_;
  const bool by_heap_, packs_, few_;
  const size_t n_;
  std::vector<int64_t> order_;
  std::vector<uint64_t> keys_;
};

absl::StatusOr<std::unique_ptr<Kernel>> TopK(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, TopK, {1});
  if (p.num_inputs() > 1) p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  const int64_t n = in.dim(in.rank() - 1);
  const int64_t k = p.output_shape(0).dim(in.rank() - 1);
  const int64_t rows = Product(in, 0, in.rank() - 1);
  const int threads = p.services().threads;
  const bool by_heap = !p.attrs().Bool("sorted", true) && k > 0 && k < n;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return DispatchType(
        TypeList<int16_t, int32_t, int64_t>{}, p.output_dtype(1), [&]<typename I>() {
          return MakeKernel([n, k, rows, by_heap, threads](RunContext& run) {
            const double ns = 5.0 * static_cast<double>(n);
            ParallelFor(threads, rows, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
              RowSelector<T> selector(n, k, by_heap);
              for (int64_t r = begin; r < end; ++r) {
                const T* const x = run.input<T>(0) + r * n;
                T* const values = run.output<T>(0) + r * k;
                I* const indices = run.output<I>(1) + r * k;
                selector.Select(x, [&](int64_t i, int64_t from) {
                  values[i] = x[from];
                  indices[i] = static_cast<I>(from);
                });
              }
            });
            return absl::OkStatus();
          });
        });
  });
}

const OpRegistration top_k_v2({
    .name = "TopKV2",
    .inputs = "input: T, k: Tk",
    .outputs = "values: T, indices: index_type",
    .attrs = "sorted: bool = true; T: type; Tk: type = int32; index_type: type = int32",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tk: int16 int32 int64; index_type: int16 int32 int64",
    .shape = TopKV2Shape,
    .reference = TopK,
    .batch_axis = batch_axis::WithinLastAxis,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration top_k({
    .name = "TopK",
    .inputs = "input: T",
    .outputs = "values: T, indices: int32",
    .attrs = "k: int; sorted: bool = true; T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = TopKShape,
    .reference = TopK,
});

}  // namespace
}  // namespace tenon

#include "kernels/layout/unique.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Slices along `axis` of a tensor seen as [outer, n, inner].
struct Slices {
  int64_t outer = 1;
  int64_t n = 0;
  int64_t inner = 1;
};

template <typename T>
size_t Mix(size_t hash, const T& v) {
  if constexpr (kIsSmallFloat<T>) {
    return absl::HashOf(hash, static_cast<float>(v));
  } else if constexpr (kIsComplex<T>) {
    return absl::HashOf(hash, v.real(), v.imag());
  } else {
    return absl::HashOf(hash, v);
  }
}

template <typename T>
std::vector<size_t> HashSlices(const void* data, const Slices& s) {
  std::vector<size_t> hashes(static_cast<size_t>(s.n), 0);
  const T* v = static_cast<const T*>(data);
  for (int64_t o = 0; o < s.outer; ++o) {
    for (size_t& hash : hashes) {
      for (int64_t i = 0; i < s.inner; ++i) hash = Mix(hash, *v++);
    }
  }
  return hashes;
}

template <typename T>
bool EqualSlices(const void* data, const Slices& s, int64_t a, int64_t b) {
  for (int64_t o = 0; o < s.outer; ++o) {
    const T* x = static_cast<const T*>(data) + (o * s.n + a) * s.inner;
    const T* y = static_cast<const T*>(data) + (o * s.n + b) * s.inner;
    if (!std::equal(x, x + s.inner, y)) return false;
  }
  return true;
}

// Numbers that are equal where the elements are, or false: some element is a NaN.
template <typename T>
bool ReadKeys(const void* data, int64_t n, uint64_t* keys) {
  const T* v = static_cast<const T*>(data);
  for (int64_t i = 0; i < n; ++i) {
    const T x = v[i];
    uint64_t& key = keys[i];
    if (!(x == x)) return false;
    if constexpr (kIsInt<T>) {
      key = x;
    } else {
      const T no_sign = x == T(0) ? T(0) : x;  // -0 equals 0
      key = 0;
      std::memcpy(&key, &no_sign, sizeof(T));
    }
  }
  return true;
}

struct SliceFns {
  decltype(&HashSlices<float>) hash;
  decltype(&EqualSlices<float>) equal;
  decltype(&ReadKeys<float>) keys = nullptr;  // null: strings and complex numbers
};

// Integers and bools are equal if their bytes are; NaN equals nothing.
absl::StatusOr<SliceFns> SliceFnsOf(DType dtype) {
  if (IsInteger(dtype) || dtype == DType::kBool) {
    const DType by_size[] = {DType::kUint8, DType::kUint16, DType::kInvalid, DType::kUint32};
    const size_t size = SizeOf(dtype);
    dtype = size == 8 ? DType::kUint64 : by_size[size - 1];
  }
  return DispatchType(Joined<FloatsAndComplexes, Joined<UnsignedInts, TypeList<std::string>>>{},
                      dtype, []<typename T>() -> absl::StatusOr<SliceFns> {
                        SliceFns fns{HashSlices<T>, EqualSlices<T>};
                        if constexpr (kIsFloat<T> || kIsInt<T>) {
                          fns.keys = ReadKeys<T>;
                        }
                        return fns;
                      });
}

struct SliceHash {
  const size_t* hashes;
  size_t operator()(int64_t k) const { return hashes[k]; }
};

struct SliceEqual {
  decltype(SliceFns::equal) equal;
  const void* data;
  Slices s;
  bool operator()(int64_t a, int64_t b) const { return equal(data, s, a, b); }
};

// The positions of the distinct slices, their counts, and the index of each slice among them.
struct Groups {
  int64_t count = 0;
  int64_t *first = nullptr, *counts = nullptr;  // [count]
  int64_t* which = nullptr;                     // one for each slice
};

// Memory in which n slices are grouped: the kernel's scratch memory, or of its own if there are
// many.
class GroupMemory {
 public:
  static size_t ScratchBytes(int64_t n) { return n > kMostInScratch ? 0 : Bytes(n); }
  GroupMemory(int64_t n, void* scratch) : n_(static_cast<size_t>(n)), memory_(scratch) {
    if (n <= kMostInScratch) return;
    own_.reset(new char[Bytes(n)]);
    memory_ = own_.get();
  }

  Groups groups() const {
    int64_t* const all = static_cast<int64_t*>(memory_);
    return {0, all, all + n_, all + 2 * n_};
  }
  // Of slices that are numbers. Distinct ones come first when they are grouped.
  uint64_t* keys() const { return static_cast<uint64_t*>(memory_) + 3 * n_; }
  // Numbers of groups plus 1, 0: free; a power of two.
  absl::Span<uint32_t> slots() const {
    return {reinterpret_cast<uint32_t*>(keys() + n_), Slots(n_)};
  }

 private:
  static constexpr int64_t kMostInScratch = 1 << 17;
  static size_t Slots(size_t n) { return std::bit_ceil(n + n / 2 + 1); }
  static size_t Bytes(int64_t n) {
    const auto size = static_cast<size_t>(n);
    return 4 * size * sizeof(uint64_t) + Slots(size) * sizeof(uint32_t);
  }

  const size_t n_;
  void* memory_;
  std::unique_ptr<char[]> own_;
};

// number(k): the number of slice k's group, which is new if it is the count of those before.
template <typename Number>
Groups GroupBy(int64_t n, Groups g, Number number) {
  for (int64_t k = 0; k < n; ++k) {
    const int64_t group = number(k);
    if (group == g.count) {
      g.first[group] = k;
      g.counts[group] = 0;
      ++g.count;
    }
    ++g.counts[group];
    g.which[k] = group;
  }
  return g;
}

// Groups keys by a hash table of the numbers of their groups.
Groups GroupKeys(int64_t n, const GroupMemory& memory) {
  uint64_t* const keys = memory.keys();
  const absl::Span<uint32_t> slots = memory.slots();
  const size_t last = slots.size() - 1;
  std::fill(slots.begin(), slots.end(), 0);
  uint32_t count = 0;
  return GroupBy(n, memory.groups(), [&](int64_t k) -> int64_t {
    const uint64_t key = keys[k];
    size_t at = absl::Hash<uint64_t>()(key) & last;
    while (slots[at] > 0 && keys[slots[at] - 1] != key) at = (at + 1) & last;
    if (slots[at] == 0) {
      keys[count] = key;  // no later key is there
      slots[at] = ++count;
    }
    return slots[at] - 1;
  });
}

Groups FindGroups(const SliceFns& fns, const void* data, const Slices& s,
                  const GroupMemory& memory) {
  if (s.outer == 1 && s.inner == 1 && fns.keys != nullptr &&
      s.n < std::numeric_limits<uint32_t>::max() && fns.keys(data, s.n, memory.keys())) {
    return GroupKeys(s.n, memory);
  }
  const std::vector<size_t> hashes = fns.hash(data, s);
  HashMap<int64_t, int64_t, SliceHash, SliceEqual> seen(0, SliceHash{hashes.data()},
                                                        SliceEqual{fns.equal, data, s});
  return GroupBy(s.n, memory.groups(), [&](int64_t k) {
    return seen.try_emplace(k, static_cast<int64_t>(seen.size())).first->second;
  });
}

void StoreIntegers(const int64_t* values, int64_t n, DType dtype, void* to) {
  VisitTypes(TypeList<int32_t, int64_t>{}, dtype, [&]<typename I>() {
    std::transform(values, values + n, static_cast<I*>(to),
                   [](int64_t v) { return static_cast<I>(v); });
  });
}

}  // namespace

absl::StatusOr<int> UniqueAxis(const Shape& x, const Tensor* axis) {
  if (axis == nullptr || axis->num_elements() == 0) {
    if (x.rank() != 1) {
      return InvalidArgument("unique expects a vector, but x has shape ", x.ToString());
    }
    return 0;
  }
  if (axis->shape().rank() != 1) {
    return InvalidArgument("axis must be a vector, but has shape ", axis->shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*axis, "axis"));
  return NormalizeAxis(value, x.rank());
}

absl::StatusOr<std::unique_ptr<Kernel>> UniqueKernel(PrepareContext& p) {
  const Shape x = p.input_shape(0);
  const Tensor* axis_value = nullptr;
  if (p.num_inputs() > 1) {
    axis_value = p.value(1);
    if (axis_value == nullptr) return PrepareLate(p, UniqueKernel, {1});
    p.InputNotRead(1);
  }
  TENON_ASSIGN_OR_RETURN(const int axis, UniqueAxis(x, axis_value));
  const Slices s{Product(x, 0, axis), x.dim(axis), Product(x, axis + 1, x.rank())};
  const DType index = p.output_dtype(1);
  const bool counted = p.num_outputs() > 2;
  const DType dtype = p.input_dtype(0);
  TENON_ASSIGN_OR_RETURN(const SliceFns fns, SliceFnsOf(dtype));
  p.RequestScratch(GroupMemory::ScratchBytes(s.n));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const GroupMemory group_memory(s.n, run.scratch());
    const Groups g = FindGroups(fns, run.input(0), s, group_memory);
    Shape shape = x;
    shape.set_dim(axis, g.count);
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
    VisitStorage(dtype, [&]<typename T>() {
      const T* data = run.input<T>(0);
      T* y = static_cast<T*>(memory);
      for (int64_t o = 0; o < s.outer; ++o) {
        for (int64_t i = 0; i < g.count; ++i) {
          y = std::copy_n(data + (o * s.n + g.first[i]) * s.inner, s.inner, y);
        }
      }
    });
    StoreIntegers(g.which, s.n, index, run.output(1));
    if (counted) {
      TENON_ASSIGN_OR_RETURN(void* counts, run.AllocateOutput(2, Shape({g.count})));
      StoreIntegers(g.counts, g.count, index, counts);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ListDiffKernel(PrepareContext& p) {
  const int64_t nx = p.input_shape(0).num_elements(), ny = p.input_shape(1).num_elements();
  const DType dtype = p.input_dtype(0), index = p.output_dtype(1);
  TENON_ASSIGN_OR_RETURN(const SliceFns fns, SliceFnsOf(dtype));
  p.RequestScratch(GroupMemory::ScratchBytes(nx + ny));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const GroupMemory group_memory(nx + ny, run.scratch());
    // Groups of the concatenated list, y before x: slices that first appear in x are not in y.
    Groups g;
    VisitStorage(dtype, [&]<typename T>() {
      std::vector<T> all(run.input<T>(1), run.input<T>(1) + ny);
      all.insert(all.end(), run.input<T>(0), run.input<T>(0) + nx);
      g = FindGroups(fns, all.data(), {1, nx + ny, 1}, group_memory);
    });
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < nx; ++i) {
      if (g.first[g.which[ny + i]] >= ny) kept.push_back(i);
    }
    const Shape shape({std::ssize(kept)});
    TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(0, shape));
    TENON_ASSIGN_OR_RETURN(void* positions, run.AllocateOutput(1, shape));
    VisitStorage(dtype, [&]<typename T>() {
      T* out = static_cast<T*>(values);
      for (int64_t i : kept) *out++ = run.input<T>(0)[i];
    });
    StoreIntegers(kept.data(), std::ssize(kept), index, positions);
    return absl::OkStatus();
  });
}

}  // namespace tenon

#include "kernels/layout/unique.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/hash/hash.h"
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
bool ReadKeys(const void* data, std::vector<uint64_t>& keys) {
  const T* v = static_cast<const T*>(data);
  for (uint64_t& key : keys) {
    const T x = *v++;
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
  std::vector<int64_t> first;
  std::vector<int64_t> counts;
  std::vector<int64_t> which;
};

// key(k): the key of slice k in `seen`, a map to the number of its group.
template <typename Map, typename Key>
Groups GroupBy(int64_t n, Map seen, Key key) {
  Groups g;
  g.which.reserve(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const auto [it, is_new] = seen.try_emplace(key(k), std::ssize(g.first));
    if (is_new) {
      g.first.push_back(k);
      g.counts.push_back(0);
    }
    ++g.counts[static_cast<size_t>(it->second)];
    g.which.push_back(it->second);
  }
  return g;
}

Groups FindGroups(const SliceFns& fns, const void* data, const Slices& s) {
  if (s.outer == 1 && s.inner == 1 && fns.keys != nullptr) {
    std::vector<uint64_t> keys(static_cast<size_t>(s.n));
    if (fns.keys(data, keys)) {
      return GroupBy(s.n, HashMap<uint64_t, int64_t>(),
                     [&](int64_t k) { return keys[static_cast<size_t>(k)]; });
    }
  }
  const std::vector<size_t> hashes = fns.hash(data, s);
  return GroupBy(s.n,
                 HashMap<int64_t, int64_t, SliceHash, SliceEqual>(0, SliceHash{hashes.data()},
                                                                  SliceEqual{fns.equal, data, s}),
                 [](int64_t k) { return k; });
}

void StoreIntegers(const std::vector<int64_t>& values, DType dtype, void* to) {
  VisitTypes(TypeList<int32_t, int64_t>{}, dtype, [&]<typename I>() {
    std::transform(values.begin(), values.end(), static_cast<I*>(to),
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
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Groups g = FindGroups(fns, run.input(0), s);
    Shape shape = x;
    const int64_t count = std::ssize(g.first);
    shape.set_dim(axis, count);
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
    VisitStorage(dtype, [&]<typename T>() {
      const T* data = run.input<T>(0);
      T* y = static_cast<T*>(memory);
      for (int64_t o = 0; o < s.outer; ++o) {
        for (int64_t k : g.first) y = std::copy_n(data + (o * s.n + k) * s.inner, s.inner, y);
      }
    });
    StoreIntegers(g.which, index, run.output(1));
    if (counted) {
      TENON_ASSIGN_OR_RETURN(void* counts, run.AllocateOutput(2, Shape({count})));
      StoreIntegers(g.counts, index, counts);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ListDiffKernel(PrepareContext& p) {
  const int64_t nx = p.input_shape(0).num_elements(), ny = p.input_shape(1).num_elements();
  const DType dtype = p.input_dtype(0), index = p.output_dtype(1);
  TENON_ASSIGN_OR_RETURN(const SliceFns fns, SliceFnsOf(dtype));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    // Groups of the concatenated list, y before x: slices that first appear in x are not in y.
    Groups g;
    VisitStorage(dtype, [&]<typename T>() {
      std::vector<T> all(run.input<T>(1), run.input<T>(1) + ny);
      all.insert(all.end(), run.input<T>(0), run.input<T>(0) + nx);
      g = FindGroups(fns, all.data(), {1, nx + ny, 1});
    });
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < nx; ++i) {
      const int64_t group = g.which[static_cast<size_t>(ny + i)];
      if (g.first[static_cast<size_t>(group)] >= ny) kept.push_back(i);
    }
    const Shape shape({std::ssize(kept)});
    TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(0, shape));
    TENON_ASSIGN_OR_RETURN(void* positions, run.AllocateOutput(1, shape));
    VisitStorage(dtype, [&]<typename T>() {
      T* out = static_cast<T*>(values);
      for (int64_t i : kept) *out++ = run.input<T>(0)[i];
    });
    StoreIntegers(kept, index, positions);
    return absl::OkStatus();
  });
}

}  // namespace tenon

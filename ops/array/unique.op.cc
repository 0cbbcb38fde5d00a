// Unique, UniqueV2, UniqueWithCounts, UniqueWithCountsV2: the different slices of a tensor in order
// of first appearance, which of them each slice is, and how often each appears. ListDiff: elements
// of one vector that another lacks.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Integers and bools are equal where their bytes are; NaN equals nothing.
using Keys = TypeList<uint8_t, uint16_t, uint32_t, uint64_t, float, double, half, bfloat16,
                      complex64, complex128, std::string>;

template <typename F>
auto DispatchKeys(DType dtype, F&& f) {
  if (!IsInteger(dtype) && dtype != DType::kBool) return DispatchType(Keys{}, dtype, f);
  const DType by_size[] = {DType::kUint8, DType::kUint16, DType::kInvalid, DType::kUint32};
  const size_t size = SizeOf(dtype);
  return DispatchType(Keys{}, size == 8 ? DType::kUint64 : by_size[size - 1], f);
}

// Slices along `axis` of a tensor seen as [outer, n, inner].
struct Slices {
  int64_t outer = 1;
  int64_t n = 0;
  int64_t inner = 1;
};

template <typename T>
struct SliceHash {
  const T* data;
  Slices s;
  size_t operator()(int64_t k) const {
    size_t hash = 0;
    for (int64_t o = 0; o < s.outer; ++o) {
      const T* row = data + (o * s.n + k) * s.inner;
      for (int64_t i = 0; i < s.inner; ++i) hash = Mix(hash, row[i]);
    }
    return hash;
  }
  static size_t Mix(size_t hash, const T& v) {
    if constexpr (kIsSmallFloat<T>) {
      return absl::HashOf(hash, static_cast<float>(v));
    } else if constexpr (kIsComplex<T>) {
      return absl::HashOf(hash, v.real(), v.imag());
    } else {
      return absl::HashOf(hash, v);
    }
  }
};

template <typename T>
struct SliceEqual {
  const T* data;
  Slices s;
  bool operator()(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < s.outer; ++o) {
      const T* x = data + (o * s.n + a) * s.inner;
      const T* y = data + (o * s.n + b) * s.inner;
      if (!std::equal(x, x + s.inner, y)) return false;
    }
    return true;
  }
};

// The axis input: empty for vectors, or one axis.
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

absl::Status UniqueShape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (c.num_inputs() > 1) TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  if (!x.has_rank()) return absl::OkStatus();
  if (c.num_inputs() > 1 && c.value(1) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(x.rank()));
    c.set_output(1, Shape({-1}));
  } else {
    TENON_ASSIGN_OR_RETURN(const int axis,
                           UniqueAxis(x, c.num_inputs() > 1 ? c.value(1) : nullptr));
    Shape y = x;
    y.set_dim(axis, -1);
    c.set_output(0, std::move(y));
    c.set_output(1, Shape({x.dim(axis)}));
  }
  if (c.num_outputs() > 2) c.set_output(2, Shape({-1}));
  return absl::OkStatus();
}

// The distinct slices' positions, their counts, and for each slice which it is.
struct Groups {
  std::vector<int64_t> first;
  std::vector<int64_t> counts;
  std::vector<int64_t> which;
};

template <typename T>
Groups FindGroups(const T* data, const Slices& s) {
  Groups g;
  absl::flat_hash_map<int64_t, int64_t, SliceHash<T>, SliceEqual<T>> seen(0, SliceHash<T>{data, s},
                                                                          SliceEqual<T>{data, s});
  g.which.reserve(static_cast<size_t>(s.n));
  for (int64_t k = 0; k < s.n; ++k) {
    const auto [it, is_new] = seen.try_emplace(k, static_cast<int64_t>(g.first.size()));
    if (is_new) {
      g.first.push_back(k);
      g.counts.push_back(0);
    }
    ++g.counts[static_cast<size_t>(it->second)];
    g.which.push_back(it->second);
  }
  return g;
}

void StoreIntegers(const std::vector<int64_t>& values, DType dtype, void* to) {
  VisitTypes(TypeList<int32_t, int64_t>{}, dtype, [&]<typename I>() {
    std::transform(values.begin(), values.end(), static_cast<I*>(to),
                   [](int64_t v) { return static_cast<I>(v); });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Unique(PrepareContext& p) {
  const Shape x = p.input_shape(0);
  const Tensor* axis_value = nullptr;
  if (p.num_inputs() > 1) {
    axis_value = p.value(1);
    if (axis_value == nullptr) return PrepareLate(p, Unique, {1});
    p.InputNotRead(1);
  }
  TENON_ASSIGN_OR_RETURN(const int axis, UniqueAxis(x, axis_value));
  const Slices s{Product(x, 0, axis), x.dim(axis), Product(x, axis + 1, x.rank())};
  const DType index = p.output_dtype(1);
  const bool counted = p.num_outputs() > 2;
  return DispatchKeys(p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const T* data = run.input<T>(0);
      const Groups g = FindGroups(data, s);
      Shape shape = x;
      const int64_t count = static_cast<int64_t>(g.first.size());
      shape.set_dim(axis, count);
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
      T* y = static_cast<T*>(memory);
      for (int64_t o = 0; o < s.outer; ++o) {
        for (int64_t k : g.first) y = std::copy_n(data + (o * s.n + k) * s.inner, s.inner, y);
      }
      StoreIntegers(g.which, index, run.output(1));
      if (counted) {
        TENON_ASSIGN_OR_RETURN(void* counts, run.AllocateOutput(2, Shape({count})));
        StoreIntegers(g.counts, index, counts);
      }
      return absl::OkStatus();
    });
  });
}

absl::Status ListDiffShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  c.set_output(0, Shape({-1}));
  c.set_output(1, Shape({-1}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ListDiff(PrepareContext& p) {
  const int64_t nx = p.input_shape(0).num_elements(), ny = p.input_shape(1).num_elements();
  const DType index = p.output_dtype(1);
  return DispatchKeys(p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      // Positions in y, then in x, of one joined list.
      std::vector<T> all(run.input<T>(1), run.input<T>(1) + ny);
      all.insert(all.end(), run.input<T>(0), run.input<T>(0) + nx);
      const Slices s{1, nx + ny, 1};
      absl::flat_hash_set<int64_t, SliceHash<T>, SliceEqual<T>> known(
          0, SliceHash<T>{all.data(), s}, SliceEqual<T>{all.data(), s});
      for (int64_t i = 0; i < ny; ++i) known.insert(i);
      std::vector<int64_t> kept;
      for (int64_t i = 0; i < nx; ++i) {
        if (!known.contains(ny + i)) kept.push_back(i);
      }
      const Shape shape({static_cast<int64_t>(kept.size())});
      TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(0, shape));
      TENON_ASSIGN_OR_RETURN(void* positions, run.AllocateOutput(1, shape));
      T* out = static_cast<T*>(values);
      for (int64_t i : kept) *out++ = run.input<T>(0)[i];
      StoreIntegers(kept, index, positions);
      return absl::OkStatus();
    });
  });
}

const OpRegistration unique_op({
    .name = "Unique",
    .inputs = "x: T",
    .outputs = "y: T, idx: out_idx",
    .attrs = "T: type; out_idx: type = int32",
    .types = "out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = Unique,
});

const OpRegistration unique_v2_op({
    .name = "UniqueV2",
    .inputs = "x: T, axis: Taxis",
    .outputs = "y: T, idx: out_idx",
    .attrs = "T: type; Taxis: type = int64; out_idx: type = int32",
    .types = "Taxis: int32 int64; out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = Unique,
});

const OpRegistration unique_with_counts_op({
    .name = "UniqueWithCounts",
    .inputs = "x: T",
    .outputs = "y: T, idx: out_idx, count: out_idx",
    .attrs = "T: type; out_idx: type = int32",
    .types = "out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = Unique,
});

const OpRegistration unique_with_counts_v2_op({
    .name = "UniqueWithCountsV2",
    .inputs = "x: T, axis: Taxis",
    .outputs = "y: T, idx: out_idx, count: out_idx",
    .attrs = "T: type; Taxis: type = int64; out_idx: type = int32",
    .types = "Taxis: int32 int64; out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = Unique,
});

const OpRegistration list_diff_op({
    .name = "ListDiff",
    .inputs = "x: T, y: T",
    .outputs = "out: T, idx: out_idx",
    .attrs = "T: type; out_idx: type = int32",
    .types = "out_idx: int32 int64",
    .shape = ListDiffShape,
    .reference = ListDiff,
});

}  // namespace
}  // namespace tenon

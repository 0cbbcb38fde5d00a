#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "kernels/contraction/reference_product.h"
#include "kernels/contraction/reference_types.h"
#include "kernels/interface/float_to_int.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/matmul/dense_product.h"
#include "kernels/matmul/product.h"

namespace tenon {
namespace {

struct Axis {
  int64_t extent;
  int64_t stride;  // 0: broadcast
};
using Axes = absl::InlinedVector<Axis, 8>;

int64_t NumElements(const Axes& axes) {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.extent;
  return n;
}

bool IsDense(const Axes& axes) {
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].extent == 1) continue;
    if (axes[i].stride != stride) return false;
    stride *= axes[i].extent;
  }
  return true;
}

// Calls f(offset) for each index of `axes` in row-major order.
template <typename F>
void ForEachOffset(const Axes& axes, F f) {
  const int64_t n = NumElements(axes);
  absl::InlinedVector<int64_t, 8> index(axes.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < n; ++i) {
    f(offset);
    for (size_t d = axes.size(); d-- > 0;) {
      offset += axes[d].stride;
      if (++index[d] < axes[d].extent) break;
      offset -= axes[d].stride * axes[d].extent;
      index[d] = 0;
    }
  }
}

// Calls copy(i, offset) for each index of `axes`, where i counts them in row-major order. The last
// two axes are cut into squares, because one of them may be the one whose elements are far apart.
template <typename F>
void CopyMatrices(const Axes& axes, F copy) {
  constexpr int64_t kSide = 16;
  const Axis one{1, 0};
  const size_t rank = axes.size();
  const Axis columns = rank > 0 ? axes[rank - 1] : one, rows = rank > 1 ? axes[rank - 2] : one;
  const Axes outer(axes.begin(), axes.end() - static_cast<ptrdiff_t>(std::min<size_t>(rank, 2)));
  int64_t first = 0;
  ForEachOffset(outer, [&](int64_t base) {
    for (int64_t r0 = 0; r0 < rows.extent; r0 += kSide) {
      const int64_t end_row = std::min(r0 + kSide, rows.extent);
      for (int64_t c0 = 0; c0 < columns.extent; c0 += kSide) {
        const int64_t end_column = std::min(c0 + kSide, columns.extent);
        for (int64_t r = r0; r < end_row; ++r) {
          for (int64_t c = c0; c < end_column; ++c) {
            copy(first + r * columns.extent + c, base + r * rows.stride + c * columns.stride);
          }
        }
      }
    }
    first += rows.extent * columns.extent;
  });
}

// The axes of `labels` in `t`: a label on several dimensions follows their diagonal.
Axes AxesOf(const LabeledProduct& p, const LabeledTensor& t, const std::vector<int>& labels) {
  Axes axes;
  for (int label : labels) {
    Axis axis{p.extent(label), 0};
    for (const LabeledTensor::Dim& d : t.dims) {
      if (d.label == label && (d.extent != 1 || axis.extent == 1)) axis.stride += d.stride;
    }
    axes.push_back(axis);
  }
  return axes;
}

// Integers are computed without signs, so that they wrap around.
template <typename C, typename T>
C Converted(T v) {
  if constexpr (std::is_integral_v<C> && kIsFloat<T>) {
    return static_cast<C>(FloatToInt<std::make_signed_t<C>>(ToCompute(v)));
  } else {
    return static_cast<C>(v);
  }
}

template <typename C>
C Conjugate(C v, bool conjugate) {
  if constexpr (kIsComplex<C>) {
    return conjugate ? std::conj(v) : v;
  } else {
    return v;
  }
}

// An operand as a dense array of C over `keep`, summed over `sum`. Points into the operand itself
// if that is already dense.
template <typename C>
using GatherFn = const C* (*)(const void* data, const Axes& keep, const Axes& sum, bool conjugate,
                              std::vector<C>& storage);

template <typename T, typename C>
const C* Gather(const void* operand, const Axes& keep, const Axes& sum, bool conjugate,
                std::vector<C>& storage) {
  const T* const data = static_cast<const T*>(operand);
  if constexpr (std::is_same_v<T, C>) {
    if (sum.empty() && IsDense(keep) && !(conjugate && kIsComplex<C>)) {
      return data;
    }
  } else if constexpr (sizeof(T) == sizeof(C) && std::is_integral_v<T>) {
    if (sum.empty() && IsDense(keep)) return reinterpret_cast<const C*>(data);
  }
  if (sum.empty()) {
    storage.resize(static_cast<size_t>(NumElements(keep)));
    CopyMatrices(keep, [&, to = storage.data()](int64_t i, int64_t offset) {
      to[i] = Conjugate(Converted<C>(data[offset]), conjugate);
    });
    return storage.data();
  }
  storage.reserve(static_cast<size_t>(NumElements(keep)));
  ForEachOffset(keep, [&](int64_t base) {
    C total(0);
    ForEachOffset(sum, [&](int64_t offset) {
      total += Conjugate(Converted<C>(data[base + offset]), conjugate);
    });
    storage.push_back(total);
  });
  return storage.data();
}

// A result computed in C, as an output with `elements` elements, of which `axes` are set.
template <typename C>
struct Destination {
  void (*store)(const C* result, const Axes& axes, int64_t elements, void* out);
  bool same_bytes;  // if so, a dense output can hold the result itself
};

template <typename C, typename T>
void Store(const C* result, const Axes& axes, int64_t elements, void* out) {
  T* const y = static_cast<T*>(out);
  // A repeated label in the output: zeros off the diagonal.
  if (elements != NumElements(axes)) std::fill(y, y + elements, T(0));
  ForEachOffset(axes, [&](int64_t offset) { y[offset] = static_cast<T>(*result++); });
}

template <typename C, typename T>
Destination<C> DestinationOf() {
  return {&Store<C, T>, sizeof(C) == sizeof(T)};
}

// Labels by the tensors in which they appear.
struct LabelGroups {
  std::vector<int> batch, rows, columns, contracted, only_a, only_b;
};

LabelGroups Classify(const LabeledProduct& p) {
  LabelGroups g;
  std::vector<int> seen;
  auto visit = [&](const LabeledTensor& t) {
    for (const LabeledTensor::Dim& d : t.dims) {
      if (std::find(seen.begin(), seen.end(), d.label) != seen.end()) continue;
      seen.push_back(d.label);
      const bool out = p.out.Find(d.label) != nullptr;
      const bool a = p.a.Find(d.label) != nullptr;
      const bool b = p.has_b && p.b.Find(d.label) != nullptr;
      if (out) {
        (a && b ? g.batch : a ? g.rows : g.columns).push_back(d.label);
      } else {
        (a && b ? g.contracted : a ? g.only_a : g.only_b).push_back(d.label);
      }
    }
  };
  visit(p.out);
  visit(p.a);
  if (p.has_b) visit(p.b);
  return g;
}

std::vector<int> Joined(std::vector<int> x, const std::vector<int>& y, const std::vector<int>& z) {
  x.insert(x.end(), y.begin(), y.end());
  x.insert(x.end(), z.begin(), z.end());
  return x;
}

template <typename C>
void BatchGemm(const C* a, const C* b, C* out, int64_t batch, int64_t m, int64_t n, int64_t k,
               ProductCode code, int threads) {
  if constexpr (std::is_same_v<C, double> || kIsComplex<C>) {
    // The vector code of complex numbers copies b.
    constexpr int64_t kLeastRows = kIsComplex<C> ? 4 : 1;
    if (code == ProductCode::kVectors && m >= kLeastRows) {
      return MultiplyDense({batch, m, n, k, threads}, a, b, out);
    }
  }
  if constexpr (std::is_same_v<C, uint32_t>) {
    return MultiplyDense({batch, m, n, k, threads}, a, b, out);
  }
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                      static_cast<double>(batch);
  const bool parallel = threads > 1 && work > 1e6;
  const int64_t parts = parallel && batch < threads ? std::min<int64_t>(threads, (m + 7) / 8) : 1;
  const int64_t rows = (m + parts - 1) / std::max<int64_t>(parts, 1);
  ParallelFor(parallel ? threads : 1, batch * parts, /*grain=*/1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i = task / parts, first = task % parts * rows;
      const int64_t count = std::min(rows, m - first);
      if (count <= 0) continue;
      ReferenceProduct(count, n, k, a + (i * m + first) * k, b + i * k * n, n,
                       out + (i * m + first) * n);
    }
  });
}

// One instantiation per computation type; operands and result are converted separately.
template <typename C>
void RunIn(const LabeledProduct& p, GatherFn<C> gather_a, GatherFn<C> gather_b,
           const Destination<C>& destination, const void* a, const void* b, void* out,
           ProductCode code, int threads) {
  const LabelGroups g = Classify(p);
  std::vector<C> a_storage, b_storage, out_storage;
  const C* const x = gather_a(a, AxesOf(p, p.a, Joined(g.batch, g.rows, g.contracted)),
                              AxesOf(p, p.a, g.only_a), p.a.conjugate, a_storage);
  const Axes out_axes = AxesOf(p, p.out, Joined(g.batch, g.rows, g.columns));

  const C* result = x;
  if (p.has_b) {
    const C* const w = gather_b(b, AxesOf(p, p.b, Joined(g.batch, g.contracted, g.columns)),
                                AxesOf(p, p.b, g.only_b), p.b.conjugate, b_storage);
    auto size = [&](const std::vector<int>& labels) {
      int64_t n = 1;
      for (int label : labels) n *= p.extent(label);
      return n;
    };
    const bool stored = destination.same_bytes && IsDense(out_axes);
    if (!stored) out_storage.resize(static_cast<size_t>(NumElements(out_axes)));
    C* const product = stored ? static_cast<C*>(out) : out_storage.data();
    BatchGemm(x, w, product, size(g.batch), size(g.rows), size(g.columns), size(g.contracted), code,
              threads);
    if (stored) return;
    result = product;
  }
  int64_t elements = 1;
  for (const LabeledTensor::Dim& d : p.out.dims) elements *= d.extent;
  destination.store(result, out_axes, elements, out);
}

template <typename C>
absl::Status MixedGather(DType dtype, GatherFn<C>& gather) {
  using Narrow = TypeList<int8_t, uint8_t, bfloat16, half, float>;
  return DispatchType(Narrow{}, dtype, [&]<typename T>() {
    gather = &Gather<T, C>;
    return absl::OkStatus();
  });
}

}  // namespace

LabeledTensor RowMajor(const std::vector<int>& labels, const Shape& shape) {
  LabeledTensor t;
  int64_t stride = 1;
  for (int i = shape.rank(); i-- > 0;) {
    t.dims.insert(t.dims.begin(), {labels[static_cast<size_t>(i)], shape[i], stride});
    stride *= shape[i];
  }
  return t;
}

int64_t LabeledProduct::extent(int label) const {
  int64_t extent = 1;
  for (const LabeledTensor* t : {&a, has_b ? &b : &a, &out}) {
    for (const LabeledTensor::Dim& d : t->dims) {
      if (d.label == label && d.extent != 1) extent = d.extent;
    }
  }
  return extent;
}

double LabeledProduct::flops() const {
  double n = 2;
  std::vector<int> seen;
  for (const LabeledTensor* t : {&a, has_b ? &b : &a}) {
    for (const LabeledTensor::Dim& d : t->dims) {
      if (std::find(seen.begin(), seen.end(), d.label) != seen.end()) continue;
      seen.push_back(d.label);
      n *= static_cast<double>(extent(d.label));
    }
  }
  return n;
}

absl::Status RunProductReference(const LabeledProduct& product, DType a_type, DType b_type,
                                 DType out_type, const void* a, const void* b, void* out,
                                 int threads, ProductCode code) {
  if (a_type == out_type && b_type == out_type) {
    return DispatchType(Numbers{}, out_type, [&]<typename T>() {
      using C = AccumulatorType<T>;
      RunIn<C>(product, &Gather<T, C>, &Gather<T, C>, DestinationOf<C, T>(), a, b, out, code,
               threads);
      return absl::OkStatus();
    });
  }
  // BatchMatMulV3 with bytes in and a wider type out.
  using Wide = TypeList<half, bfloat16, float, double, int16_t, int32_t, int64_t>;
  return DispatchType(Wide{}, out_type, [&]<typename T>() -> absl::Status {
    using C = AccumulatorType<T>;
    GatherFn<C> gather_a, gather_b;
    TENON_RETURN_IF_ERROR(MixedGather(a_type, gather_a));
    TENON_RETURN_IF_ERROR(MixedGather(b_type, gather_b));
    RunIn<C>(product, gather_a, gather_b, DestinationOf<C, T>(), a, b, out, code, threads);
    return absl::OkStatus();
  });
}

}  // namespace tenon

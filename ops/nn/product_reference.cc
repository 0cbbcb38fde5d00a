#include <Eigen/Dense>
#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "ops/nn/product.h"
#include "ops/nn/reference_types.h"

namespace tenon {
namespace {

template <typename C>
using Matrix = Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Axis {
  int64_t extent;
  int64_t stride;  // 0: broadcast
};
using Axes = absl::InlinedVector<Axis, 8>;

int64_t Elements(const Axes& axes) {
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
  const int64_t n = Elements(axes);
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

// The axes of `labels` in `t`: a label on several dimensions walks their diagonal.
Axes AxesOf(const Product& p, const Labelled& t, const std::vector<int>& labels) {
  Axes axes;
  for (int label : labels) {
    Axis axis{p.extent(label), 0};
    for (const Labelled::Dim& d : t.dims) {
      if (d.label == label && (d.extent != 1 || axis.extent == 1)) axis.stride += d.stride;
    }
    axes.push_back(axis);
  }
  return axes;
}

template <typename C>
C Conjugate(C v, bool conjugate) {
  if constexpr (Eigen::NumTraits<C>::IsComplex) {
    return conjugate ? std::conj(v) : v;
  } else {
    return v;
  }
}

// An operand as a dense array over `keep`, summed over `sum`. Points into the operand itself where
// that is dense already.
template <typename T, typename C>
const C* Gather(const T* data, const Axes& keep, const Axes& sum, bool conjugate,
                std::vector<C>& storage) {
  if constexpr (std::is_same_v<T, C>) {
    if (sum.empty() && IsDense(keep) && !(conjugate && Eigen::NumTraits<C>::IsComplex)) {
      return data;
    }
  } else if constexpr (sizeof(T) == sizeof(C) && std::is_integral_v<T>) {
    if (sum.empty() && IsDense(keep)) return reinterpret_cast<const C*>(data);
  }
  storage.reserve(static_cast<size_t>(Elements(keep)));
  ForEachOffset(keep, [&](int64_t base) {
    C total(0);
    ForEachOffset(sum, [&](int64_t offset) {
      total += Conjugate(static_cast<C>(data[base + offset]), conjugate);
    });
    storage.push_back(total);
  });
  return storage.data();
}

// Labels by where they stand.
struct LabelGroups {
  std::vector<int> batch, rows, columns, contracted, only_a, only_b;
};

LabelGroups Classify(const Product& p) {
  LabelGroups g;
  std::vector<int> seen;
  auto visit = [&](const Labelled& t) {
    for (const Labelled::Dim& d : t.dims) {
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
               int threads) {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                      static_cast<double>(batch);
  const bool parallel = threads > 1 && work > 1e6;
  const int64_t parts = parallel && batch < threads ? std::min<int64_t>(threads, (m + 7) / 8) : 1;
  const int64_t rows = (m + parts - 1) / std::max<int64_t>(parts, 1);
#pragma omp parallel for num_threads(threads) schedule(static) if (parallel)
  for (int64_t task = 0; task < batch * parts; ++task) {
    const int64_t i = task / parts, first = task % parts * rows;
    const int64_t count = std::min(rows, m - first);
    if (count <= 0) continue;
    const Eigen::Map<const Matrix<C>> x(a + (i * m + first) * k, count, k);
    const Eigen::Map<const Matrix<C>> y(b + i * k * n, k, n);
    Eigen::Map<Matrix<C>>(out + (i * m + first) * n, count, n).noalias() = x * y;
  }
}

template <typename Ta, typename Tb, typename To>
void RunTyped(const Product& p, const void* a, const void* b, void* out, int threads) {
  using C = ComputeType<To>;
  const LabelGroups g = Classify(p);
  std::vector<C> a_storage, b_storage, out_storage;
  const Axes a_axes = AxesOf(p, p.a, Joined(g.batch, g.rows, g.contracted));
  const C* const x = Gather<Ta, C>(static_cast<const Ta*>(a), a_axes, AxesOf(p, p.a, g.only_a),
                                   p.a.conjugate, a_storage);
  const Axes out_axes = AxesOf(p, p.out, Joined(g.batch, g.rows, g.columns));

  const C* result = x;
  To* const y = static_cast<To*>(out);
  bool stored = false;
  if (p.has_b) {
    const C* const w = Gather<Tb, C>(static_cast<const Tb*>(b),
                                     AxesOf(p, p.b, Joined(g.batch, g.contracted, g.columns)),
                                     AxesOf(p, p.b, g.only_b), p.b.conjugate, b_storage);
    C* product;
    if constexpr (sizeof(C) == sizeof(To) && !std::is_same_v<To, bfloat16> &&
                  !std::is_same_v<To, half>) {
      stored = IsDense(out_axes);
    }
    if (stored) {
      product = reinterpret_cast<C*>(y);
    } else {
      out_storage.resize(static_cast<size_t>(Elements(out_axes)));
      product = out_storage.data();
    }
    auto size = [&](const std::vector<int>& labels) {
      int64_t n = 1;
      for (int label : labels) n *= p.extent(label);
      return n;
    };
    BatchGemm(x, w, product, size(g.batch), size(g.rows), size(g.columns), size(g.contracted),
              threads);
    result = product;
  }
  if (stored) return;
  int64_t total = 1;
  for (const Labelled::Dim& d : p.out.dims) total *= d.extent;
  // A label twice in the output: zeros off the diagonal.
  if (total != Elements(out_axes)) std::fill(y, y + total, To(0));
  ForEachOffset(out_axes, [&](int64_t offset) { y[offset] = static_cast<To>(*result++); });
}

}  // namespace

Labelled RowMajor(const std::vector<int>& labels, const Shape& shape) {
  Labelled t;
  int64_t stride = 1;
  for (int i = shape.rank(); i-- > 0;) {
    t.dims.insert(t.dims.begin(), {labels[static_cast<size_t>(i)], shape[i], stride});
    stride *= shape[i];
  }
  return t;
}

int64_t Product::extent(int label) const {
  int64_t extent = 1;
  for (const Labelled* t : {&a, has_b ? &b : &a, &out}) {
    for (const Labelled::Dim& d : t->dims) {
      if (d.label == label && d.extent != 1) extent = d.extent;
    }
  }
  return extent;
}

double Product::flops() const {
  double n = 2;
  std::vector<int> seen;
  for (const Labelled* t : {&a, has_b ? &b : &a}) {
    for (const Labelled::Dim& d : t->dims) {
      if (std::find(seen.begin(), seen.end(), d.label) != seen.end()) continue;
      seen.push_back(d.label);
      n *= static_cast<double>(extent(d.label));
    }
  }
  return n;
}

absl::Status RunProductReference(const Product& product, DType a_type, DType b_type, DType out_type,
                                 const void* a, const void* b, void* out, int threads) {
  if (a_type == out_type && b_type == out_type) {
    return ForDType<half, bfloat16, float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t,
                    uint32_t, int64_t, uint64_t, std::complex<float>, std::complex<double>>(
        out_type, [&](auto t) -> absl::Status {
          using T = decltype(t);
          RunTyped<T, T, T>(product, a, b, out, threads);
          return absl::OkStatus();
        });
  }
  // BatchMatMulV3 with bytes in and something wider out.
  return ForDType<half, bfloat16, float, double, int16_t, int32_t, int64_t>(out_type, [&](auto to) {
    using To = decltype(to);
    return ForDType<int8_t, uint8_t, bfloat16, half, float>(a_type, [&](auto ta) {
      using Ta = decltype(ta);
      return ForDType<int8_t, uint8_t, bfloat16, half, float>(b_type, [&](auto tb) -> absl::Status {
        RunTyped<Ta, decltype(tb), To>(product, a, b, out, threads);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon

// The loops behind FindColumnLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/column_loops_simd.cc"
#include "kernels/simd/column_loops_simd.h"

#include <algorithm>
#include <complex>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/rotations_simd.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace column_loops {

// Complex numbers lie in vectors with their parts side by side.
template <typename S>
struct Parts {
  using Real = S;
  static constexpr size_t kCount = 1;
};
template <typename T>
struct Parts<std::complex<T>> {
  using Real = T;
  static constexpr size_t kCount = 2;
};
template <typename S>
constexpr size_t kParts = Parts<S>::kCount;
template <typename S>
using Real = typename Parts<S>::Real;
template <typename S>
using Tag = hn::CappedTag<Real<S>, kColumnBytes / sizeof(Real<S>)>;
template <typename S>
using V = hn::Vec<Tag<S>>;

// Columns that are processed together, so that vectors beside them are read once.
template <typename S>
constexpr size_t kTogether = 4 / kParts<S>;

template <typename S>
HWY_INLINE Real<S>* RealOf(S* p) {
  return reinterpret_cast<Real<S>*>(p);
}
template <typename S>
HWY_INLINE const Real<S>* RealOf(const S* p) {
  return reinterpret_cast<const Real<S>*>(p);
}

template <typename S>
HWY_INLINE V<S> LoadAt(const Real<S>* p) {
  return hn::LoadU(Tag<S>(), p);
}

HWY_INLINE float Times(float a, float b) { return a * b; }
HWY_INLINE double Times(double a, double b) { return a * b; }
HWY_INLINE std::complex<double> Times(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// -1, 1, -1, …
HWY_INLINE V<double> Alternating() {
  HWY_ALIGN static constexpr double kSigns[] = {-1, 1};
  return hn::LoadDup128(Tag<double>(), kSigns);
}

// A number by which vectors are multiplied.
template <typename S>
struct Factor {
  V<S> value;
  HWY_INLINE void Set(S f) { value = hn::Set(Tag<S>(), f); }
  // x times it, added to y.
  HWY_INLINE V<S> MulAdd(V<S> x, V<S> y) const { return hn::MulAdd(x, value, y); }
};
template <>
struct Factor<std::complex<double>> {
  using Vec = V<double>;
  Vec real, imaginary;
  HWY_INLINE void Set(std::complex<double> f) {
    const Tag<double> d;
    real = hn::Set(d, f.real());
    imaginary = hn::Mul(hn::Set(d, f.imag()), Alternating());
  }
  HWY_INLINE Vec MulAdd(Vec x, Vec y) const {
    return hn::MulAdd(x, real, hn::MulAdd(hn::Shuffle01(x), imaginary, y));
  }
};

// The sum of products of conjugated numbers with others.
template <typename S>
struct Sum {
  V<S> value;
  HWY_INLINE void Clear() { value = hn::Zero(Tag<S>()); }
  HWY_INLINE void Add(V<S> x, V<S> y) { value = hn::MulAdd(x, y, value); }
  HWY_INLINE S Total() const { return hn::GetLane(hn::SumOfLanes(Tag<S>(), value)); }
};
template <>
struct Sum<std::complex<double>> {
  using Vec = V<double>;
  Vec real, imaginary;
  HWY_INLINE void Clear() { real = imaginary = hn::Zero(Tag<double>()); }
  HWY_INLINE void Add(Vec x, Vec y) {
    real = hn::MulAdd(x, y, real);
    imaginary = hn::MulAdd(hn::Shuffle01(x), y, imaginary);
  }
  HWY_INLINE std::complex<double> Total() const {
    const Tag<double> d;
    return {hn::GetLane(hn::SumOfLanes(d, real)),
            hn::GetLane(hn::SumOfLanes(d, hn::Mul(imaginary, Alternating())))};
  }
};

// Where a vector of reals begins that holds this row, and the lanes from that row on.
template <typename S>
HWY_INLINE size_t StartOf(size_t row) {
  const size_t lanes = hn::Lanes(Tag<S>());
  return row * kParts<S> / lanes * lanes;
}
template <typename S>
HWY_INLINE hn::Mask<Tag<S>> LanesFrom(size_t row) {
  return hn::Not(hn::FirstN(Tag<S>(), row * kParts<S> - StartOf<S>(row)));
}
template <typename S>
HWY_INLINE size_t EndOf(size_t rows) {
  const size_t lanes = hn::Lanes(Tag<S>());
  return (rows * kParts<S> + lanes - 1) / lanes * lanes;
}

// Calls f.template Run<n>(j) for groups of n columns from j on.
template <typename S, class F>
HWY_INLINE void ForGroups(size_t begin, size_t end, const F& f) {
  size_t j = begin;
  for (; j + kTogether<S> <= end; j += kTogether<S>) f.template Run<kTogether<S>>(j);
  for (; j < end; ++j) f.template Run<1>(j);
}

template <typename S>
struct Reflector {
  const ReflectionBlock<S>& r;
  const ColumnSpan<S>& m;

  template <size_t n>
  HWY_INLINE void Run(size_t j) const {
    Real<S>* columns[n];
    for (size_t c = 0; c < n; ++c) columns[c] = RealOf(m.first + (j + c) * m.stride);
    for (size_t step = 0; step < r.v.count; ++step) {
      const size_t k = r.backward ? r.v.count - 1 - step : step;
      if (r.factors[k] != S(0)) {
        Apply<n>(RealOf(r.v.first + k * r.v.stride), r.first_row + k, r.factors[k], columns);
      }
    }
  }

  // Rows above the first may hold infinities, which must not be touched.
  template <size_t n>
  HWY_INLINE void Apply(const Real<S>* v, size_t row, S factor, Real<S>* const* columns) const {
    const Tag<S> d;
    const size_t lanes = hn::Lanes(d), start = StartOf<S>(row), end = EndOf<S>(m.rows);
    const auto keep = LanesFrom<S>(row);
    const V<S> head = LoadAt<S>(v + start);
    Sum<S> sums[n];
    for (size_t c = 0; c < n; ++c) {
      sums[c].Clear();
      sums[c].Add(head, hn::IfThenElseZero(keep, LoadAt<S>(columns[c] + start)));
    }
    for (size_t i = start + lanes; i < end; i += lanes) {
      const V<S> x = LoadAt<S>(v + i);
      for (size_t c = 0; c < n; ++c) sums[c].Add(x, LoadAt<S>(columns[c] + i));
    }
    Factor<S> factors[n];
    for (size_t c = 0; c < n; ++c) factors[c].Set(Times(-factor, sums[c].Total()));
    for (size_t c = 0; c < n; ++c) {
      Real<S>* const to = columns[c] + start;
      const V<S> old = LoadAt<S>(to);
      hn::StoreU(hn::IfThenElse(keep, factors[c].MulAdd(head, old), old), d, to);
    }
    for (size_t i = start + lanes; i < end; i += lanes) {
      const V<S> x = LoadAt<S>(v + i);
      for (size_t c = 0; c < n; ++c) {
        hn::StoreU(factors[c].MulAdd(x, LoadAt<S>(columns[c] + i)), d, columns[c] + i);
      }
    }
  }
};
template <typename S>
void Reflect(const ReflectionBlock<S>& r, const ColumnSpan<S>& m) {
  ForGroups<S>(0, m.count, Reflector<S>{r, m});
}

template <typename S>
struct Updater {
  const ColumnUpdate<S>& u;
  const ColumnSpan<S>& m;

  template <size_t n>
  HWY_INLINE void Run(size_t j) const {
    const Tag<S> d;
    const size_t lanes = hn::Lanes(d), start = StartOf<S>(u.first_row), end = EndOf<S>(m.rows);
    const Real<S>*const x = RealOf(u.x), *const y = RealOf(u.y), *const z = RealOf(u.z);
    Real<S>* columns[n];
    Factor<S> f[n], g[n];
    Sum<S> sums[n];
    for (size_t c = 0; c < n; ++c) {
      columns[c] = RealOf(m.first + (j + c) * m.stride);
      f[c].Set(u.f[j + c]);
      g[c].Set(u.g[j + c]);
      sums[c].Clear();
    }
    for (size_t i = start; i < end; i += lanes) {
      const V<S> vx = LoadAt<S>(x + i), vy = LoadAt<S>(y + i), vz = LoadAt<S>(z + i);
      for (size_t c = 0; c < n; ++c) {
        const V<S> sum = f[c].MulAdd(vx, g[c].MulAdd(vy, LoadAt<S>(columns[c] + i)));
        hn::StoreU(sum, d, columns[c] + i);
        sums[c].Add(vz, sum);
      }
    }
    for (size_t c = 0; c < n; ++c) u.products[j + c] = sums[c].Total();
  }
};
template <typename S>
void Update(const ColumnUpdate<S>& u, const ColumnSpan<S>& m) {
  ForGroups<S>(0, m.count, Updater<S>{u, m});
}

template <typename S>
struct Multiplier {
  const ColumnSpan<S>& m;
  size_t first_row;
  const S* u;
  S* products;

  template <size_t n>
  HWY_INLINE void Run(size_t j) const {
    const Tag<S> d;
    const size_t lanes = hn::Lanes(d), end = EndOf<S>(m.rows);
    const Real<S>* columns[n];
    Factor<S> factors[n];
    for (size_t c = 0; c < n; ++c) {
      columns[c] = RealOf(m.first + (j + c) * m.stride);
      factors[c].Set(u[j + c]);
    }
    for (size_t i = StartOf<S>(first_row); i < end; i += lanes) {
      V<S> sum = LoadAt<S>(RealOf(products) + i);
      for (size_t c = 0; c < n; ++c) sum = factors[c].MulAdd(LoadAt<S>(columns[c] + i), sum);
      hn::StoreU(sum, d, RealOf(products) + i);
    }
  }
};
template <typename S>
void Multiply(const ColumnSpan<S>& m, size_t first_row, const S* u, S* products) {
  const size_t start = StartOf<S>(first_row), end = EndOf<S>(m.rows);
  std::fill(RealOf(products) + start, RealOf(products) + std::max(start, end), Real<S>(0));
  ForGroups<S>(0, m.count, Multiplier<S>{m, first_row, u, products});
}

// Column j times z[j] goes to the products below it, and its product with z to that of row j.
template <typename S>
void UpdateHermitian(const ColumnUpdate<S>& u, const ColumnSpan<S>& m) {
  const Tag<S> d;
  const size_t lanes = hn::Lanes(d), end = EndOf<S>(m.rows);
  const Real<S>*const x = RealOf(u.x), *const y = RealOf(u.y), *const z = RealOf(u.z);
  Real<S>* const products = RealOf(u.products);
  const size_t start_of_all = StartOf<S>(u.first_row);
  std::fill(products + start_of_all, products + std::max(start_of_all, end), Real<S>(0));
  for (size_t j = u.first_row; j < m.count; ++j) {
    Real<S>* const column = RealOf(m.first + j * m.stride);
    Factor<S> f, g, zj;
    f.Set(u.f[j]);
    g.Set(u.g[j]);
    zj.Set(u.z[j]);
    Sum<S> sum;
    sum.Clear();
    const size_t start = StartOf<S>(j);
    const V<S> head =
        f.MulAdd(LoadAt<S>(x + start), g.MulAdd(LoadAt<S>(y + start), LoadAt<S>(column + start)));
    hn::StoreU(head, d, column + start);
    const V<S> lower = hn::IfThenElseZero(LanesFrom<S>(j), head);
    hn::StoreU(zj.MulAdd(lower, LoadAt<S>(products + start)), d, products + start);
    const size_t below = kParts<S> * (j + 1) - start;  // lanes; all of them if there is none
    const auto others = hn::Not(hn::FirstN(d, below));
    sum.Add(hn::IfThenElseZero(others, head), LoadAt<S>(z + start));
    for (size_t i = start + lanes; i < end; i += lanes) {
      const V<S> v = f.MulAdd(LoadAt<S>(x + i), g.MulAdd(LoadAt<S>(y + i), LoadAt<S>(column + i)));
      hn::StoreU(v, d, column + i);
      hn::StoreU(zj.MulAdd(v, LoadAt<S>(products + i)), d, products + i);
      sum.Add(v, LoadAt<S>(z + i));
    }
    u.products[j] += sum.Total();
  }
}

template <typename S>
ColumnLoops<S> Loops() {
  return {&Reflect<S>, &Update<S>, &Multiply<S>, &UpdateHermitian<S>};
}

}  // namespace column_loops

ColumnLoops<float> FloatColumns() { return column_loops::Loops<float>(); }
ColumnLoops<double> DoubleColumns() { return column_loops::Loops<double>(); }
ColumnLoops<std::complex<double>> ComplexColumns() {
  return column_loops::Loops<std::complex<double>>();
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(FloatColumns);
HWY_EXPORT(DoubleColumns);
HWY_EXPORT(ComplexColumns);

template <>
ColumnLoops<float> FindColumnLoops() {
  return HWY_DYNAMIC_DISPATCH(FloatColumns)();
}
template <>
ColumnLoops<double> FindColumnLoops() {
  return HWY_DYNAMIC_DISPATCH(DoubleColumns)();
}
template <>
ColumnLoops<std::complex<double>> FindColumnLoops() {
  return HWY_DYNAMIC_DISPATCH(ComplexColumns)();
}

}  // namespace tenon
#endif

#include "kernels/reduction/reference.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/interface/axis.h"

namespace tenon {
namespace {

// A reducer is a template over the element type T with an accumulator type Acc, Init(), Map(T),
// Combine(Acc, Acc) and Finish(Acc, count).

// Floats are summed in double; half and bfloat16 are rounded once, at the end.
template <typename T>
using SumAcc = std::conditional_t<kIsFloat<T>, double,
                                  std::conditional_t<kIsComplex<T>, std::complex<double>, T>>;

template <typename T>
struct SumReducer {
  using Acc = SumAcc<T>;
  static Acc Init() { return Acc(0); }
  static Acc Map(T v) { return static_cast<Acc>(ToCompute(v)); }
  static Acc Combine(Acc a, Acc b) { return WrapAdd(a, b); }
  static T Finish(Acc a, int64_t) { return static_cast<T>(a); }
};

// Integers are summed in 64 bits and the quotient is truncated. The mean of no elements is NaN, or
// 0 for integers.
template <typename T>
struct MeanReducer {
  using Acc =
      std::conditional_t<kIsInt<T>, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                         SumAcc<T>>;
  static Acc Init() { return Acc(0); }
  static Acc Map(T v) { return static_cast<Acc>(ToCompute(v)); }
  static Acc Combine(Acc a, Acc b) { return WrapAdd(a, b); }
  static T Finish(Acc a, int64_t count) {
    if constexpr (kIsInt<T>) {
      return count == 0 ? T(0) : static_cast<T>(a / static_cast<Acc>(count));
    } else {
      if (count == 0) return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
      return static_cast<T>(a / static_cast<double>(count));
    }
  }
};

// Computed in the dtype's own range: an intermediate overflow is an overflow.
template <typename T>
struct ProdReducer {
  using Acc = ComputeType<T>;
  static Acc Init() { return Acc(1); }
  static Acc Map(T v) { return ToCompute(v); }
  static Acc Combine(Acc a, Acc b) { return WrapMul(a, b); }
  static T Finish(Acc a, int64_t) { return static_cast<T>(a); }
};

template <typename T>
struct MaxReducer {
  using Acc = ComputeType<T>;
  static Acc Init() {
    if constexpr (kIsInt<T>) {
      return std::numeric_limits<T>::lowest();
    } else {
      return -std::numeric_limits<Acc>::infinity();
    }
  }
  static Acc Map(T v) { return ToCompute(v); }
  static Acc Combine(Acc a, Acc b) { return b <= a || a != a ? a : b; }  // NaN wins
  static T Finish(Acc a, int64_t) { return static_cast<T>(a); }
};

template <typename T>
struct MinReducer {
  using Acc = ComputeType<T>;
  static Acc Init() {
    if constexpr (kIsInt<T>) {
      return std::numeric_limits<T>::max();
    } else {
      return std::numeric_limits<Acc>::infinity();
    }
  }
  static Acc Map(T v) { return ToCompute(v); }
  static Acc Combine(Acc a, Acc b) { return a <= b || a != a ? a : b; }
  static T Finish(Acc a, int64_t) { return static_cast<T>(a); }
};

template <typename T>
struct NormReducer {
  using Acc = std::conditional_t<kIsInt<T>, T, double>;
  static Acc Init() { return Acc(0); }
  static Acc Map(T v) {
    if constexpr (kIsComplex<T>) {
      return static_cast<double>(v.real()) * v.real() + static_cast<double>(v.imag()) * v.imag();
    } else {
      const Acc a = static_cast<Acc>(ToCompute(v));
      return WrapMul(a, a);
    }
  }
  static Acc Combine(Acc a, Acc b) { return WrapAdd(a, b); }
  static T Finish(Acc a, int64_t) {
    const double root = std::sqrt(static_cast<double>(a));
    if constexpr (kIsInt<T>) {
      return root >= 0 ? static_cast<T>(root) : T(0);  // a wrapped sum may be negative
    } else {
      return static_cast<T>(root);
    }
  }
};

// Of bytes, which are 0 or 1: loops over bool do not become vector code.
template <typename T>
struct AllReducer {
  using Acc = uint8_t;
  static Acc Init() { return 1; }
  static Acc Map(uint8_t v) { return v; }
  static Acc Combine(Acc a, Acc b) { return a & b; }
  static bool Finish(Acc a, int64_t) { return a != 0; }
};

template <typename T>
struct AnyReducer {
  using Acc = uint8_t;
  static Acc Init() { return 0; }
  static Acc Map(uint8_t v) { return v; }
  static Acc Combine(Acc a, Acc b) { return a | b; }
  static bool Finish(Acc a, int64_t) { return a != 0; }
};

// Several partial results side by side: shorter dependency chains, and less rounding.
template <typename R, typename T>
typename R::Acc ReduceRow(const T* in, int64_t n) {
  constexpr int64_t kLanes = sizeof(typename R::Acc) == 1 ? 64 : 8;
  typename R::Acc lane[kLanes];
  std::fill_n(lane, kLanes, R::Init());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lane[k] = R::Combine(lane[k], R::Map(in[i + k]));
  }
  for (; i < n; ++i) lane[i % kLanes] = R::Combine(lane[i % kLanes], R::Map(in[i]));
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t k = 0; k < width; ++k) lane[k] = R::Combine(lane[k], lane[k + width]);
  }
  return lane[0];
}

template <typename R, typename In, typename T>
void RunReduction(const ReductionSpace& space, const In* in, typename R::Acc* acc, T* out) {
  std::fill_n(acc, space.out_elements, R::Init());
  std::vector<int64_t> index(space.outer.size(), 0);
  typename R::Acc* a = acc;
  bool more = space.in_elements > 0;
  while (more) {
    if (space.inner_reduced) {
      *a = R::Combine(*a, ReduceRow<R>(in, space.inner));
    } else {
      for (int64_t i = 0; i < space.inner; ++i) a[i] = R::Combine(a[i], R::Map(in[i]));
    }
    more = false;
    for (size_t k = space.outer.size(); k > 0; --k) {
      const ReductionSpace::Dim& dim = space.outer[k - 1];
      in += dim.in;
      a += dim.out;
      if (++index[k - 1] < dim.size) {
        more = true;
        break;
      }
      index[k - 1] = 0;
      in -= dim.in * dim.size;
      a -= dim.out * dim.size;
    }
  }
  for (int64_t i = 0; i < space.out_elements; ++i) out[i] = R::Finish(acc[i], space.count);
}

// Input 0 reduced over `space`.
template <template <typename> typename Reducer, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> ReductionOver(PrepareContext& p,
                                                      const ReductionSpace& space) {
  return DispatchType(Types{}, p.input_dtype(0), [&]<typename T>() {
    using R = Reducer<T>;
    p.RequestScratch(static_cast<size_t>(space.out_elements) * sizeof(typename R::Acc));
    using In = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    return MakeKernel([space](RunContext& run) {
      RunReduction<R>(space, static_cast<const In*>(run.input(0)),
                      static_cast<typename R::Acc*>(run.scratch()), run.output<T>(0));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ReduceOver(PrepareContext& p, const ReductionSpace& space,
                                                   ReferenceReduction reduction) {
  switch (reduction) {
    case ReferenceReduction::kSum:
      return ReductionOver<SumReducer, Numbers>(p, space);
    case ReferenceReduction::kMean:
      return ReductionOver<MeanReducer, Numbers>(p, space);
    case ReferenceReduction::kProduct:
      return ReductionOver<ProdReducer, Numbers>(p, space);
    case ReferenceReduction::kMax:
      return ReductionOver<MaxReducer, RealNumbers>(p, space);
    case ReferenceReduction::kMin:
      return ReductionOver<MinReducer, RealNumbers>(p, space);
    case ReferenceReduction::kNorm:
      return ReductionOver<NormReducer, Numbers>(p, space);
    case ReferenceReduction::kAll:
      return ReductionOver<AllReducer, TypeList<bool>>(p, space);
    case ReferenceReduction::kAny:
      return ReductionOver<AnyReducer, TypeList<bool>>(p, space);
  }
  return Unimplemented("no such reduction");
}

}  // namespace

absl::StatusOr<std::vector<bool>> ReducedAxes(const Shape& input, const Tensor& axes) {
  if (axes.shape().rank() > 1) {
    return InvalidArgument("reduction indices must be a scalar or a vector, but have shape ",
                           axes.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(axes));
  return AxisMask(values, input.rank());
}

absl::StatusOr<ReductionSpace> ReductionSpace::Make(const Shape& input, const Tensor& axes) {
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(input, axes));
  ReductionSpace space;
  space.in_elements = input.num_elements();
  space.out_elements = 1;
  std::vector<Dim> dims;  // innermost first
  int64_t in = 1;
  bool last_reduced = false;
  for (int i = input.rank() - 1; i >= 0; --i) {
    const int64_t size = input.dim(i);
    const bool r = reduced[static_cast<size_t>(i)];
    if (size != 1) {
      if (!dims.empty() && last_reduced == r) {
        dims.back().size *= size;
      } else {
        dims.push_back({size, in, r ? 0 : space.out_elements});
        last_reduced = r;
      }
    }
    in *= size;
    (r ? space.count : space.out_elements) *= size;
  }
  if (!dims.empty()) {
    space.inner = dims[0].size;
    space.inner_reduced = dims[0].out == 0;
    space.outer.assign(dims.rbegin(), dims.rend() - 1);
  }
  return space;
}

absl::StatusOr<std::unique_ptr<Kernel>> ReduceReference(PrepareContext& p,
                                                        ReferenceReduction reduction) {
  TENON_ASSIGN_OR_RETURN(const ReductionSpace space,
                         ReductionSpace::Make(p.input_shape(0), *p.value(1)));
  p.InputNotRead(1);
  return ReduceOver(p, space, reduction);
}

absl::StatusOr<std::unique_ptr<Kernel>> SumOver(PrepareContext& p, const ReductionSpace& space) {
  return ReduceOver(p, space, ReferenceReduction::kSum);
}

}  // namespace tenon

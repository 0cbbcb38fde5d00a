#include "kernels/layout/scatter.h"

#include <algorithm>
#include <type_traits>

#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/addressing.h"
#include "kernels/layout/copy.h"

namespace tenon {
namespace {

struct Add {
  template <typename T>
  T operator()(const T& v, const T& u) const {
    return Accumulate<T>(v, u);
  }
};
struct Sub {
  template <typename T>
  T operator()(const T& v, const T& u) const {
    return static_cast<T>(WrapSub(ToCompute(v), ToCompute(u)));
  }
};
struct Mul {
  template <typename T>
  T operator()(const T& v, const T& u) const {
    return static_cast<T>(WrapMul(ToCompute(v), ToCompute(u)));
  }
};
struct Div {
  template <typename T>
  T operator()(const T& v, const T& u) const {
    // The only quotient that overflows wraps.
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      if (u == T(-1)) return WrapSub(T(0), v);
    }
    return static_cast<T>(v / u);
  }
};
struct Min {
  template <typename T>
  T operator()(const T& v, const T& u) const {
    return u < v ? u : v;
  }
};
struct Max {
  template <typename T>
  T operator()(const T& v, const T& u) const {
    return v < u ? u : v;
  }
};

template <typename Choose>
struct OrNan {
  template <typename T>
  T operator()(const T& v, const T& u) const {
    return ToCompute(u) != ToCompute(u) ? u : Choose()(v, u);
  }
};

template <typename T, typename F>
void Combine(void* out, const void* updates, absl::Span<const int64_t> offsets, int64_t slice,
             ScatterUpdates kind) {
  constexpr F f;
  const T* u = static_cast<const T*>(updates);
  if (kind == ScatterUpdates::kScalar) {
    const T scalar = *u;
    for (const int64_t offset : offsets) {
      if (offset < 0) continue;
      T* v = static_cast<T*>(out) + offset;
      for (int64_t k = 0; k < slice; ++k) v[k] = f(v[k], scalar);
    }
    return;
  }
  if (slice == 1) {
    T* v = static_cast<T*>(out);
    for (const int64_t offset : offsets) {
      if (offset >= 0) v[offset] = f(v[offset], *u);
      ++u;
    }
    return;
  }
  for (const int64_t offset : offsets) {
    if (offset >= 0) {
      T* v = static_cast<T*>(out) + offset;
      for (int64_t k = 0; k < slice; ++k) v[k] = f(v[k], u[k]);
    }
    u += slice;
  }
}

template <typename T>
void Replace(void* out, const void* updates, absl::Span<const int64_t> offsets, int64_t slice,
             ScatterUpdates kind) {
  const T* u = static_cast<const T*>(updates);
  for (const int64_t offset : offsets) {
    T* v = static_cast<T*>(out) + offset;
    if (kind == ScatterUpdates::kScalar) {
      if (offset >= 0) std::fill_n(v, slice, *u);
    } else {
      if (offset >= 0) std::copy_n(u, slice, v);
      u += slice;
    }
  }
}

template <typename F, typename Types>
ScatterFn FindCombine(Types types, DType dtype) {
  ScatterFn found = nullptr;
  VisitTypes(types, dtype, [&]<typename T>() { found = Combine<T, F>; });
  return found;
}

}  // namespace

ScatterFn FindScatter(ScatterFunction function, DType dtype) {
  ScatterFn replace = nullptr;
  switch (function) {
    case ScatterFunction::kUpdate:
      VisitStorage(dtype, [&]<typename T>() { replace = Replace<T>; });
      return replace;
    case ScatterFunction::kAdd:
      return FindCombine<Add>(AllTypes{}, dtype);
    case ScatterFunction::kSub:
      return FindCombine<Sub>(Numbers{}, dtype);
    case ScatterFunction::kMul:
      return FindCombine<Mul>(Numbers{}, dtype);
    case ScatterFunction::kDiv:
      return FindCombine<Div>(Numbers{}, dtype);
    case ScatterFunction::kMin:
      return FindCombine<Min>(RealNumbers{}, dtype);
    case ScatterFunction::kMax:
      return FindCombine<Max>(RealNumbers{}, dtype);
    case ScatterFunction::kMinimum:
      return FindCombine<OrNan<Min>>(RealNumbers{}, dtype);
    case ScatterFunction::kMaximum:
      return FindCombine<OrNan<Max>>(RealNumbers{}, dtype);
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<Kernel>> TensorScatterKernel(PrepareContext& p,
                                                            ScatterFunction function) {
  TENON_ASSIGN_OR_RETURN(const Addressing a,
                         MakeAddressing(p.attrs(), p.input_shape(0), p.input_shape(1)));
  const DType dtype = p.input_dtype(0), index_type = p.input_dtype(1);
  const ScatterFn scatter = FindScatter(function, dtype);
  if (scatter == nullptr || (function == ScatterFunction::kAdd && dtype == DType::kString)) {
    return NoKernelFor(dtype);
  }
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  return MakeKernel([=](RunContext& run) {
    CopyElements(dtype, run.input(0), run.output(0), n);
    return ForEachOffsets(a, index_type, run.input(1), [&](int64_t first, auto offsets) {
      scatter(run.output(0), ElementAddress(run.input(2), dtype, first * a.slice), offsets, a.slice,
              ScatterUpdates::kSlices);
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ScatterNdKernel(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ScatterNdKernel, {2});
  p.InputNotRead(2);
  TENON_ASSIGN_OR_RETURN(const Addressing a,
                         MakeAddressing(p.attrs(), p.output_shape(0), p.input_shape(0)));
  const DType dtype = p.output_dtype(0), index_type = p.input_dtype(0);
  const ScatterFn scatter = FindScatter(ScatterFunction::kAdd, dtype);
  if (scatter == nullptr) return NoKernelFor(dtype);
  const int64_t n = p.output_shape(0).num_elements();
  return MakeKernel([=](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() { std::fill_n(run.output<T>(0), n, T()); });
    return ForEachOffsets(a, index_type, run.input(0), [&](int64_t first, auto offsets) {
      scatter(run.output(0), ElementAddress(run.input(1), dtype, first * a.slice), offsets, a.slice,
              ScatterUpdates::kSlices);
    });
  });
}

}  // namespace tenon

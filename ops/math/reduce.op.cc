// Sum, Mean, Prod, Max, Min, EuclideanNorm, All, Any.
#include "kernels/reduction/reduce.h"

#include <cmath>
#include <limits>

#include "kernels/reduction/reference.h"
#include "ops/math/reduction_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

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

// Integers are summed in 64 bits and the quotient is truncated. The mean of nothing is NaN, or 0.
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

// In the dtype's own range: an overflow on the way is an overflow.
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

template <typename T>
struct AllReducer {
  using Acc = bool;
  static bool Init() { return true; }
  static bool Map(bool v) { return v; }
  static bool Combine(bool a, bool b) { return a && b; }
  static bool Finish(bool a, int64_t) { return a; }
};

template <typename T>
struct AnyReducer {
  using Acc = bool;
  static bool Init() { return false; }
  static bool Map(bool v) { return v; }
  static bool Combine(bool a, bool b) { return a || b; }
  static bool Finish(bool a, int64_t) { return a; }
};

constexpr char kNumberTypes[] =
    "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half uint32 "
    "uint64; Tidx: int32 int64";
constexpr char kRealTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
    "Tidx: int32 int64";

// `native` and `accelerated`: null where there is no vector kernel.
OpRow OfNumbers(const char* name, const char* types, KernelFactory reference,
                const char* native = nullptr, KernelFactory accelerated = nullptr) {
  return {
      .name = name,
      .inputs = "input: T, reduction_indices: Tidx",
      .outputs = "output: T",
      .attrs = "keep_dims: bool = false; T: type; Tidx: type = int32",
      .types = types,
      .shape = ReductionShape,
      .reference = reference,
      .accelerated = accelerated,
      .native = native,
  };
}

OpRow OfBools(const char* name, KernelFactory reference) {
  return {
      .name = name,
      .inputs = "input: bool, reduction_indices: Tidx",
      .outputs = "output: bool",
      .attrs = "keep_dims: bool = false; Tidx: type = int32",
      .types = "Tidx: int32 int64",
      .shape = ReductionShape,
      .reference = reference,
  };
}

const OpRegistration sum_op(OfNumbers("Sum", kNumberTypes, Reduction<SumReducer, Numbers>,
                                      "_MklNativeSum", VectorReduce<VectorReduction::kSum>));
OpRow Mean() {
  OpRow row = OfNumbers("Mean", kNumberTypes, Reduction<MeanReducer, Numbers>, "_MklNativeMean",
                        VectorReduce<VectorReduction::kMean>);
  row.native_types = "float bfloat16";
  return row;
}
const OpRegistration mean_op(Mean());
const OpRegistration max_op(OfNumbers("Max", kRealTypes, Reduction<MaxReducer, RealNumbers>,
                                      "_MklNativeMax", VectorReduce<VectorReduction::kMax>));
const OpRegistration min_op(OfNumbers("Min", kRealTypes, Reduction<MinReducer, RealNumbers>,
                                      "_MklNativeMin", VectorReduce<VectorReduction::kMin>));
const OpRegistration prod_op(OfNumbers("Prod", kNumberTypes, Reduction<ProdReducer, Numbers>));
const OpRegistration euclidean_norm_op(OfNumbers("EuclideanNorm", kNumberTypes,
                                                 Reduction<NormReducer, Numbers>));
const OpRegistration all_op(OfBools("All", Reduction<AllReducer, TypeList<bool>>));
const OpRegistration any_op(OfBools("Any", Reduction<AnyReducer, TypeList<bool>>));

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SumOver(PrepareContext& p, const ReductionSpace& space) {
  return ReductionOver<SumReducer, Numbers>(p, space);
}

}  // namespace tenon

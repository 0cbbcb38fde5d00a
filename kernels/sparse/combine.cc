#include "kernels/sparse/combine.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {
namespace {

struct Operands {
  Coordinates a, b;
  const int64_t *a_shape, *b_shape;
};

absl::StatusOr<Operands> OperandsOf(const RunContext& run, int64_t a_count, int64_t b_count,
                                    int64_t rank) {
  const Operands o = {{run.input<int64_t>(0), a_count, rank},
                      {run.input<int64_t>(3), b_count, rank},
                      run.input<int64_t>(2),
                      run.input<int64_t>(5)};
  TENON_RETURN_IF_ERROR(CheckCoordinates(o.a, o.a_shape));
  TENON_RETURN_IF_ERROR(CheckCoordinates(o.b, o.b_shape));
  for (int64_t d = 0; d < rank; ++d) {
    if (o.a_shape[d] == o.b_shape[d]) continue;
    return InvalidArgument("tensors of ", o.a_shape[d], " and ", o.b_shape[d], " at dimension ", d);
  }
  return o;
}

// Writes the coordinates of the pairs to output 0; returns memory for their values.
absl::StatusOr<void*> WriteCoordinates(RunContext& run, const Operands& o,
                                       const std::vector<Pair>& pairs) {
  const int64_t count = std::ssize(pairs);
  TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({count, o.a.rank})));
  auto* to = static_cast<int64_t*>(indices);
  for (const Pair& p : pairs) to = std::copy_n(p.a >= 0 ? o.a[p.a] : o.b[p.b], o.a.rank, to);
  return run.AllocateOutput(1, Shape({count}));
}

template <typename T>
T At(const void* values, int64_t i) {
  return i >= 0 ? static_cast<const T*>(values)[i] : T(0);
}

template <typename T>
void Choose(Extremum which, const std::vector<Pair>& pairs, const void* a, const void* b,
            void* out) {
  T* to = static_cast<T*>(out);
  for (const Pair& pair : pairs) {
    const T x = At<T>(a, pair.a), y = At<T>(b, pair.b);
    *to++ = which == Extremum::kMaximum ? (x < y ? y : x) : (y < x ? y : x);
  }
}

// Drops the sums of two elements that are smaller than the threshold.
template <typename T, typename Threshold>
void DropSmallSums(const void* a, const void* b, const void* threshold, std::vector<Pair>& pairs) {
  const Threshold least = *static_cast<const Threshold*>(threshold);
  std::erase_if(pairs, [&](const Pair& pair) {
    if (pair.a < 0 || pair.b < 0) return false;
    const T sum = WrapAdd(At<T>(a, pair.a), At<T>(b, pair.b));
    if constexpr (kIsInt<T>) {
      return !(least <= (sum < 0 ? WrapSub(T(0), sum) : sum));
    } else {
      return !(least <= std::abs(sum));
    }
  });
}

template <typename T>
void Sum(const std::vector<Pair>& pairs, const void* a, const void* b, void* out) {
  T* to = static_cast<T*>(out);
  for (const Pair& pair : pairs) *to++ = WrapAdd(At<T>(a, pair.a), At<T>(b, pair.b));
}

struct SumFns {
  decltype(&DropSmallSums<float, float>) drop;
  decltype(&Sum<float>) sum;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SparseExtremumKernel(PrepareContext& p, Extremum which) {
  const int64_t a_count = p.input_shape(1).dim(0), b_count = p.input_shape(4).dim(0);
  const int64_t rank = p.input_shape(2).dim(0);
  decltype(&Choose<float>) choose = nullptr;
  const DType dtype = p.input_dtype(1);
  if (!VisitTypes(RealNumbers{}, dtype, [&]<typename T>() { choose = Choose<T>; })) {
    return NoKernelFor(dtype);
  }
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Operands o, OperandsOf(run, a_count, b_count, rank));
    const std::vector<Pair> pairs = UnionOf(o.a, o.b);
    TENON_ASSIGN_OR_RETURN(void* values, WriteCoordinates(run, o, pairs));
    choose(which, pairs, run.input(1), run.input(4), values);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseAddKernel(PrepareContext& p) {
  const int64_t a_count = p.input_shape(1).dim(0), b_count = p.input_shape(4).dim(0);
  const int64_t rank = p.input_shape(2).dim(0);
  const DType threshold_type = p.input_dtype(6);
  TENON_ASSIGN_OR_RETURN(
      const SumFns fns,
      DispatchType(
          TypeList<float, double, int64_t, int32_t, int16_t, int8_t, complex64, complex128>{},
          p.input_dtype(1), [&]<typename T>() -> absl::StatusOr<SumFns> {
            using Real = decltype(std::abs(T()));
            using Threshold = std::conditional_t<kIsInt<T>, T, Real>;
            if (threshold_type != DTypeTraits<Threshold>::value) {
              return InvalidArgument("thresh has another dtype than the values");
            }
            return SumFns{DropSmallSums<T, Threshold>, Sum<T>};
          }));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Operands o, OperandsOf(run, a_count, b_count, rank));
    std::vector<Pair> pairs = UnionOf(o.a, o.b);
    fns.drop(run.input(1), run.input(4), run.input(6), pairs);
    std::copy_n(o.a_shape, rank, run.output<int64_t>(2));
    TENON_ASSIGN_OR_RETURN(void* values, WriteCoordinates(run, o, pairs));
    fns.sum(pairs, run.input(1), run.input(4), values);
    return absl::OkStatus();
  });
}

}  // namespace tenon

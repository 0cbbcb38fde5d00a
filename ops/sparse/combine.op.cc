// SparseAdd, SparseSparseMaximum, SparseSparseMinimum: two sparse tensors of one shape combined
// where either has an element; an absent one counts as 0.
#include <algorithm>
#include <cmath>

#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status CombineShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 3));
  if (!c.input(2).CompatibleWith(c.input(5))) {
    return InvalidArgument("tensors of different ranks");
  }
  if (c.num_inputs() > 6) TENON_RETURN_IF_ERROR(c.ExpectRank(6, 0));
  const Shape& shape = c.input(2);
  c.set_output(0, Shape({-1, shape.has_rank() ? shape.dim(0) : -1}));
  c.set_output(1, Shape({-1}));
  if (c.num_outputs() > 2) c.set_output(2, shape);
  return absl::OkStatus();
}

struct Operands {
  Coordinates a, b;
  const int64_t *a_shape, *b_shape;
};

Operands OperandsOf(const RunContext& run, int64_t a_count, int64_t b_count, int64_t rank) {
  return {{run.input<int64_t>(0), a_count, rank},
          {run.input<int64_t>(3), b_count, rank},
          run.input<int64_t>(2),
          run.input<int64_t>(5)};
}

absl::Status Check(const Operands& o) {
  TENON_RETURN_IF_ERROR(CheckCoordinates(o.a, o.a_shape));
  TENON_RETURN_IF_ERROR(CheckCoordinates(o.b, o.b_shape));
  for (int64_t d = 0; d < o.a.rank; ++d) {
    if (o.a_shape[d] == o.b_shape[d]) continue;
    return InvalidArgument("tensors of ", o.a_shape[d], " and ", o.b_shape[d], " at dimension ", d);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Write(RunContext& run, const Operands& o, const std::vector<Pair>& pairs,
                   const std::vector<T>& results) {
  const int64_t count = std::ssize(pairs);
  TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({count, o.a.rank})));
  TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({count})));
  auto* to = static_cast<int64_t*>(indices);
  for (const Pair& p : pairs) to = std::copy_n(p.a >= 0 ? o.a[p.a] : o.b[p.b], o.a.rank, to);
  std::copy(results.begin(), results.end(), static_cast<T*>(values));
  return absl::OkStatus();
}

// f(element of a, element of b).
template <typename Types, auto f>
absl::StatusOr<std::unique_ptr<Kernel>> Choose(PrepareContext& p) {
  const int64_t a_count = p.input_shape(1).dim(0), b_count = p.input_shape(4).dim(0);
  const int64_t rank = p.input_shape(2).dim(0);
  return DispatchType(Types{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const Operands o = OperandsOf(run, a_count, b_count, rank);
      TENON_RETURN_IF_ERROR(Check(o));
      const std::vector<Pair> pairs = UnionOf(o.a, o.b);
      std::vector<T> results;
      for (const Pair& pair : pairs) {
        results.push_back(f(pair.a >= 0 ? run.input<T>(1)[pair.a] : T(0),
                            pair.b >= 0 ? run.input<T>(4)[pair.b] : T(0)));
      }
      return Write(run, o, pairs, results);
    });
  });
}

constexpr auto kMaximum = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kMinimum = [](auto a, auto b) { return b < a ? b : a; };

// Sums of two elements below the threshold are left out; single elements stay.
absl::StatusOr<std::unique_ptr<Kernel>> Add(PrepareContext& p) {
  const int64_t a_count = p.input_shape(1).dim(0), b_count = p.input_shape(4).dim(0);
  const int64_t rank = p.input_shape(2).dim(0);
  const DType threshold_type = p.input_dtype(6);
  return DispatchType(
      TypeList<float, double, int64_t, int32_t, int16_t, int8_t, complex64, complex128>{},
      p.input_dtype(1), [&]<typename T>() -> absl::StatusOr<std::unique_ptr<Kernel>> {
        using Real = decltype(std::abs(T()));
        using Threshold = std::conditional_t<kIsInt<T>, T, Real>;
        if (threshold_type != DTypeTraits<Threshold>::value) {
          return InvalidArgument("thresh has another dtype than the values");
        }
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const Operands o = OperandsOf(run, a_count, b_count, rank);
          TENON_RETURN_IF_ERROR(Check(o));
          std::vector<Pair> kept;
          std::vector<T> results;
          for (const Pair& pair : UnionOf(o.a, o.b)) {
            const T sum = WrapAdd(pair.a >= 0 ? run.input<T>(1)[pair.a] : T(0),
                                  pair.b >= 0 ? run.input<T>(4)[pair.b] : T(0));
            const auto size = [sum] {
              if constexpr (kIsInt<T>)
                return sum < 0 ? WrapSub(T(0), sum) : sum;
              else
                return std::abs(sum);
            }();
            const bool both = pair.a >= 0 && pair.b >= 0;
            if (both && !(*run.input<Threshold>(6) <= size)) continue;
            kept.push_back(pair);
            results.push_back(sum);
          }
          std::copy_n(o.a_shape, rank, run.output<int64_t>(2));
          return Write(run, o, kept, results);
        });
      });
}

using Reals = TypeList<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                       uint16_t, uint32_t, uint64_t>;

const OpRegistration sparse_add({
    .name = "SparseAdd",
    .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
              "b_shape: int64, thresh: Treal",
    .outputs = "sum_indices: int64, sum_values: T, sum_shape: int64",
    .attrs = "T: type; Treal: type",
    .types = "T: float double int64 int32 int16 int8 complex64 complex128; "
             "Treal: float double int64 int32 int16 int8",
    .shape = CombineShape,
    .reference = Add,
});

const OpRegistration sparse_sparse_maximum({
    .name = "SparseSparseMaximum",
    .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
              "b_shape: int64",
    .outputs = "output_indices: int64, output_values: T",
    .attrs = "T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = CombineShape,
    .reference = Choose<Reals, kMaximum>,
});

const OpRegistration sparse_sparse_minimum({
    .name = "SparseSparseMinimum",
    .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
              "b_shape: int64",
    .outputs = "output_indices: int64, output_values: T",
    .attrs = "T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = CombineShape,
    .reference = Choose<Reals, kMinimum>,
});

}  // namespace
}  // namespace tenon

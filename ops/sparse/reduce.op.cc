// SparseReduceSum, SparseReduceMax: a sparse tensor reduced to a dense one, where rows without
// elements are 0. SparseSoftmax: over the elements of each innermost row.
#include <algorithm>
#include <cmath>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::StatusOr<std::vector<bool>> ReducedAxes(const Tensor& axes, int rank) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(axes));
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int64_t axis : values) {
    TENON_ASSIGN_OR_RETURN(const int at, NormalizeAxis(axis, rank));
    reduced[static_cast<size_t>(at)] = true;
  }
  return reduced;
}

absl::Status ReduceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  if (c.input(3).has_rank() && c.input(3).rank() > 1) {
    return InvalidArgument("reduction_axes must be a scalar or a vector");
  }
  if (c.value(2) == nullptr || c.value(3) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Shape in, ShapeOfValue(*c.value(2), MinusOne::kRefused));
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(*c.value(3), in.rank()));
  const bool keep = c.attrs().Bool("keep_dims", false);
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)]) {
      out.push_back(in.dim(d));
    } else if (keep) {
      out.push_back(1);
    }
  }
  TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// f(sum so far, element).
template <typename Types, auto f>
absl::StatusOr<std::unique_ptr<Kernel>> Reduce(PrepareContext& p) {
  const Tensor *shape = p.value(2), *axes = p.value(3);
  if (shape == nullptr || axes == nullptr) return PrepareLate(p, Reduce<Types, f>, {2, 3});
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, IntegersOf(*shape));
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                         ReducedAxes(*axes, static_cast<int>(sizes.size())));
  p.InputNotRead(2);
  p.InputNotRead(3);
  const int64_t n = p.input_shape(1).dim(0), rank = std::ssize(sizes);
  const int64_t elements = p.output_shape(0).num_elements();
  return DispatchType(Types{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const Coordinates at = {run.input<int64_t>(0), n, rank};
      TENON_RETURN_IF_ERROR(CheckCoordinates(at, sizes.data()));
      using C = ComputeType<T>;
      std::vector<std::pair<int64_t, C>> terms;
      for (int64_t i = 0; i < n; ++i) {
        int64_t offset = 0;
        for (int64_t d = 0; d < rank; ++d) {
          const size_t k = static_cast<size_t>(d);
          if (!reduced[k]) offset = offset * sizes[k] + at[i][d];
        }
        terms.push_back({offset, ToCompute(run.input<T>(1)[i])});
      }
      std::stable_sort(terms.begin(), terms.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      T* out = run.output<T>(0);
      std::fill_n(out, elements, T(0));
      for (size_t i = 0; i < terms.size();) {
        const int64_t offset = terms[i].first;
        C result = terms[i].second;
        for (++i; i < terms.size() && terms[i].first == offset; ++i) {
          result = f(result, terms[i].second);
        }
        out[offset] = static_cast<T>(result);
      }
      return absl::OkStatus();
    });
  });
}

constexpr auto kSum = [](auto a, auto b) { return WrapAdd(a, b); };
constexpr auto kMax = [](auto a, auto b) { return a < b ? b : a; };

absl::Status SoftmaxShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  if (c.input(2).has_rank() && c.input(2).dim(0) >= 0 && c.input(2).dim(0) < 2) {
    return InvalidArgument("the tensor must have at least 2 dimensions");
  }
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Softmax(PrepareContext& p) {
  const int64_t n = p.input_shape(1).dim(0), rank = p.input_shape(2).dim(0);
  return DispatchType(TypeList<float, double, half>{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const Coordinates at = {run.input<int64_t>(0), n, rank};
      TENON_RETURN_IF_ERROR(CheckCoordinates(at, run.input<int64_t>(2)));
      using C = ComputeType<T>;
      const T* x = run.input<T>(1);
      T* y = run.output<T>(0);
      for (int64_t begin = 0, end; begin < n; begin = end) {
        C most = ToCompute(x[begin]), sum = 0;
        for (end = begin + 1; end < n && CompareCoordinates(at[begin], at[end], rank - 1) == 0;
             ++end) {
          most = std::max<C>(most, ToCompute(x[end]));
        }
        for (int64_t i = begin; i < end; ++i) sum += std::exp(ToCompute(x[i]) - most);
        for (int64_t i = begin; i < end; ++i) {
          y[i] = static_cast<T>(std::exp(ToCompute(x[i]) - most) / sum);
        }
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration sparse_reduce_sum({
    .name = "SparseReduceSum",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
    .outputs = "output: T",
    .attrs = "keep_dims: bool = false; T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
             "complex64 complex128",
    .shape = ReduceShape,
    .reference = Reduce<Numbers, kSum>,
});

const OpRegistration sparse_reduce_max({
    .name = "SparseReduceMax",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
    .outputs = "output: T",
    .attrs = "keep_dims: bool = false; T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = ReduceShape,
    .reference = Reduce<RealNumbers, kMax>,
});

const OpRegistration sparse_softmax({
    .name = "SparseSoftmax",
    .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: half float double",
    .shape = SoftmaxShape,
    .reference = Softmax,
});

}  // namespace
}  // namespace tenon

// SparseTensorDenseAdd; SparseDenseCwiseAdd, SparseDenseCwiseMul, SparseDenseCwiseDiv: a sparse
// tensor's elements with those of a dense one, which the latter three broadcast.
#include <algorithm>

#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

constexpr char kNumberTypes[] =
    "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half uint32 "
    "uint64";

absl::Status AddShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  const Shape &shape = c.input(2), &dense = c.input(3);
  if (shape.has_rank() && dense.has_rank() && shape.dim(0) >= 0 && shape.dim(0) != dense.rank()) {
    return InvalidArgument("a sparse tensor of rank ", shape.dim(0), " and a dense one of shape ",
                           dense.ToString());
  }
  c.set_output(0, dense);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> DenseAdd(PrepareContext& p) {
  const int64_t n = p.input_shape(1).dim(0);
  const Shape dense = p.input_shape(3);
  const DType index_type = p.input_dtype(0);
  p.AllowInPlace(3, 0);
  return DispatchType(Numbers{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t rank = dense.rank();
      const std::vector<int64_t> indices = IntegersAt(index_type, run.input(0), n * rank);
      const std::vector<int64_t> shape = IntegersAt(index_type, run.input(2), rank);
      for (int d = 0; d < dense.rank(); ++d) {
        if (shape[static_cast<size_t>(d)] == dense.dim(d)) continue;
        return InvalidArgument("sizes ", shape[static_cast<size_t>(d)], " and ", dense.dim(d),
                               " at dimension ", d);
      }
      const Coordinates at = {indices.data(), n, rank};
      TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape.data()));
      T* out = run.output<T>(0);
      if (out != run.input<T>(3)) std::copy_n(run.input<T>(3), dense.num_elements(), out);
      for (int64_t i = 0; i < n; ++i) {
        int64_t offset = 0;
        for (int d = 0; d < dense.rank(); ++d) offset = offset * dense.dim(d) + at[i][d];
        out[offset] = WrapAdd(out[offset], run.input<T>(1)[i]);
      }
      return absl::OkStatus();
    });
  });
}

absl::Status CwiseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  const Shape &shape = c.input(2), &dense = c.input(3);
  if (shape.has_rank() && dense.has_rank() && shape.dim(0) >= 0 && shape.dim(0) < dense.rank()) {
    return InvalidArgument("a dense tensor of shape ", dense.ToString(),
                           " does not broadcast to a sparse one of rank ", shape.dim(0));
  }
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

constexpr auto kAdd = [](auto a, auto b) { return WrapAdd(a, b); };
constexpr auto kMul = [](auto a, auto b) { return WrapMul(a, b); };

// f(sparse element, dense element at the same place): a status.
template <typename T, typename F>
absl::Status ForEachElement(RunContext& run, int64_t n, int64_t rank, const Shape& dense, F&& f) {
  const Coordinates at = {run.input<int64_t>(0), n, rank};
  const int64_t* shape = run.input<int64_t>(2);
  TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
  const int64_t skipped = rank - dense.rank();
  for (int d = 0; d < dense.rank(); ++d) {
    if (dense.dim(d) == shape[skipped + d] || dense.dim(d) == 1) continue;
    return InvalidArgument("a dense tensor of shape ", dense.ToString(),
                           " does not broadcast to the sparse one");
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t offset = 0;
    for (int d = 0; d < dense.rank(); ++d) {
      offset = offset * dense.dim(d) + (dense.dim(d) == 1 ? 0 : at[i][skipped + d]);
    }
    TENON_RETURN_IF_ERROR(f(run.input<T>(1)[i], run.input<T>(3)[offset], run.output<T>(0)[i]));
  }
  return absl::OkStatus();
}

template <auto f>
absl::StatusOr<std::unique_ptr<Kernel>> Cwise(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const Shape dense = p.input_shape(3);
  return DispatchType(RealNumbers{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      return ForEachElement<T>(run, n, rank, dense, [](const T& a, const T& b, T& out) {
        out = f(a, b);
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Divide(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const Shape dense = p.input_shape(3);
  return DispatchType(RealNumbers{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      return ForEachElement<T>(run, n, rank, dense, [](const T& a, const T& b, T& out) {
        if constexpr (kIsInt<T>) {
          if (b == T(0)) return InvalidArgument("integer division by zero");
          if constexpr (std::is_signed_v<T>) {
            if (b == T(-1)) {
              out = WrapSub(T(0), a);
              return absl::OkStatus();
            }
          }
        }
        out = a / b;
        return absl::OkStatus();
      });
    });
  });
}

const OpRegistration sparse_tensor_dense_add({
    .name = "SparseTensorDenseAdd",
    .inputs = "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = AddShape,
    .reference = DenseAdd,
});

OpRow CwiseRow(const char* name, KernelFactory reference) {
  return {
      .name = name,
      .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T",
      .outputs = "output: T",
      .attrs = "T: type",
      .types = kNumberTypes,
      .shape = CwiseShape,
      .reference = reference,
  };
}

const OpRegistration sparse_dense_cwise_add(CwiseRow("SparseDenseCwiseAdd", Cwise<kAdd>));
const OpRegistration sparse_dense_cwise_mul(CwiseRow("SparseDenseCwiseMul", Cwise<kMul>));
const OpRegistration sparse_dense_cwise_div(CwiseRow("SparseDenseCwiseDiv", Divide));

}  // namespace
}  // namespace tenon

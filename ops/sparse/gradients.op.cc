// SparseAddGrad, SparseSliceGrad, SparseFillEmptyRowsGrad, RaggedFillEmptyRowsGrad: gradients of
// the elements of sparse tensors.
#include <algorithm>
#include <vector>

#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"

namespace tenon {
namespace {

int64_t Rows(const Shape& shape) { return shape.has_rank() ? shape.dim(0) : -1; }

absl::Status ExpectSameRank(ShapeContext& c, int a, int b) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(a, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(b, 2));
  if (!c.input(a).IsComplete() || !c.input(b).IsComplete()) return absl::OkStatus();
  if (c.input(a).dim(1) == c.input(b).dim(1)) return absl::OkStatus();
  return InvalidArgument("indices of ranks ", c.input(a).dim(1), " and ", c.input(b).dim(1));
}

// One gradient for each of the indices.
absl::Status ExpectGradients(ShapeContext& c, int gradients, int indices) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(gradients, 1));
  const int64_t n = Rows(c.input(gradients)), of = Rows(c.input(indices));
  if (n < 0 || of < 0 || n == of) return absl::OkStatus();
  return InvalidArgument("there are ", n, " gradients for ", of, " elements");
}

absl::Status AddGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSameRank(c, 1, 2));
  TENON_RETURN_IF_ERROR(ExpectSameRank(c, 1, 3));
  TENON_RETURN_IF_ERROR(ExpectGradients(c, 0, 3));
  c.set_output(0, Shape({Rows(c.input(1))}));
  c.set_output(1, Shape({Rows(c.input(2))}));
  return absl::OkStatus();
}

absl::Status SliceGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSameRank(c, 1, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(ExpectGradients(c, 0, 3));
  if (c.input(1).IsComplete() && c.input(2).IsComplete() &&
      c.input(1).dim(1) != c.input(2).dim(0)) {
    return InvalidArgument("input_start has ", c.input(2).dim(0), " values for rank ",
                           c.input(1).dim(1));
  }
  c.set_output(0, Shape({Rows(c.input(1))}));
  return absl::OkStatus();
}

absl::Status FillGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  c.set_output(0, c.input(0));
  c.set_output(1, Shape());
  return absl::OkStatus();
}

// The gradients of the elements at `part`, which is sorted, as `all` is.
template <typename T>
void Scatter(const Coordinates& part, const Coordinates& all, const T* gradients, T* out) {
  for (const Pair& pair : UnionOf(part, all)) {
    if (pair.a >= 0) out[pair.a] = pair.b >= 0 ? gradients[pair.b] : T(0);
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> AddGrad(PrepareContext& p) {
  const int64_t a = p.input_shape(1).dim(0), b = p.input_shape(2).dim(0);
  const int64_t sums = p.input_shape(3).dim(0), rank = p.input_shape(3).dim(1);
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const Coordinates all = {run.input<int64_t>(3), sums, rank};
      Scatter<T>({run.input<int64_t>(1), a, rank}, all, run.input<T>(0), run.output<T>(0));
      Scatter<T>({run.input<int64_t>(2), b, rank}, all, run.input<T>(0), run.output<T>(1));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SliceGrad(PrepareContext& p) {
  const int64_t n = p.input_shape(1).dim(0), rank = p.input_shape(1).dim(1);
  const int64_t kept = p.input_shape(3).dim(0);
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const Coordinates in = {run.input<int64_t>(1), n, rank};
      const Coordinates out = {run.input<int64_t>(3), kept, rank};
      const int64_t* start = run.input<int64_t>(2);
      int64_t next = 0;
      for (int64_t i = 0; i < n; ++i) {
        bool same = next < kept;
        for (int64_t d = 0; same && d < rank; ++d) same = in[i][d] == out[next][d] + start[d];
        run.output<T>(0)[i] = same ? run.input<T>(0)[next] : T(0);
        next += same ? 1 : 0;
      }
      if (next == kept) return absl::OkStatus();
      return InvalidArgument("element ", next, " of the slice is not one of the tensor");
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> FillGrad(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), filled = p.input_shape(1).dim(0);
  return DispatchType(Numbers{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t* from = run.input<int64_t>(0);
      const T* gradients = run.input<T>(1);
      std::vector<bool> given(static_cast<size_t>(filled), false);
      for (int64_t i = 0; i < n; ++i) {
        if (from[i] < 0 || from[i] >= filled) {
          return InvalidArgument("reverse_index_map(", i, ") is ", from[i],
                                 ", which is not in [0, ", filled, ")");
        }
        run.output<T>(0)[i] = gradients[from[i]];
        given[static_cast<size_t>(from[i])] = true;
      }
      ComputeType<T> sum = 0;
      for (int64_t i = 0; i < filled; ++i) {
        if (!given[static_cast<size_t>(i)]) sum = WrapAdd(sum, ToCompute(gradients[i]));
      }
      *run.output<T>(1) = static_cast<T>(sum);
      return absl::OkStatus();
    });
  });
}

constexpr char kNumbers[] =
    "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 "
    "complex128";

const OpRegistration sparse_add_grad({
    .name = "SparseAddGrad",
    .inputs = "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64",
    .outputs = "a_val_grad: T, b_val_grad: T",
    .attrs = "T: type",
    .types = kNumbers,
    .shape = AddGradShape,
    .reference = AddGrad,
});

const OpRegistration sparse_slice_grad({
    .name = "SparseSliceGrad",
    .inputs = "backprop_val_grad: T, input_indices: int64, input_start: int64, "
              "output_indices: int64",
    .outputs = "val_grad: T",
    .attrs = "T: type",
    .types = kNumbers,
    .shape = SliceGradShape,
    .reference = SliceGrad,
});

const OpRegistration sparse_fill_empty_rows_grad({
    .name = "SparseFillEmptyRowsGrad",
    .inputs = "reverse_index_map: int64, grad_values: T",
    .outputs = "d_values: T, d_default_value: T",
    .attrs = "T: type",
    .types = kNumbers,
    .shape = FillGradShape,
    .reference = FillGrad,
});

const OpRegistration ragged_fill_empty_rows_grad({
    .name = "RaggedFillEmptyRowsGrad",
    .inputs = "reverse_index_map: int64, grad_values: T",
    .outputs = "d_values: T, d_default_value: T",
    .attrs = "T: type",
    .types = kNumbers,
    .shape = FillGradShape,
    .reference = FillGrad,
});

}  // namespace
}  // namespace tenon

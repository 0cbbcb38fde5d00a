// SparseReorder, SparseConcat, SparseSlice: ops that only move a sparse tensor's elements.
#include <algorithm>

#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status ReorderShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(1));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Reorder(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at = {run.input<int64_t>(0), n, rank};
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, run.input<int64_t>(2)));
    const std::vector<int64_t> order = RowMajorOrder(at);
    int64_t* to = run.output<int64_t>(0);
    for (int64_t i : order) to = std::copy_n(at[i], rank, to);
    VisitStorage(dtype, [&]<typename T>() {
      T* values = run.output<T>(1);
      for (int64_t i : order) *values++ = run.input<T>(1)[i];
    });
    return absl::OkStatus();
  });
}

absl::Status ConcatShape(ShapeContext& c) {
  const int count = c.num_inputs() / 3;
  if (count < 2) return InvalidArgument("at least two tensors are needed, not ", count);
  int64_t rank = -1;
  for (int i = 0; i < count; ++i) {
    TENON_RETURN_IF_ERROR(ExpectSparse(c, i, count));
    for (int64_t have : {c.input(i).has_rank() ? c.input(i).dim(1) : -1,
                         c.input(2 * count + i).has_rank() ? c.input(2 * count + i).dim(0) : -1}) {
      if (have < 0) continue;
      if (rank >= 0 && have != rank) {
        return InvalidArgument("tensors of ranks ", rank, " and ", have);
      }
      rank = have;
    }
  }
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.attrs().Int("concat_dim"));
  if (rank >= 0 && (axis < -rank || axis >= rank)) {
    return InvalidArgument("concat_dim ", axis, " for tensors of rank ", rank);
  }
  int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t n = c.input(count + i).has_rank() ? c.input(count + i).dim(0) : -1;
    total = n < 0 || total < 0 ? -1 : total + n;
  }
  c.set_output(0, Shape({total, rank}));
  c.set_output(1, Shape({total}));
  c.set_output(2, Shape({rank}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Concat(PrepareContext& p) {
  const int count = p.num_inputs() / 3;
  const int64_t rank = p.output_shape(2).dim(0);
  TENON_ASSIGN_OR_RETURN(int64_t axis, p.attrs().Int("concat_dim"));
  if (axis < 0) axis += rank;
  std::vector<int64_t> sizes;
  for (int i = 0; i < count; ++i) sizes.push_back(p.input_shape(count + i).dim(0));
  const DType dtype = p.output_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    std::vector<int64_t> all;
    std::vector<std::pair<int, int64_t>> from;
    int64_t* shape = run.output<int64_t>(2);
    int64_t offset = 0;
    for (int i = 0; i < count; ++i) {
      const int64_t* own = run.input<int64_t>(2 * count + i);
      const Coordinates at = {run.input<int64_t>(i), sizes[static_cast<size_t>(i)], rank};
      TENON_RETURN_IF_ERROR(CheckCoordinates(at, own));
      for (int64_t d = 0; d < rank; ++d) {
        if (i > 0 && d != axis && own[d] != shape[d]) {
          return InvalidArgument("tensor ", i, " has ", own[d], " at dimension ", d, ", not ",
                                 shape[d]);
        }
        shape[d] = own[d];
      }
      if (offset > INT64_MAX - own[axis]) return InvalidArgument("a size that overflows");
      for (int64_t k = 0; k < at.n; ++k) {
        from.push_back({i, k});
        all.insert(all.end(), at[k], at[k] + rank);
        all[all.size() - static_cast<size_t>(rank - axis)] += offset;
      }
      offset += own[axis];
    }
    shape[axis] = offset;
    const Coordinates at = {all.data(), std::ssize(from), rank};
    const std::vector<int64_t> order = RowMajorOrder(at);
    int64_t* to = run.output<int64_t>(0);
    for (int64_t i : order) to = std::copy_n(at[i], rank, to);
    VisitStorage(dtype, [&]<typename T>() {
      T* values = run.output<T>(1);
      for (int64_t i : order) {
        const auto [tensor, k] = from[static_cast<size_t>(i)];
        *values++ = run.input<T>(count + tensor)[k];
      }
    });
    return absl::OkStatus();
  });
}

absl::Status SliceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  const Shape& shape = c.input(2);
  for (int i : {3, 4}) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (!shape.CompatibleWith(c.input(i))) {
      return InvalidArgument("start and size must have shape ", shape.ToString());
    }
  }
  c.set_output(0, Shape({-1, shape.has_rank() ? shape.dim(0) : -1}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, shape);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Slice(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at = {run.input<int64_t>(0), n, rank};
    const int64_t *shape = run.input<int64_t>(2), *start = run.input<int64_t>(3),
                  *size = run.input<int64_t>(4);
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
    int64_t* sizes = run.output<int64_t>(2);
    for (int64_t d = 0; d < rank; ++d) {
      if (start[d] < 0 || size[d] < 0) {
        return InvalidArgument("start ", start[d], " and size ", size[d], " at dimension ", d);
      }
      sizes[d] = std::min(size[d], std::max<int64_t>(0, shape[d] - start[d]));
    }
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < n; ++i) {
      bool inside = true;
      for (int64_t d = 0; d < rank; ++d) {
        inside = inside && at[i][d] >= start[d] && at[i][d] - start[d] < sizes[d];
      }
      if (inside) kept.push_back(i);
    }
    const int64_t count = std::ssize(kept);
    TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({count, rank})));
    TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({count})));
    auto* to = static_cast<int64_t*>(indices);
    for (int64_t i : kept) {
      for (int64_t d = 0; d < rank; ++d) *to++ = at[i][d] - start[d];
    }
    VisitStorage(dtype, [&]<typename T>() {
      T* out = static_cast<T*>(values);
      for (int64_t i : kept) *out++ = run.input<T>(1)[i];
    });
    return absl::OkStatus();
  });
}

const OpRegistration sparse_reorder({
    .name = "SparseReorder",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64",
    .outputs = "output_indices: int64, output_values: T",
    .attrs = "T: type",
    .shape = ReorderShape,
    .reference = Reorder,
});

const OpRegistration sparse_concat({
    .name = "SparseConcat",
    .inputs = "indices: N * int64, values: N * T, shapes: N * int64",
    .outputs = "output_indices: int64, output_values: T, output_shape: int64",
    .attrs = "concat_dim: int; N: int; T: type",
    .shape = ConcatShape,
    .reference = Concat,
});

const OpRegistration sparse_slice({
    .name = "SparseSlice",
    .inputs = "indices: int64, values: T, shape: int64, start: int64, size: int64",
    .outputs = "output_indices: int64, output_values: T, output_shape: int64",
    .attrs = "T: type",
    .shape = SliceShape,
    .reference = Slice,
});

}  // namespace
}  // namespace tenon

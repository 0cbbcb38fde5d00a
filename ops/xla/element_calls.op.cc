// The Xla ops that call functions of scalars: reductions, windows, scatters, sorts. Plans run them
// with the function's own plans (runtime/execution/element_call_step.h), so they have no kernels.
// _XlaScatter, whose function is a known one, has a kernel.
#include "kernels/xla/element_calls.h"

#include "kernels/xla/scatter_with.h"
#include "kernels/xla/slice_places.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: tensors, then as many initial values.
absl::Status ReduceShape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  if (c.num_inputs() != 2 * c.num_outputs() || n == 0) {
    return InvalidArgument("as many initial values as tensors are needed");
  }
  Shape in = Shape::Unknown();
  for (int i = 0; i < n; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(n + i, 0));
    if (c.dtype(i) != c.dtype(n + i)) {
      return InvalidArgument("tensor ", i, " and its initial value have different dtypes");
    }
    TENON_ASSIGN_OR_RETURN(in, MergeShapes(in, c.input(i)));
  }
  if (!in.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const DimList kept, RemainingDims(c.attrs(), in.rank()));
  Shape out;
  for (int64_t d : kept) out.push_back(in.dim(static_cast<int>(d)));
  for (int i = 0; i < n; ++i) c.set_output(i, out);
  return absl::OkStatus();
}

// Inputs: input, init_value, window_dimensions, window_strides, base_dilations, window_dilations,
// padding.
absl::Status ReduceWindowShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  c.set_output(0, Shape::UnknownOfRank(in.rank()));
  for (int i = 2; i < 7; ++i) {
    if (c.value(i) == nullptr) return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(
      const std::vector<MovingWindow> windows,
      MakeWindows(*c.value(2), *c.value(3), c.value(4), c.value(5), *c.value(6), in.rank()));
  TENON_ASSIGN_OR_RETURN(Shape out, WindowPositions(windows, in));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Inputs: operand, window_dimensions, window_strides, padding, source, init_value.
absl::Status SelectAndScatterShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(5, 0));
  return UnchangedShape(c);
}

// Inputs: operand, scatter_indices, updates.
absl::Status ScatterShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string bytes, c.attrs().String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(const GatherNumbers numbers, ParseGatherNumbers(bytes));
  const Shape &operand = c.input(0), &indices = c.input(1), &updates = c.input(2);
  c.set_output(0, operand);
  if (!operand.has_rank() || !indices.has_rank() || !updates.has_rank()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(CheckNumbers(numbers, operand, indices, updates.rank()));
  const DimList batch = BatchDims(indices, numbers), kept = KeptDims(operand.rank(), numbers);
  if (static_cast<size_t>(updates.rank()) != batch.size() + kept.size()) {
    return InvalidArgument("updates of shape ", updates.ToString(), " for indices of shape ",
                           indices.ToString());
  }
  size_t next_kept = 0, next_batch = 0;
  for (int i = 0; i < updates.rank(); ++i) {
    const int64_t size = updates.dim(i);
    if (Contains(numbers.offset, i)) {
      const int64_t whole = operand.dim(static_cast<int>(kept[next_kept++]));
      if (whole >= 0 && size > whole) {
        return InvalidArgument("updates of shape ", updates.ToString(), " for an operand of shape ",
                               operand.ToString());
      }
    } else if (const int64_t slices = batch[next_batch++];
               size >= 0 && slices >= 0 && size != slices) {
      return InvalidArgument("updates of shape ", updates.ToString(), " for indices of shape ",
                             indices.ToString());
    }
  }
  return absl::OkStatus();
}

// Inputs: tensors, then the dimension.
absl::Status SortShape(ShapeContext& c) {
  if (c.num_outputs() == 0) return InvalidArgument("there is nothing to sort");
  TENON_RETURN_IF_ERROR(c.ExpectRank(c.num_inputs() - 1, 0));
  Shape shape = Shape::Unknown();
  for (int i = 0; i < c.num_outputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(shape, MergeShapes(shape, c.input(i)));
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shape);
  return absl::OkStatus();
}

const OpRegistration reduce({
    .name = "XlaReduce",
    .inputs = "input: T, init_value: T",
    .outputs = "output: T",
    .attrs = "T: type; dimensions_to_reduce: list(int); reducer: func",
    .shape = ReduceShape,
});

const OpRegistration variadic_reduce({
    .name = "XlaVariadicReduce",
    .inputs = "input: N * T, init_value: N * T",
    .outputs = "output: N * T",
    .attrs = "N: int; T: type; dimensions_to_reduce: list(int); reducer: func",
    .shape = ReduceShape,
});

const OpRegistration variadic_reduce_v2({
    .name = "XlaVariadicReduceV2",
    .inputs = "inputs: T, init_values: T",
    .outputs = "outputs: T",
    .attrs = "T: list(type); dimensions_to_reduce: list(int); reducer: func",
    .shape = ReduceShape,
});

const OpRegistration reduce_window({
    .name = "XlaReduceWindow",
    .inputs = "input: T, init_value: T, window_dimensions: Tindices, window_strides: Tindices, "
              "base_dilations: Tindices, window_dilations: Tindices, padding: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; computation: func",
    .types = "Tindices: int32 int64",
    .shape = ReduceWindowShape,
});

const OpRegistration select_and_scatter({
    .name = "XlaSelectAndScatter",
    .inputs = "operand: T, window_dimensions: Tindices, window_strides: Tindices, "
              "padding: Tindices, source: T, init_value: T",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; select: func; scatter: func",
    .types = "Tindices: int32 int64",
    .shape = SelectAndScatterShape,
});

const OpRegistration scatter({
    .name = "XlaScatter",
    .inputs = "operand: T, scatter_indices: Tindices, updates: T",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; update_computation: func; dimension_numbers: string; "
             "indices_are_sorted: bool",
    .types = "Tindices: int32 int64",
    .shape = ScatterShape,
});

const OpRegistration scatter_with({
    .name = "_XlaScatter",
    .inputs = "operand: T, scatter_indices: Tindices, updates: T",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; function: string; dimension_numbers: string; "
             "indices_are_sorted: bool",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
             "complex64 complex128; Tindices: int32 int64",
    .shape = ScatterShape,
    .reference = ScatterWithKernel,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration variadic_sort({
    .name = "XlaVariadicSort",
    .inputs = "inputs: T, dimension: int32",
    .outputs = "outputs: T",
    .attrs = "T: list(type); comparator: func; is_stable: bool",
    .shape = SortShape,
});

}  // namespace
}  // namespace tenon

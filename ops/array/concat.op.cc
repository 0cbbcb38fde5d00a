// Concat, ConcatV2, ConcatOffset; ParallelConcat, which joins parts of one row each.
#include "kernels/layout/concat.h"

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/join.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The positions of the axis and the values among the inputs.
struct Arguments {
  int axis;
  int first;
  int count;
};
Arguments V1(int inputs) { return {0, 1, inputs - 1}; }
Arguments V2(int inputs) { return {inputs - 1, 0, inputs - 1}; }

template <Arguments (*arguments)(int)>
absl::Status ConcatShape(ShapeContext& c) {
  const Arguments args = arguments(c.num_inputs());
  if (args.count < 1) return InvalidArgument("nothing to concatenate");
  int rank = -1;
  for (int i = 0; i < args.count; ++i) {
    const Shape& s = c.input(args.first + i);
    if (!s.has_rank()) continue;
    if (rank >= 0 && s.rank() != rank) {
      return InvalidArgument("cannot concatenate ", c.input(args.first).ToString(), " and ",
                             s.ToString());
    }
    rank = s.rank();
  }
  if (rank < 0) return absl::OkStatus();
  if (rank == 0) return InvalidArgument("cannot concatenate scalars: use Pack");
  if (c.value(args.axis) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(rank));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*c.value(args.axis), "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, rank));
  Shape out = Shape::UnknownOfRank(rank);
  int64_t sum = 0;
  for (int i = 0; i < args.count; ++i) {
    Shape s = c.input(args.first + i);
    if (!s.has_rank()) {
      sum = -1;
      continue;
    }
    sum = AddDims(sum, s.dim(axis));
    s.set_dim(axis, -1);
    absl::StatusOr<Shape> merged = MergeShapes(out, s);
    if (!merged.ok()) {
      return InvalidArgument("cannot concatenate ", c.input(args.first).ToString(), " and ",
                             c.input(args.first + i).ToString(), " along axis ", axis);
    }
    out = *std::move(merged);
  }
  out.set_dim(axis, sum);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <Arguments (*arguments)(int)>
absl::StatusOr<std::unique_ptr<Kernel>> Concat(PrepareContext& p) {
  const Arguments args = arguments(p.num_inputs());
  const Tensor* axis_value = p.value(args.axis);
  if (axis_value == nullptr) return PrepareLate(p, Concat<arguments>, {args.axis});
  p.InputNotRead(args.axis);
  const int rank = p.output_shape(0).rank();
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*axis_value, "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, rank));
  Join join;
  join.dtype = p.output_dtype(0);
  join.outer = Product(p.output_shape(0), 0, axis);
  for (int i = 0; i < args.count; ++i) {
    join.chunks.push_back(Product(p.input_shape(args.first + i), axis, rank));
  }
  return JoinKernel(std::move(join), args.first, p.services().threads);
}

template <Arguments (*arguments)(int)>
absl::StatusOr<std::unique_ptr<Kernel>> Accelerated(PrepareContext& p) {
  return VectorConcat(p, arguments(p.num_inputs()).axis);
}

const OpRegistration concat({
    .name = "Concat",
    .inputs = "concat_dim: int32, values: N * T",
    .outputs = "output: T",
    .attrs = "N: int; T: type",
    .shape = ConcatShape<V1>,
    .reference = Concat<V1>,
    .accelerated = Accelerated<V1>,
    .native = "_MklNativeConcat",
    .native_types =
        "float bfloat16 half double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
        "complex64 complex128 qint8 quint8",
    .error_bound = ErrorBound::kExact,
});

const OpRegistration concat_v2({
    .name = "ConcatV2",
    .inputs = "values: N * T, axis: Tidx",
    .outputs = "output: T",
    .attrs = "N: int; T: type; Tidx: type = int32",
    .types = "Tidx: int32 int64",
    .shape = ConcatShape<V2>,
    .reference = Concat<V2>,
    .accelerated = Accelerated<V2>,
    .native = "_MklNativeConcatV2",
    .native_types =
        "float bfloat16 half double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
        "complex64 complex128 qint8 quint8",
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .batch_axis = batch_axis::Concat,
    .on_integers = OnIntegers::kJoins,
});

absl::Status OffsetShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  if (c.num_outputs() < 1) return InvalidArgument("nothing to concatenate");
  for (int i = 0; i < c.num_outputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i + 1, 1));
    c.set_output(i, c.input(i + 1));
  }
  return absl::OkStatus();
}

// The position of each part in the whole: zero except along the axis.
absl::StatusOr<std::unique_ptr<Kernel>> ConcatOffset(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const int parts = p.num_outputs();
  const int64_t rank = p.input_shape(1).dim(0);
  for (int i = 1; i < parts; ++i) {
    if (p.input_shape(i + 1).dim(0) != rank) return InvalidArgument("parts of unequal rank");
  }
  return MakeKernel([dtype, parts, rank](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(*run.input<int32_t>(0), static_cast<int>(rank)));
    int64_t offset = 0;
    for (int i = 0; i < parts; ++i) {
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t value = d == axis ? offset : 0;
        if (dtype == DType::kInt32) {
          run.output<int32_t>(i)[d] = static_cast<int32_t>(value);
        } else {
          run.output<int64_t>(i)[d] = value;
        }
        const bool wide = dtype != DType::kInt32;
        auto size_of = [&](int k) {
          return wide ? run.input<int64_t>(k + 1)[d] : run.input<int32_t>(k + 1)[d];
        };
        if (d != axis && size_of(i) != size_of(0)) {
          return InvalidArgument("parts differ in dimension ", d, ": ", size_of(0), " and ",
                                 size_of(i));
        }
      }
      offset += dtype == DType::kInt32 ? run.input<int32_t>(i + 1)[axis]
                                       : run.input<int64_t>(i + 1)[axis];
    }
    return absl::OkStatus();
  });
}

const OpRegistration concat_offset({
    .name = "ConcatOffset",
    .inputs = "concat_dim: int32, shape: N * shape_type",
    .outputs = "offset: N * shape_type",
    .attrs = "N: int; shape_type: type = int32",
    .types = "shape_type: int32 int64",
    .shape = OffsetShape,
    .reference = ConcatOffset,
});

// The attribute `shape` is the result's.
absl::Status ParallelConcatShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape whole, c.attrs().ShapeOf("shape"));
  if (!whole.IsComplete() || whole.rank() == 0) {
    return InvalidArgument("shape must be that of the result, but is ", whole.ToString());
  }
  if (c.num_inputs() == 0 || whole.dim(0) != c.num_inputs()) {
    return InvalidArgument(c.num_inputs(), " values for a result of shape ", whole.ToString());
  }
  Shape part = whole;
  part.set_dim(0, 1);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!part.CompatibleWith(c.input(i))) {
      return InvalidArgument("value ", i, " has shape ", c.input(i).ToString(), " instead of ",
                             part.ToString());
    }
  }
  TENON_RETURN_IF_ERROR(whole.CheckedElements().status());
  c.set_output(0, whole);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ParallelConcat(PrepareContext& p) {
  Join join;
  join.dtype = p.output_dtype(0);
  join.chunks.assign(static_cast<size_t>(p.num_inputs()), p.input_shape(0).num_elements());
  return JoinKernel(std::move(join), 0, p.services().threads);
}

const OpRegistration parallel_concat({
    .name = "ParallelConcat",
    .inputs = "values: N * T",
    .outputs = "output: T",
    .attrs = "N: int; T: type; shape: shape",
    .shape = ParallelConcatShape,
    .reference = ParallelConcat,
    .moves_elements = true,
});

}  // namespace
}  // namespace tenon

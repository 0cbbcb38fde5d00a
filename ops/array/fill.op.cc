// Fill, Empty, ZerosLike, OnesLike.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/lists/list_math.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status EmptyShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  if (c.value(0) != nullptr) {
    TENON_ASSIGN_OR_RETURN(Shape out, ShapeOfValue(*c.value(0), MinusOne::kRefused));
    c.set_output(0, std::move(out));
  } else if (c.input(0).has_rank() && c.input(0).dim(0) >= 0) {
    if (c.input(0).dim(0) > 254) return InvalidArgument("a shape of more than 254 dimensions");
    c.set_output(0, Shape::UnknownOfRank(static_cast<int>(c.input(0).dim(0))));
  }
  return absl::OkStatus();
}

// As in old graphs, dims may be a scalar, and the value a vector of one element.
absl::Status FillShape(ShapeContext& c) {
  if (!c.input(1).CompatibleWith(Shape({1}))) TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  if (!c.input(0).has_rank() || c.input(0).rank() != 0) return EmptyShape(c);
  int64_t size = -1;
  if (c.value(0) != nullptr) {
    TENON_ASSIGN_OR_RETURN(size, ScalarInteger(*c.value(0), "dims"));
    if (size < 0) return InvalidArgument("a dimension of ", size, " in a shape");
  }
  c.set_output(0, Shape({size}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Fill(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, Fill, {0});
  p.InputNotRead(0);
  const int64_t n = p.output_shape(0).num_elements();
  const DType dtype = p.output_dtype(0);
  return MakeKernel([n, dtype](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() { std::fill_n(run.output<T>(0), n, *run.input<T>(1)); });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ZerosLike(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  if (dtype == DType::kVariant) return ZerosLikeVariants(p);
  p.InputNotRead(0);
  const int64_t n = p.output_shape(0).num_elements();
  return MakeKernel([n, dtype](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() { std::fill_n(run.output<T>(0), n, T()); });
    return absl::OkStatus();
  });
}

// The elements are undefined if init is false, so zeros are as good as any.
absl::StatusOr<std::unique_ptr<Kernel>> Empty(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, Empty, {0});
  return ZerosLike(p);
}

absl::StatusOr<std::unique_ptr<Kernel>> OnesLike(PrepareContext& p) {
  p.InputNotRead(0);
  const int64_t n = p.output_shape(0).num_elements();
  return DispatchType(NumbersAndBool{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) {
      std::fill_n(run.output<T>(0), n, T(1));
      return absl::OkStatus();
    });
  });
}

const OpRegistration fill({
    .name = "Fill",
    .inputs = "dims: index_type, value: T",
    .outputs = "output: T",
    .attrs = "T: type; index_type: type = int32",
    .types = "index_type: int32 int64",
    .shape = FillShape,
    .reference = Fill,
    .batch_axis = batch_axis::Fill,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration zeros_like({
    .name = "ZerosLike",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = ZerosLike,
    .shape_only = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration ones_like({
    .name = "OnesLike",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
             "complex64 complex128 bool",
    .shape = UnchangedShape,
    .reference = OnesLike,
    .shape_only = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration empty({
    .name = "Empty",
    .inputs = "shape: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type; init: bool = false",
    .shape = EmptyShape,
    .reference = Empty,
});

}  // namespace
}  // namespace tenon

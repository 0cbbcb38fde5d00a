// ReverseV2 (along axes), Reverse (along flagged axes) and Roll (cyclic shifts).
#include "kernels/layout/reverse.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ReverseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  if (c.input(0).has_rank() && c.value(1) != nullptr) {
    TENON_RETURN_IF_ERROR(ReversedAxes(*c.value(1), c.input(0).rank()).status());
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status RollShape(ShapeContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() < 1) {
    return InvalidArgument("cannot roll a scalar");
  }
  for (int i = 1; i <= 2; ++i) {
    if (c.input(i).has_rank() && c.input(i).rank() > 1) {
      return InvalidArgument("shift and axis must be scalars or vectors");
    }
  }
  if (!c.input(1).CompatibleWith(c.input(2))) {
    return InvalidArgument("shift and axis must have the same size");
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

const OpRegistration reverse_v2({
    .name = "ReverseV2",
    .inputs = "tensor: T, axis: Tidx",
    .outputs = "output: T",
    .attrs = "Tidx: type = int32; T: type",
    .types = "Tidx: int32 int64; T: uint8 int8 uint16 int16 int32 uint32 int64 uint64 bool "
             "bfloat16 half float double complex64 complex128 string",
    .shape = ReverseShape,
    .reference = ReverseKernel,
    .moves_elements = true,
    .batch_axis = batch_axis::AlongOtherAxes,
});

const OpRegistration reverse({
    .name = "Reverse",
    .inputs = "tensor: T, dims: bool",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: uint8 int8 uint16 int16 uint32 int32 uint64 int64 bool bfloat16 half float double "
             "complex64 complex128 string",
    .shape = ReverseShape,
    .reference = ReverseKernel,
});

const OpRegistration roll({
    .name = "Roll",
    .inputs = "input: T, shift: Tshift, axis: Taxis",
    .outputs = "output: T",
    .attrs = "T: type; Tshift: type; Taxis: type",
    .types = "Tshift: int32 int64; Taxis: int32 int64",
    .shape = RollShape,
    .reference = RollKernel,
});

}  // namespace
}  // namespace tenon

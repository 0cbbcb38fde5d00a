// Range and LinSpace.
#include "kernels/elementwise/range.h"

#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs may be vectors of one element, as in old graphs.
absl::Status RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) {
    if (!c.input(i).CompatibleWith(Shape({1}))) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  }
  int64_t length = -1;
  if (c.value(0) != nullptr && c.value(1) != nullptr && c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(length, RangeLength(*c.value(0), *c.value(1), *c.value(2)));
  }
  c.set_output(0, Shape({length}));
  return absl::OkStatus();
}

absl::Status LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  int64_t n = -1;
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(n, ScalarInteger(*c.value(2), "num"));
    if (n <= 0) return InvalidArgument("num must be positive, but is ", n);
  }
  c.set_output(0, Shape({n}));
  return absl::OkStatus();
}

const OpRegistration range({
    .name = "Range",
    .inputs = "start: Tidx, limit: Tidx, delta: Tidx",
    .outputs = "output: Tidx",
    .attrs = "Tidx: type = int32",
    .types = "Tidx: bfloat16 half float double int8 int16 int32 int64 uint16 uint32 uint64",
    .shape = RangeShape,
    .reference = RangeKernel,
});

const OpRegistration lin_space({
    .name = "LinSpace",
    .inputs = "start: T, stop: T, num: Tidx",
    .outputs = "output: T",
    .attrs = "T: type; Tidx: type = int32",
    .types = "T: bfloat16 half float double; Tidx: int32 int64",
    .shape = LinSpaceShape,
    .reference = LinSpaceKernel,
});

}  // namespace
}  // namespace tenon

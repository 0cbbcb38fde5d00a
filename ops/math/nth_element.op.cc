// NthElement: the n-th smallest (with reverse: largest) element of each row.
#include "kernels/interface/axis.h"
#include "kernels/reduction/order.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status NthElementShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() < 1) return InvalidArgument("input must have at least one dimension");
  const int64_t size = out.dim(out.rank() - 1);
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t n, ScalarInteger(*c.value(1), "n"));
    if (n < 0 || (size >= 0 && n >= size)) {
      return InvalidArgument("n is ", n, " for rows of ", size, " elements");
    }
  }
  out.erase(out.rank() - 1);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration nth_element_op({
    .name = "NthElement",
    .inputs = "input: T, n: int32",
    .outputs = "values: T",
    .attrs = "reverse: bool = false; T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = NthElementShape,
    .reference = NthElementKernel,
});

}  // namespace
}  // namespace tenon

#include "kernels/layout/concat.h"

#include <utility>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/layout/join.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> VectorConcat(PrepareContext& p, int axis_input) {
  const int parts = p.num_inputs() - 1;
  const int first = axis_input == 0 ? 1 : 0;
  const Shape& out = p.output_shape(0);
  const Tensor* axis_value = p.value(axis_input);
  if (axis_value == nullptr || !out.IsComplete()) return Unimplemented("the axis is not known");
  if (p.output_dtype(0) == DType::kString) return Unimplemented("strings");
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*axis_value, "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, out.rank()));
  p.InputNotRead(axis_input);

  Join join;
  join.dtype = p.output_dtype(0);
  join.outer = Product(out, 0, axis);
  for (int i = 0; i < parts; ++i) {
    join.chunks.push_back(Product(p.input_shape(first + i), axis, out.rank()));
  }
  return JoinKernel(std::move(join), first, p.services().threads, "vector:copy");
}

}  // namespace tenon

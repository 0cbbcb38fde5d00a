#include "kernels/interface/shape_at_run.h"

#include "kernels/interface/axis.h"

namespace tenon {

absl::StatusOr<Shape> ShapeAtRun(const RunContext& run, DType shape_type, int64_t rank, int input) {
  const Tensor dims =
      Tensor::FromExternal(shape_type, Shape({rank}), const_cast<void*>(run.input(input)), nullptr);
  return ShapeOfValue(dims, MinusOne::kRefused);
}

}  // namespace tenon

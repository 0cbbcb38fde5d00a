// A shape that an input holds, read at Run.
#ifndef TENON_KERNELS_INTERFACE_SHAPE_AT_RUN_H_
#define TENON_KERNELS_INTERFACE_SHAPE_AT_RUN_H_

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The shape that an input of `rank` elements holds; InvalidArgument for sizes that are negative.
absl::StatusOr<Shape> ShapeAtRun(const RunContext& run, DType shape_type, int64_t rank,
                                 int input = 0);

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_SHAPE_AT_RUN_H_

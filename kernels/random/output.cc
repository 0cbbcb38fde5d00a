#include "kernels/random/output.h"

#include "kernels/interface/types.h"

namespace tenon {

absl::StatusOr<RandomOutput> OutputAtRun(RunContext& run, const Shape& planned, DType shape_type,
                                         int64_t rank, int input) {
  if (planned.IsComplete()) return RandomOutput{run.output(0), planned.num_elements()};
  TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeAtRun(run, shape_type, rank, input));
  TENON_ASSIGN_OR_RETURN(void* data, run.AllocateOutput(0, shape));
  return RandomOutput{data, shape.num_elements()};
}

absl::Status ExpectEndsWith(const Shape& output, const Shape& parameters) {
  const int extra = output.rank() - parameters.rank();
  bool ends = extra >= 0;
  for (int i = 0; ends && i < parameters.rank(); ++i) {
    ends = output.dim(extra + i) == parameters.dim(i);
  }
  if (ends) return absl::OkStatus();
  return InvalidArgument("the output's shape ", output.ToString(),
                         " does not end with that of the parameters, ", parameters.ToString());
}

int64_t BroadcastElement(const Shape& from, const Shape& to, int64_t i) {
  int64_t element = 0, stride = 1;
  for (int axis = to.rank() - 1, at = from.rank() - 1; at >= 0; --axis, --at) {
    if (from.dim(at) != 1) element += i % to.dim(axis) * stride;
    stride *= from.dim(at);
    i /= to.dim(axis);
  }
  return element;
}

absl::StatusOr<IntRange> RangeAt(DType dtype, const void* minval, const void* maxval) {
  IntRange range;
  absl::Status status = NoKernelFor(dtype);
  VisitTypes(TypeList<int32_t, int64_t, uint32_t, uint64_t>{}, dtype, [&]<typename T>() {
    const T low = *static_cast<const T*>(minval), high = *static_cast<const T*>(maxval);
    status = low < high
                 ? absl::OkStatus()
                 : InvalidArgument("need minval < maxval, but they are ", low, " and ", high);
    range = {static_cast<uint64_t>(low), static_cast<uint64_t>(high) - static_cast<uint64_t>(low)};
  });
  TENON_RETURN_IF_ERROR(status);
  return range;
}

}  // namespace tenon

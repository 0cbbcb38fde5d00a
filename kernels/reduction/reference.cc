#include "kernels/reduction/reference.h"

#include "kernels/interface/axis.h"

namespace tenon {

absl::StatusOr<std::vector<bool>> ReducedAxes(const Shape& input, const Tensor& axes) {
  if (axes.shape().rank() > 1) {
    return InvalidArgument("reduction indices must be a scalar or a vector, but have shape ",
                           axes.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(axes));
  return AxisMask(values, input.rank());
}

absl::StatusOr<ReductionSpace> ReductionSpace::Make(const Shape& input, const Tensor& axes) {
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(input, axes));
  ReductionSpace space;
  space.in_elements = input.num_elements();
  space.out_elements = 1;
  std::vector<Dim> dims;  // innermost first
  int64_t in = 1;
  bool last_reduced = false;
  for (int i = input.rank() - 1; i >= 0; --i) {
    const int64_t size = input.dim(i);
    const bool r = reduced[static_cast<size_t>(i)];
    if (size != 1) {
      if (!dims.empty() && last_reduced == r) {
        dims.back().size *= size;
      } else {
        dims.push_back({size, in, r ? 0 : space.out_elements});
        last_reduced = r;
      }
    }
    in *= size;
    (r ? space.count : space.out_elements) *= size;
  }
  if (!dims.empty()) {
    space.inner = dims[0].size;
    space.inner_reduced = dims[0].out == 0;
    space.outer.assign(dims.rbegin(), dims.rend() - 1);
  }
  return space;
}

}  // namespace tenon

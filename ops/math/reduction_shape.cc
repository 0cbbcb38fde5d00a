#include "ops/math/reduction_shape.h"

#include "env/status.h"
#include "kernels/reduction/reference.h"

namespace tenon {

absl::Status ReductionShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  const bool keep = c.attrs().Bool("keep_dims", false);
  if (!in.has_rank()) return absl::OkStatus();
  if (c.value(1) == nullptr) {
    if (keep) c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(in, *c.value(1)));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[static_cast<size_t>(i)]) {
      out.push_back(in.dim(i));
    } else if (keep) {
      out.push_back(1);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace tenon

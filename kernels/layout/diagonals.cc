#include "kernels/layout/diagonals.h"

#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"

namespace tenon {

absl::Status Diagonals::Check(int64_t rows, int64_t cols) const {
  for (int64_t d : {lower, upper}) {
    if (d != 0 && (d <= -rows || d >= cols)) {
      return InvalidArgument("diagonal ", d, " is not in a matrix of ", rows, " by ", cols);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Diagonals> MakeDiagonals(const AttrReader& attrs, const Tensor* k) {
  Diagonals d;
  const std::string align = attrs.String("align", "LEFT_LEFT");
  if (align != "LEFT_LEFT" && align != "LEFT_RIGHT" && align != "RIGHT_LEFT" &&
      align != "RIGHT_RIGHT") {
    return InvalidArgument("align is '", align, "'");
  }
  d.upper_left = align[0] == 'L';
  d.lower_left = align.ends_with("_LEFT");
  if (k == nullptr) return d;
  if (k->shape().rank() > 1 || k->num_elements() < 1 || k->num_elements() > 2) {
    return InvalidArgument("k must be one or two integers, but has shape ", k->shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(*k));
  d.lower = values.front();
  d.upper = values.back();
  if (d.lower > d.upper) {
    return InvalidArgument("k must not fall: ", d.lower, ", ", d.upper);
  }
  return d;
}

}  // namespace tenon

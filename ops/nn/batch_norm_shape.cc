#include "ops/nn/batch_norm_shape.h"

#include "env/status.h"
#include "kernels/normalization/batch_norm.h"

namespace tenon {

absl::StatusOr<int64_t> BatchNormChannels(ShapeContext& c, int i) {
  const Shape& x = c.input(i);
  if (!x.has_rank()) return -1;
  const std::string format = c.attrs().String("data_format", "NHWC");
  if (x.rank() != std::ssize(format)) {
    return InvalidArgument("input ", i, " must have rank ", format.size(), ", but is ",
                           x.ToString());
  }
  return x[BatchNormChannelAxis(c.attrs(), x.rank())];
}

absl::Status ExpectPerChannel(ShapeContext& c, int i, int64_t& channels) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  if (!c.input(i).has_rank()) return absl::OkStatus();
  const int64_t n = c.input(i)[0];
  if (n >= 0 && channels >= 0 && n != channels) {
    return InvalidArgument("input ", i, " must have ", channels, " elements, but has ", n);
  }
  if (channels < 0) channels = n;
  return absl::OkStatus();
}

}  // namespace tenon

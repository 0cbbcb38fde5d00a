// Extracts the window around each position of an image or volume, laid out as channels.
#ifndef TENON_KERNELS_LAYOUT_PATCHES_H_
#define TENON_KERNELS_LAYOUT_PATCHES_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Windows by spatial dimension.
struct Patches {
  std::vector<int64_t> size, stride, rate;  // per spatial dimension
  bool same = false;
};

// Reads ksizes, strides, rates (rank 4 only) and padding. InvalidArgument if one does not match the
// rank.
absl::StatusOr<Patches> ReadPatches(const AttrReader& attrs, int rank);

// [batch, height, width, channels] or, with one more dimension, a volume to [batch, windows ...,
// window size * channels]; 0 beyond the border. Any dtype.
absl::StatusOr<std::unique_ptr<Kernel>> ExtractPatchesKernel(PrepareContext& p, int rank);
template <int rank>
absl::StatusOr<std::unique_ptr<Kernel>> ExtractPatchesKernel(PrepareContext& p) {
  return ExtractPatchesKernel(p, rank);
}

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_PATCHES_H_

// Pads tensors with a constant, or with the tensor itself mirrored.
#ifndef TENON_KERNELS_LAYOUT_PAD_H_
#define TENON_KERNELS_LAYOUT_PAD_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

// Elements before and after a dimension.
struct Padding {
  int64_t before;
  int64_t after;
};

// For a tensor with that rank, from a value of shape [rank, 2]. InvalidArgument for another shape
// or negative numbers.
absl::StatusOr<std::vector<Padding>> ReadPaddings(const Tensor& t, int rank);

// Input 1 is the paddings; input 2, if present, the constant (default 0). Any dtype.
absl::StatusOr<std::unique_ptr<Kernel>> PadKernel(PrepareContext& p);

// From the attribute mode: 1 if the border element is not repeated (REFLECT), 0 if it is
// (SYMMETRIC). InvalidArgument otherwise.
absl::StatusOr<int64_t> MirrorOffset(const AttrReader& attrs);

// Input 1 is the paddings, which the shape function has checked against the size. Any dtype.
absl::StatusOr<std::unique_ptr<Kernel>> MirrorPadKernel(PrepareContext& p);

// The gradient of MirrorPadKernel: from the padded shape to the plain one; elements that were
// copied several times are summed (half and bfloat16 in float). Numeric dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> MirrorPadGradKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_PAD_H_

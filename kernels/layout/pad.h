// Tensors with a border: a constant, or the tensor itself mirrored.
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

// Of a tensor of that rank, from a value of shape [rank, 2]. InvalidArgument for another shape
// and negative numbers.
absl::StatusOr<std::vector<Padding>> ReadPaddings(const Tensor& t, int rank);

// Input 1 is the paddings; input 2, where there is one, the constant (else 0). Any dtype.
absl::StatusOr<std::unique_ptr<Kernel>> PadKernel(PrepareContext& p);

// From the attribute mode: 1 where the border element is not repeated (REFLECT), 0 where it is
// (SYMMETRIC). InvalidArgument otherwise.
absl::StatusOr<int64_t> MirrorOffset(const AttrReader& attrs);

// Input 1 is the paddings, which the shape function has checked against the size. Any dtype.
absl::StatusOr<std::unique_ptr<Kernel>> MirrorPadKernel(PrepareContext& p);

// The gradient of MirrorPadKernel: from the padded shape to the plain one, elements that were
// copied several times summed (half and bfloat16 in float). Numbers.
absl::StatusOr<std::unique_ptr<Kernel>> MirrorPadGradKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_PAD_H_

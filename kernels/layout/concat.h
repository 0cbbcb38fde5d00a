// Concatenates tensors along an axis, row after row, copying each part's piece with memcpy.
#ifndef TENON_KERNELS_LAYOUT_CONCAT_H_
#define TENON_KERNELS_LAYOUT_CONCAT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input `axis_input`, the first or the last, is the axis, whose value must be known; the others are
// the parts. Supports every dtype except string.
absl::StatusOr<std::unique_ptr<Kernel>> VectorConcat(PrepareContext& p, int axis_input);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_CONCAT_H_

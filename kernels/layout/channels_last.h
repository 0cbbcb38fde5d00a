// Runs kernels for channels last on tensors with channels first: transposes them on the way in and
// out, which costs far less than plain loops.
#ifndef TENON_KERNELS_LAYOUT_CHANNELS_LAST_H_
#define TENON_KERNELS_LAYOUT_CHANNELS_LAST_H_

#include <memory>

#include "kernels/interface/kernel.h"

namespace tenon {

// Prepares a node with data_format NCHW (or NCDHW) by means of a kernel for NHWC (NDHWC).
// Transposes tensors of spatial + 2 dimensions, and reorders attributes and constant int32 vectors
// that have an element, or a pair, for each dimension. Only for float with one output; otherwise
// Unimplemented.
absl::StatusOr<std::unique_ptr<Kernel>> PrepareChannelsLast(PrepareContext& p, int spatial,
                                                            KernelFactory channels_last);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_CHANNELS_LAST_H_

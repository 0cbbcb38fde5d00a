// Kernels for channels last, run on tensors that have their channels first: turned on the way in
// and out, which costs far less than plain loops.
#ifndef TENON_KERNELS_LAYOUT_CHANNELS_LAST_H_
#define TENON_KERNELS_LAYOUT_CHANNELS_LAST_H_

#include <memory>

#include "kernels/interface/kernel.h"

namespace tenon {

// Prepares a node with data_format NCHW (or NCDHW) by way of a kernel for NHWC (NDHWC). Tensors of
// spatial + 2 dimensions are turned; attributes and constant int32 vectors that have an element, or
// a pair, for each dimension are put into the other order. Float only, one output: else
// Unimplemented.
absl::StatusOr<std::unique_ptr<Kernel>> PrepareChannelsLast(PrepareContext& p, int spatial,
                                                            KernelFactory channels_last);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_CHANNELS_LAST_H_

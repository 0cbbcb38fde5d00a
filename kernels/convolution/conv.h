// Kernels of the convolutions, told apart by how many spatial dimensions and
// which filter layout they have; plain and fused ops alike (a plain one has no fused_ops).
#ifndef TENON_KERNELS_CONVOLUTION_CONV_H_
#define TENON_KERNELS_CONVOLUTION_CONV_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/convolution.h"

namespace tenon {

// The forward convolution of plain tensors as oneDNN is told of it: no bias, no post-ops.
ConvolutionProblem ConvProblem(const ConvGeometry& g, ElementType type, int threads);

absl::StatusOr<std::unique_ptr<Kernel>> ConvReferenceKernel(PrepareContext& p, int spatial,
                                                            ConvKind kind);
absl::StatusOr<std::unique_ptr<Kernel>> ConvOnednnKernel(PrepareContext& p, int spatial,
                                                         ConvKind kind);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_H_

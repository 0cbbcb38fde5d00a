// Convolution kernels, for a given number of spatial dimensions and filter layout; for plain and
// fused ops alike (a plain op has no fused_ops).
#ifndef TENON_KERNELS_CONVOLUTION_CONV_H_
#define TENON_KERNELS_CONVOLUTION_CONV_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/contraction.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/convolution.h"

namespace tenon {

// The forward convolution of plain tensors as a oneDNN problem, without bias and post-ops.
ConvolutionProblem ConvProblem(const ConvGeometry& g, ElementType type, int threads);
// The same with the fused ops.
Contraction ConvContraction(const PrepareContext& p, const ConvGeometry& g, ElementType type,
                            FusedOps fused);

// Whether oneDNN's gemm convolution computes it, which serves what the others do not (left padding
// of more than a few dilated columns without AVX-512).
bool ComputesByGemm(const Primitive& convolution);

// Whether it is of a float image [N, H, W, C] and a constant filter without groups.
bool HasConstantFilter(const PrepareContext& p, const ConvGeometry& g);
// Such a filter, or one of groups, as a matrix: a row for each of a group's channels of each
// position of the window.
std::shared_ptr<const PackedLayout> FilterPanels(const ConvGeometry& g, size_t width, int threads);

absl::StatusOr<std::unique_ptr<Kernel>> ConvReferenceKernel(PrepareContext& p, int spatial,
                                                            ConvKind kind);
absl::StatusOr<std::unique_ptr<Kernel>> ConvOnednnKernel(PrepareContext& p, int spatial,
                                                         ConvKind kind);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_H_

// The convolutions of a mobile network's block, line by line: a 1x1 convolution that expands the
// image to many channels, a depthwise one, and a 1x1 convolution that projects the result to few
// channels again. The lines between them, which are the largest tensors of such a network, stay in
// the caches.
#ifndef TENON_KERNELS_CONVOLUTION_INVERTED_RESIDUAL_H_
#define TENON_KERNELS_CONVOLUTION_INVERTED_RESIDUAL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// One of the convolutions, as a node of its own, which the context describes.
struct ConvStage {
  PrepareContext* context = nullptr;
  // Of the block's node, by input of the stage; -1: the tensor that the stage before it computes.
  std::vector<int> inputs;
};
struct ConvStages {
  ConvStage expand, depthwise, project;  // the last may be missing
};

// Requests its scratch from the depthwise stage's context. Unimplemented if the stages are as fast
// one after the other, and for what the loops do not support.
absl::StatusOr<std::unique_ptr<Kernel>> InvertedResidualKernel(const ConvStages& stages);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_INVERTED_RESIDUAL_H_

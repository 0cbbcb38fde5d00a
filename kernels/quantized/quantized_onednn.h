// The accelerated kernel of quantized contractions: a oneDNN convolution of 8-bit integers,
// followed by everything in a QuantizedFusion. Products are convolutions with 1x1 filters.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZED_ONEDNN_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZED_ONEDNN_H_

#include <memory>
#include <vector>

#include "kernels/quantized/quantized_fusion.h"
#include "primitive_cache/convolution.h"

namespace tenon {

struct QuantizedContraction {
  QuantizedFusion fusion;
  // For plain tensors, without bias, scales and post-ops; element types are filled in.
  ConvolutionProblem problem;
  double flops = 0;
  bool min_first = false;            // as in FusionValues
  std::vector<int32_t> weight_sums;  // likewise; for float biases
};

// Unimplemented if oneDNN's sums would not be exact, and for float summands and empty tensors.
absl::StatusOr<std::unique_ptr<Kernel>> PrepareQuantizedContraction(PrepareContext& p,
                                                                    QuantizedContraction c);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZED_ONEDNN_H_

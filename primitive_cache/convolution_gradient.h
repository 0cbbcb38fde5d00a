// Gradients of a convolution with respect to its source, and to its weights (and bias).
#ifndef TENON_PRIMITIVE_CACHE_CONVOLUTION_GRADIENT_H_
#define TENON_PRIMITIVE_CACHE_CONVOLUTION_GRADIENT_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "primitive_cache/convolution.h"

namespace tenon {

// Arguments, in the layouts that `forward` describes:
//   kSource:  gradient of dst, weights, gradient of src (weights_layout() may ask for packed ones)
//   kWeights: src, gradient of dst, gradient of the weights, gradient of the bias (if has_bias)
struct ConvolutionGradientProblem {
  enum class Of { kSource, kWeights };
  Of of = Of::kSource;
  ConvolutionProblem forward;  // without post-ops

  friend bool operator==(const ConvolutionGradientProblem&,
                         const ConvolutionGradientProblem&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ConvolutionGradientProblem& p) {
    return H::combine(std::move(h), p.of, p.forward);
  }
};

// Unimplemented if oneDNN has only plain loops for the problem.
absl::StatusOr<std::shared_ptr<const Primitive>> GetConvolutionGradient(
    const ConvolutionGradientProblem& problem, PrimitiveCache* cache);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_CONVOLUTION_GRADIENT_H_

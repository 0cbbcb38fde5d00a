// Forward convolution, 1 to 3 spatial dimensions, with groups (depthwise: one group per channel).
#ifndef TENON_PRIMITIVE_CACHE_CONVOLUTION_H_
#define TENON_PRIMITIVE_CACHE_CONVOLUTION_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "primitive_cache/cache.h"
#include "primitive_cache/primitive.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// Arguments: src, weights, bias (if has_bias), dst, then the operand of each binary post-op. No
// dimension may be 0.
struct ConvolutionProblem {
  TensorDesc src;      // N, C, spatial
  TensorDesc weights;  // as the caller holds them: (G,) O, I, spatial
  TensorDesc dst;      // N, C, spatial
  bool grouped = false;
  // One value per output channel, of the destination's type; float if that is an integer.
  bool has_bias = false;
  // Factors on the sum of products and bias, before the post-ops: none, one, or one per output
  // channel.
  std::vector<float> scales;
  // For 8-bit integers: the sums are of (src - src_zero) * weights, also in the padding; dst_zero
  // is added after the post-ops.
  int32_t src_zero = 0, dst_zero = 0;
  Dims strides;
  Dims dilations;  // 1: dense
  Dims pads_begin;
  Dims pads_end;
  std::vector<PostOpSpec> post_ops;
  // Whether Winograd's minimal filtering may be used if it is faster. It needs fewer products and
  // rounds about as much, but an infinity or NaN spreads over its whole tile (up to 4x4 results).
  bool allow_winograd = false;
  int threads = 1;

  // Elements from a window's first to its last one, along spatial dimension d.
  int64_t window_range(size_t d) const {
    return 1 + (weights.dims[(grouped ? 3 : 2) + d] - 1) * dilations[d];
  }
  // Whether a post-op reads what the destination held before.
  bool adds_to_destination() const;
  bool has_binary_post_op() const;

  friend bool operator==(const ConvolutionProblem&, const ConvolutionProblem&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ConvolutionProblem& p) {
    return H::combine(std::move(h), p.src, p.weights, p.dst, p.grouped, p.has_bias, p.scales,
                      p.src_zero, p.dst_zero, p.strides, p.dilations, p.pads_begin, p.pads_end,
                      p.post_ops, p.allow_winograd, p.threads);
  }
};

// Whether products of 8-bit integers are summed exactly. Without VNNI instructions, oneDNN adds
// pairs of them in 16 bits, which saturate.
bool HasExactInt8();

// Unimplemented if oneDNN has only plain loops for the problem.
absl::StatusOr<std::shared_ptr<const Primitive>> GetConvolution(const ConvolutionProblem& problem,
                                                                PrimitiveCache* cache);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_CONVOLUTION_H_

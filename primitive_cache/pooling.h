// Forward pooling over 1 to 3 spatial dimensions.
#ifndef TENON_PRIMITIVE_CACHE_POOLING_H_
#define TENON_PRIMITIVE_CACHE_POOLING_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "primitive_cache/cache.h"
#include "primitive_cache/primitive.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// Arguments: src, dst. No dimension may be 0.
struct PoolingProblem {
  enum class Kind { kMax, kAverage };  // averages do not count padding
  Kind kind = Kind::kMax;
  TensorDesc src;  // N, C, spatial
  TensorDesc dst;
  Dims window;
  Dims strides;
  Dims pads_begin;
  Dims pads_end;
  int threads = 1;

  friend bool operator==(const PoolingProblem&, const PoolingProblem&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const PoolingProblem& p) {
    return H::combine(std::move(h), p.kind, p.src, p.dst, p.window, p.strides, p.pads_begin,
                      p.pads_end, p.threads);
  }
};

// Unimplemented if oneDNN has only plain loops for the problem.
absl::StatusOr<std::shared_ptr<const Primitive>> GetPooling(const PoolingProblem& problem,
                                                            PrimitiveCache* cache);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_POOLING_H_

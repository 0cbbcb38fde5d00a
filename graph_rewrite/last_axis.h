// The last axis of a pattern's `x`, and constants along it: what rules for normalizations share.
#ifndef TENON_GRAPH_REWRITE_LAST_AXIS_H_
#define TENON_GRAPH_REWRITE_LAST_AXIS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/tensor.h"
#include "graph_rewrite/match.h"
#include "graph_rewrite/replacement.h"

namespace tenon {

// FailedPrecondition unless rank and size are known.
struct LastAxis {
  int rank = 0;  // of x
  int64_t size = 0;
};
absl::StatusOr<LastAxis> LastAxisOf(const Match& match, absl::string_view x);

// FailedPrecondition unless `axes` names this axis alone.
absl::Status IsLastAxis(const Tensor& axes, const LastAxis& axis);

// The constant as a vector along the last axis; it must not widen x.
absl::StatusOr<Tensor> AsVector(const Tensor& t, DType dtype, const LastAxis& axis);

// Sets the constant `name` of the replacement to a vector: filled with `absent` if the pattern does
// not capture `name`, otherwise what it captured. A vector that is computed stays as it is.
absl::Status SetVector(const Match& match, absl::string_view name, const LastAxis& axis,
                       double absent, Replacement& replacement);

// The attribute epsilon of `node` in the replacement from a constant of one element.
absl::Status SetEpsilon(const Match& match, absl::string_view constant, const LastAxis& axis,
                        absl::string_view node, Replacement& replacement);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_LAST_AXIS_H_

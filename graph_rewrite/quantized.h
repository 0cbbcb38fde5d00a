// What the rules on quantized regions share: QuantizeV2 and Dequantize of mode SCALED, 8 bits, with
// constant ranges.
#ifndef TENON_GRAPH_REWRITE_QUANTIZED_H_
#define TENON_GRAPH_REWRITE_QUANTIZED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon::quantized {

inline bool IsEightBits(DType dtype) { return dtype == DType::kQint8 || dtype == DType::kQuint8; }
inline float Limit(DType dtype) { return dtype == DType::kQuint8 ? 255.0f : 127.0f; }

template <typename T>
T AttrOr(const Node& n, const char* name, T fallback) {
  const T* v = n.attr<T>(name);
  return v == nullptr ? fallback : *v;
}

inline bool IsScaled(const Node& n) { return AttrOr<std::string>(n, "mode", "") == "SCALED"; }

// A range input: a constant, or what a QuantizeV2 with constant ranges gives.
absl::StatusOr<Tensor> RangeValue(RuleContext& context, Endpoint e);

// A Dequantize: what it reads, and what the integer 1 is worth (in each slice of the axis).
struct Source {
  Endpoint integers;
  DType dtype = DType::kInvalid;
  std::vector<float> steps;
  int64_t axis = -1;
};
// FailedPrecondition with the reason where `e` is no such thing.
absl::StatusOr<Source> ReadSource(RuleContext& context, Endpoint e);

// Readers of a QuantizeV2 with this range get `integers` and the range's values.
void ReplaceQuantize(RuleContext& context, NodeId quantize, Endpoint integers, const Tensor& min,
                     const Tensor& max);

}  // namespace tenon::quantized

#endif  // TENON_GRAPH_REWRITE_QUANTIZED_H_

// Shared by the rules on quantized regions: QuantizeV2 and Dequantize with 8 bits and constant
// ranges. An integer q represents q * step + offset, where step is the scale. The offset is 0 in
// mode SCALED; in the other modes it follows from the range, and is a multiple of the scale if
// there is a zero point.
#ifndef TENON_GRAPH_REWRITE_QUANTIZED_H_
#define TENON_GRAPH_REWRITE_QUANTIZED_H_

#include <optional>
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

// Whether a pool can be one of integers: of images with the channels last, over pixels alone.
bool PoolsPixels(const Node& pool);

struct Scale {
  float step = 1, offset = 0;
};

// The zero point, the integer of `dtype` that represents 0; none if 0 lies between two integers.
std::optional<int64_t> ZeroOf(DType dtype, Scale scale);

// A QuantizeV2 to 8 bits: its range outputs, and the values of its integers.
struct Target {
  Tensor min, max;
  Scale scale;
};
// FailedPrecondition if the range is not constant or there is more than one.
absl::StatusOr<Target> ReadTarget(RuleContext& context, NodeId quantize);

// A Dequantize: its input, and its scales (one per slice of the axis; then without an offset).
struct Source {
  Endpoint integers;
  DType dtype = DType::kInvalid;
  std::vector<float> steps;
  int64_t axis = -1;
  float offset = 0;
};
// FailedPrecondition, with the reason, if `e` is not such a Dequantize.
absl::StatusOr<Source> ReadSource(RuleContext& context, Endpoint e);

// Adds two inputs to a node: the range (in mode SCALED) with that scale.
void AddRange(RuleContext& context, const std::string& name, DType dtype, float step, Node& node);

// Readers of the QuantizeV2 get `integers` and the range's values.
void ReplaceQuantize(RuleContext& context, NodeId quantize, Endpoint integers,
                     const Target& target);

}  // namespace tenon::quantized

#endif  // TENON_GRAPH_REWRITE_QUANTIZED_H_

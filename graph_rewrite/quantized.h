// What the rules on quantized regions share: QuantizeV2 and Dequantize of 8 bits with constant
// ranges, where an integer q stands for q * step + offset. In mode SCALED the offset is 0; in the
// others it is what the range says, and a multiple of the step where an integer stands for 0.
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

struct Scale {
  float step = 1, offset = 0;
};

// The integer of `dtype` that stands for 0; none where 0 lies between two of them.
std::optional<int64_t> ZeroOf(DType dtype, Scale scale);

// A QuantizeV2 to 8 bits: its range outputs, and what its integers stand for.
struct Target {
  Tensor min, max;
  Scale scale;
};
// FailedPrecondition where the range is not constant, or there is more than one.
absl::StatusOr<Target> ReadTarget(RuleContext& context, NodeId quantize);

// A Dequantize: what it reads, and its steps (in each slice of the axis; then without offset).
struct Source {
  Endpoint integers;
  DType dtype = DType::kInvalid;
  std::vector<float> steps;
  int64_t axis = -1;
  float offset = 0;
};
// FailedPrecondition with the reason where `e` is no such thing.
absl::StatusOr<Source> ReadSource(RuleContext& context, Endpoint e);

// Adds two inputs to a node: the range (SCALED) with that step.
void AddRange(RuleContext& context, const std::string& name, DType dtype, float step, Node& node);

// Readers of the QuantizeV2 get `integers` and the range's values.
void ReplaceQuantize(RuleContext& context, NodeId quantize, Endpoint integers,
                     const Target& target);

}  // namespace tenon::quantized

#endif  // TENON_GRAPH_REWRITE_QUANTIZED_H_

// Puts QuantizeV2 and Dequantize into a float graph: standard TensorFlow ops, of mode SCALED, and
// MIN_COMBINED for ranges with a zero point.
#ifndef TENON_RUNTIME_QUANTIZE_INSERT_H_
#define TENON_RUNTIME_QUANTIZE_INSERT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph_rewrite/context.h"
#include "runtime/quantize/scheme.h"

namespace tenon {

// What a group's integers stand for: [low, high]. quint8 from 0 on, qint8 from -high on, or quint8
// from below 0 on: then an integer between stands for 0, exactly.
struct GroupRange {
  DType dtype = DType::kQint8;
  float low = -1, high = 1;
  bool has_zero_point() const { return dtype == DType::kQuint8 && low < 0; }
};

// Tensors and the weights of the layers that are not kept, in place.
absl::Status InsertPairs(RuleContext& context, const std::vector<Layer>& layers,
                         const Scheme& scheme, const std::vector<GroupRange>& ranges);

// Beside each layer that is not kept a copy of it on quantized data and weights. The outputs are,
// for each, the sum of squared differences and that of the layer's squares (before its bias).
absl::Status InsertMeasures(RuleContext& context, const std::vector<Layer>& layers,
                            const Scheme& scheme, const std::vector<GroupRange>& ranges,
                            std::vector<GraphOutput>& outputs);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_INSERT_H_

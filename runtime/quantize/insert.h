// Inserts QuantizeV2 and Dequantize into a float graph: standard TensorFlow ops, in mode SCALED, or
// MIN_COMBINED for ranges with a zero point.
#ifndef TENON_RUNTIME_QUANTIZE_INSERT_H_
#define TENON_RUNTIME_QUANTIZE_INSERT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph_rewrite/context.h"
#include "runtime/quantize/scheme.h"

namespace tenon {

// The range [low, high] that a group's integers represent: quint8 if low is 0, qint8 if low is
// -high, otherwise quint8 with a zero point, so that an integer represents 0 exactly.
struct GroupRange {
  DType dtype = DType::kQint8;
  float low = -1, high = 1;
  bool has_zero_point() const { return dtype == DType::kQuint8 && low < 0; }
};

// Inserts pairs at the tensors and the weights of all quantized layers.
absl::Status InsertPairs(RuleContext& context, const std::vector<Layer>& layers,
                         const Scheme& scheme, const std::vector<GroupRange>& ranges);

// Adds, next to each quantized layer, a copy that works on quantized data and weights. The outputs
// for each are the sum of squared differences, and the sum of squares of the layer's result (before
// its bias).
absl::Status InsertMeasures(RuleContext& context, const std::vector<Layer>& layers,
                            const Scheme& scheme, const std::vector<GroupRange>& ranges,
                            std::vector<GraphOutput>& outputs);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_INSERT_H_

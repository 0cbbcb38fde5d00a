// Puts QuantizeV2 and Dequantize into a float graph: standard TensorFlow ops, mode SCALED.
#ifndef TENON_TOOLS_QUANTIZE_INSERT_H_
#define TENON_TOOLS_QUANTIZE_INSERT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph_rewrite/context.h"
#include "tools/quantize/scheme.h"

namespace tenon {

// What a group's integers stand for: quint8 for [0, top], qint8 for [-top, top].
struct GroupRange {
  DType dtype = DType::kQint8;
  float top = 1;
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

#endif  // TENON_TOOLS_QUANTIZE_INSERT_H_

// Layers whose weights are stored in fewer bits and expanded by standard ops.
#ifndef TENON_RUNTIME_QUANTIZE_EXPAND_WEIGHTS_H_
#define TENON_RUNTIME_QUANTIZE_EXPAND_WEIGHTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"
#include "runtime/quantize/weights.h"

namespace tenon {

struct SmallLayer {
  size_t layer = 0;  // in the report
  NodeId node = kNoNode;
  Endpoint result;  // what replaces the node's
};

// Adds, beside each layer of the graph that can have small weights, one that has them, and every
// layer to the report.
absl::StatusOr<std::vector<SmallLayer>> AddSmallLayers(RuleContext& context,
                                                       const WeightsOptions& options,
                                                       WeightsReport& report);
// Replaces the layers by these.
void UseSmallLayers(RuleContext& context, const std::vector<SmallLayer>& layers);

// Adds three outputs: the sum of the squared differences of both results, the sum of squares of the
// exact one, and the largest difference.
absl::Status AddMeasures(RuleContext& context, const SmallLayer& layer,
                         std::vector<GraphOutput>& outputs);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_EXPAND_WEIGHTS_H_

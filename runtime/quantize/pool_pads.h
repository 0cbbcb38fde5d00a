// Pads that some frameworks put before a max pool, with a number below all others.
#ifndef TENON_RUNTIME_QUANTIZE_POOL_PADS_H_
#define TENON_RUNTIME_QUANTIZE_POOL_PADS_H_

#include "graph_rewrite/context.h"

namespace tenon {

// Lets a PadV2 pad with zeros if it pads a tensor that is never negative with something below zero,
// for a MaxPool alone whose windows all see the tensor: the results are the same, and its range is
// that of the tensor.
void PadPoolsWithZeros(RuleContext& context);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_POOL_PADS_H_

// Outputs that are their input, or a contiguous part of it: a plan passes on the memory.
#ifndef TENON_RUNTIME_PLAN_SLICE_VIEW_H_
#define TENON_RUNTIME_PLAN_SLICE_VIEW_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "ops/op.h"

namespace tenon {

// Where the data of a node's outputs lies in that of an input.
struct SliceView {
  size_t input = 0;
  std::vector<size_t> offsets;  // bytes, by output
};

// Whether output i has input i's elements in the same order, if it has as many.
bool IsWholeInput(const OpRow& row, absl::Span<const TensorSpec> inputs);

// None if the node does more than that, or if the values that tell are not known. The outputs'
// shapes are complete.
std::optional<SliceView> SliceViewOf(const OpRow& row, const Node& node,
                                     absl::Span<const TensorSpec> inputs,
                                     absl::Span<const TensorSpec> outputs);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_SLICE_VIEW_H_

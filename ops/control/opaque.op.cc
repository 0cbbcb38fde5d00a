// An opaque node, which another program runs: its inputs stay in order, its outputs have the dtypes
// and shapes that it states, and nothing else is known about it. In graphs that are rewritten
// inside TensorFlow (proto/process/process_graph.h), it represents an op that Tenon does not know
// or must not touch.
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status StatedShapes(ShapeContext& c) {
  const auto* shapes = c.node().attr<std::vector<Shape>>("shapes");
  for (int i = 0; shapes != nullptr && i < c.num_outputs(); ++i) {
    if (static_cast<size_t>(i) < shapes->size()) c.set_output(i, (*shapes)[static_cast<size_t>(i)]);
  }
  return absl::OkStatus();
}

const OpRegistration opaque({
    .name = "_Opaque",
    .inputs = "inputs: Tin",
    .outputs = "outputs: Tout",
    .attrs = "Tin: list(type); Tout: list(type); shapes: list(shape)",
    .shape = StatedShapes,
    .stateful = true,
    .eager = false,
    .internal = true,
});

}  // namespace
}  // namespace tenon

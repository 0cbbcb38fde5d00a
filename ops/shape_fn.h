// Shape functions: compute output shapes from input shapes, attributes and known input values.
// Import, rewriting, plans and eager calls share them.
//
// A shape function must accept partial shapes (unknown rank, dimensions of -1) and return what
// follows from them. For complete inputs it returns complete outputs, unless the output shape
// depends on unknown data (then it leaves dimensions unknown). It also checks inputs: wrong ranks
// or sizes are InvalidArgument; the caller adds the node's name.
#ifndef TENON_OPS_SHAPE_FN_H_
#define TENON_OPS_SHAPE_FN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attr_reader.h"
#include "graph/graph.h"
#include "graph/shape.h"
#include "graph/tensor_spec.h"

namespace tenon {

class ShapeContext {
 public:
  ShapeContext(const Node& node, absl::Span<const TensorSpec> inputs, int num_outputs)
      : attrs_(node),
        inputs_(inputs),
        outputs_(static_cast<size_t>(num_outputs), Shape::Unknown()) {}

  const AttrReader& attrs() const { return attrs_; }
  const Node& node() const { return attrs_.node(); }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& input(int i) const { return inputs_[static_cast<size_t>(i)].shape; }
  DType dtype(int i) const { return inputs_[static_cast<size_t>(i)].dtype; }
  // The value of an input if it is known; otherwise null.
  const Tensor* value(int i) const { return inputs_[static_cast<size_t>(i)].value; }

  // InvalidArgument unless input i has that rank, or its rank is unknown.
  absl::Status ExpectRank(int i, int rank) const;

  void set_output(int i, Shape shape) { outputs_[static_cast<size_t>(i)] = std::move(shape); }
  const std::vector<Shape>& outputs() const { return outputs_; }

 private:
  AttrReader attrs_;
  absl::Span<const TensorSpec> inputs_;
  std::vector<Shape> outputs_;
};

using ShapeFn = absl::Status (*)(ShapeContext&);

// Shape functions that many ops use.
absl::Status UnchangedShape(ShapeContext& c);        // every output has input 0's shape
absl::Status BroadcastBinaryShape(ShapeContext& c);  // NumPy broadcast of inputs 0 and 1
absl::Status ScalarShape(ShapeContext& c);           // every output is a scalar
absl::Status UnknownShape(ShapeContext& c);          // depends on data: nothing is known in advance

}  // namespace tenon

#endif  // TENON_OPS_SHAPE_FN_H_

// A tensor as far as it is known before it is computed: what shape functions and Prepare see.
#ifndef TENON_GRAPH_TENSOR_SPEC_H_
#define TENON_GRAPH_TENSOR_SPEC_H_

#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace tenon {

struct TensorSpec {
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  const Tensor* value = nullptr;  // null: not known yet
};

}  // namespace tenon

#endif  // TENON_GRAPH_TENSOR_SPEC_H_

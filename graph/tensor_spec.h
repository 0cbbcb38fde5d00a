// What is known of a tensor before it is computed: the input of shape functions and Prepare.
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

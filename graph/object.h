// The elements of resource and variant tensors: shared objects (a variable, a list of tensors).
// Such a tensor holds an ObjectPtr per element; unset elements are null.
//
//   struct Queue : Object { ... };
//   TENON_ASSIGN_OR_RETURN(Tensor handle,
//                          ObjectTensor(DType::kResource, std::make_shared<Queue>()));
//   auto queue = ObjectAs<Queue>(handle.data<ObjectPtr>()[0]);   // null if it has another type
#ifndef TENON_GRAPH_OBJECT_H_
#define TENON_GRAPH_OBJECT_H_

#include <memory>
#include <utility>

#include "env/status.h"
#include "graph/tensor.h"

namespace tenon {

class Object {
 public:
  virtual ~Object() = default;
};
using ObjectPtr = std::shared_ptr<Object>;

inline bool HoldsObjects(DType dtype) {
  return dtype == DType::kResource || dtype == DType::kVariant;
}

// A scalar that holds `object`. Fails only for lack of memory.
inline absl::StatusOr<Tensor> ObjectTensor(DType dtype, ObjectPtr object) {
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(dtype, Shape()));
  t.data<ObjectPtr>()[0] = std::move(object);
  return t;
}

template <typename T>
std::shared_ptr<T> ObjectAs(const ObjectPtr& object) {
  return std::dynamic_pointer_cast<T>(object);
}

}  // namespace tenon

#endif  // TENON_GRAPH_OBJECT_H_

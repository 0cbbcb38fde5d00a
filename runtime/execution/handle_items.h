// What planning knows of the tensors behind a handle: those in a list, in a stack, or in a tensor
// array and the arrays of its gradients. A step that takes one then has an output of known shape.
#ifndef TENON_RUNTIME_EXECUTION_HANDLE_ITEMS_H_
#define TENON_RUNTIME_EXECUTION_HANDLE_ITEMS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon {

struct ItemState {
  Shape shape = Shape::Unknown();                 // complete: of all tensors that are set
  bool none = false;                              // no tensor is set so far
  bool unset = false;                             // there may be some that are not: zeros
  std::shared_ptr<const Tensor> value = nullptr;  // what all tensors are; null: not known

  bool operator==(const ItemState& other) const;
  // What holds if either does.
  ItemState Or(const ItemState& other) const;
};

// A handle of a list (kVariant) or of another object (kResource) that stands for any with such
// tensors, in planning.
absl::StatusOr<Tensor> PlannedHandle(DType dtype, const ItemState& items);
// The state that a handle stands for, or that of a real one. (That a real one is empty now says
// nothing about the next run of a plan.)
ItemState ItemStateOf(const Tensor& handle);

// Whether the tensor is the handle of a list, a stack or an array, whose tensors a plan is made
// for.
bool HoldsItems(const Tensor& t);

// How an op uses the handle in input 0, or what it makes.
enum class HandleUse {
  kNone,
  kMakes,     // a new handle
  kPasses,    // output 0 has its tensors behind it, too
  kPuts,      // adds input `operand`
  kPutsRows,  // adds rows of input `operand`
  kPutsMore,  // adds tensors of other shapes
  kTakes,     // output 0 is one of the tensors
  kGathers,   // output 0 is as many of the tensors as input 1 has elements
};
struct HandleOp {
  HandleUse use = HandleUse::kNone;
  size_t operand = 0;
};
HandleOp HandleOpOf(const Node& node);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_HANDLE_ITEMS_H_

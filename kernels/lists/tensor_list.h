// Lists of tensors: what the handles (variant scalars) of the TensorList ops lead to. A list does
// not change once another step may see it: ops copy it (the tensors are shared) and change the
// copy.
#ifndef TENON_KERNELS_LISTS_TENSOR_LIST_H_
#define TENON_KERNELS_LISTS_TENSOR_LIST_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/object.h"
#include "kernels/interface/kernel.h"

namespace tenon {

struct TensorList final : Object {
  DType dtype = DType::kInvalid;
  Shape element_shape = Shape::Unknown();            // compatible with every item's
  std::vector<std::shared_ptr<const Tensor>> items;  // null: not set; reads as zeros
  // Complete where all items that are set have this one shape; plans are made for it.
  Shape common = Shape::Unknown();

  // To be called for each shape that items are given.
  void Note(const Shape& item);

  // What items that are not set have: element_shape, `wanted` and the items' shapes merged.
  // InvalidArgument where they contradict each other.
  absl::StatusOr<Shape> ItemShape(const Shape& wanted) const;
};

// The common shape of the items of a variant scalar's list; unknown where it is no such list.
Shape CommonItemShape(const Tensor& handle);

// A handle's list. InvalidArgument where it leads to none, or to one of another dtype (kInvalid:
// any).
absl::StatusOr<const TensorList*> ListAt(const ObjectPtr* handle, DType dtype = DType::kInvalid);

// The shape that an element_shape input says: a vector with -1 for unknown sizes, or the scalar -1.
absl::StatusOr<Shape> ElementShape(const Tensor& value);
// The same, of input `i` while running; `spec` is its dtype and shape.
absl::StatusOr<Shape> ElementShape(const RunContext& run, int i, const TensorSpec& spec);

// Where output `i` of shape `actual` goes: its planned memory, which it must fit, or new memory.
absl::StatusOr<void*> OutputOfShape(RunContext& run, int i, const Shape& planned,
                                    const Shape& actual);

// A tensor of its own from memory that will be reused.
absl::StatusOr<std::shared_ptr<const Tensor>> Keep(DType dtype, const Shape& shape,
                                                   const void* data);
// The rows of a kept tensor, [begin, begin + rows), in the shape of the tensor's or, with `single`,
// without the first dimension (rows is then 1).
std::shared_ptr<const Tensor> RowsOf(const std::shared_ptr<const Tensor>& kept, int64_t begin,
                                     int64_t rows, bool single);

// Copies an item, or zeros, to `out`.
void WriteItem(const std::shared_ptr<const Tensor>& item, DType dtype, int64_t elements, void* out);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_TENSOR_LIST_H_

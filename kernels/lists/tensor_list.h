// Lists of tensors: the objects behind the handles (variant scalars) of the TensorList ops. A list
// does not change once another step may see it: ops copy it (sharing the tensors) and change the
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

// Dtype and shape of input `i`.
inline TensorSpec InputSpec(const PrepareContext& p, int i) {
  return {p.input_dtype(i), p.input_shape(i), nullptr};
}

struct TensorList final : Object {
  DType dtype = DType::kInvalid;
  Shape element_shape = Shape::Unknown();            // compatible with every item's
  std::vector<std::shared_ptr<const Tensor>> items;  // null: not set; reads as zeros
  // Complete if all set items have this one shape; plans are made for it.
  Shape common = Shape::Unknown();

  // Whether no item is set; there may be none at all.
  bool HasNoneSet() const;
  // Call this for each shape that items are given.
  void Note(const Shape& item);

  // The shape of unset items: element_shape, `wanted` and the items' shapes merged. InvalidArgument
  // if they contradict each other.
  absl::StatusOr<Shape> ItemShape(const Shape& wanted) const;
};

// What a resource holds that is no list, but has items as well.
class HasItems : public Object {
 public:
  // Complete if all items have this one shape; unknown if there are none.
  virtual Shape CommonShape() const = 0;
  virtual bool empty() const = 0;
  // The item at `index`, or, if the items have an order of their own, the one that is due.
  virtual absl::StatusOr<std::shared_ptr<const Tensor>> TakeItem(int64_t index, DType dtype) = 0;
};

// The common shape of the items behind a scalar handle of a list or of something else that has
// items; unknown if there are none.
Shape CommonItemShape(const Tensor& handle);
// Whether all items behind a handle have that shape, maybe because none are set.
bool HasOnlyItemsOf(const Tensor& handle, const Shape& shape);

// A handle's list. InvalidArgument if it is not a list, or a list of another dtype (kInvalid: any).
absl::StatusOr<const TensorList*> ListAt(const ObjectPtr* handle, DType dtype = DType::kInvalid);

// InvalidArgument unless the list may have an item of that shape.
absl::Status CheckItem(const TensorList& list, const Shape& item);

// The shape in an element_shape input: a vector with -1 for unknown sizes, or the scalar -1.
absl::StatusOr<Shape> ElementShape(const Tensor& value);
// The same, for input `i` at run time; `spec` is its dtype and shape.
absl::StatusOr<Shape> ElementShape(const RunContext& run, int i, const TensorSpec& spec);

// The destination of output `i` with shape `actual`: its planned memory, which it must fit, or new
// memory.
absl::StatusOr<void*> OutputOfShape(RunContext& run, int i, const Shape& planned,
                                    const Shape& actual);

// A tensor with its own memory, copied from memory that will be reused.
absl::StatusOr<std::shared_ptr<const Tensor>> Keep(DType dtype, const Shape& shape,
                                                   const void* data);
// All inputs, kept.
absl::StatusOr<std::vector<std::shared_ptr<const Tensor>>> KeepInputs(
    const RunContext& run, const std::vector<TensorSpec>& specs);
// Rows [begin, begin + rows) of a kept tensor, in its shape; with `single`, without the first
// dimension (rows is then 1).
std::shared_ptr<const Tensor> RowsOf(const std::shared_ptr<const Tensor>& kept, int64_t begin,
                                     int64_t rows, bool single);

// Copies an item, or zeros, to `out`.
void WriteItem(const std::shared_ptr<const Tensor>& item, DType dtype, int64_t elements, void* out);
// Copies the tensors of a variant to all outputs; `what` it holds is for messages. InvalidArgument
// unless they have the outputs' number and dtypes and fit their planned shapes.
absl::Status WriteItems(RunContext& run, const char* what,
                        const std::vector<std::shared_ptr<const Tensor>>& items,
                        const std::vector<TensorSpec>& outputs);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_TENSOR_LIST_H_

// TensorFlow 1's arrays of tensors, with the arrays of their gradients. An array changes behind its
// handle, a resource scalar. (Import turns arrays whose gradient nothing asks for into lists.)
#ifndef TENON_KERNELS_LISTS_TENSOR_ARRAY_H_
#define TENON_KERNELS_LISTS_TENSOR_ARRAY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "kernels/interface/kernel.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {

// All functions return InvalidArgument where TensorFlow does.
class TensorArray final : public HasItems {
 public:
  using Item = std::shared_ptr<const Tensor>;

  struct Form {
    DType dtype = DType::kInvalid;
    Shape element = Shape::Unknown();
    bool identical = false;  // the first element's shape becomes `element`
    bool dynamic = false;    // grows when it is written to
    bool clear = false;      // what was read is gone
    bool gradient = false;   // elements written more than once add up; unwritten ones are zeros
  };

  TensorArray(Form form, int64_t size)
      : form_(std::move(form)), slots_(static_cast<size_t>(size)) {}

  absl::Status Write(int64_t index, const Item& item);
  absl::StatusOr<Item> Read(int64_t index, DType dtype);
  // Grows an array of dynamic size; afterwards it has `size` elements or more.
  absl::Status Reach(int64_t size);
  // What Concat joins, and an array that Split fills: the latter's size.
  void Mark(int64_t size);
  absl::StatusOr<int64_t> MarkedSize();
  absl::StatusOr<int64_t> size();
  // The shape of elements as far as it is known, after `stated` is taken into account.
  absl::StatusOr<Shape> Element(const Shape& stated);
  // The array of gradients with that name. New ones have `outer` in front of the elements' shapes.
  absl::StatusOr<std::shared_ptr<TensorArray>> Gradient(const std::string& source,
                                                        const Shape& outer);
  void Close();

  // Of the array's elements and those of its gradients.
  Shape CommonShape() const override;
  bool empty() const override;
  absl::StatusOr<Item> TakeItem(int64_t index, DType dtype) override { return Read(index, dtype); }

 private:
  struct Items {
    Mutex mutex;
    Shape common ABSL_GUARDED_BY(mutex) = Shape::Unknown();
    bool any ABSL_GUARDED_BY(mutex) = false;
    void Note(const Shape& item);
  };
  struct Slot {
    Item item;  // null, though written: zeros
    Shape shape;
    bool written = false, read = false, cleared = false;
  };

  std::shared_ptr<Items> items_ = std::make_shared<Items>();

  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ReachLocked(int64_t size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Form form_ ABSL_GUARDED_BY(mutex_);
  std::vector<Slot> slots_ ABSL_GUARDED_BY(mutex_);
  int64_t marked_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  OrderedMap<std::string, std::shared_ptr<TensorArray>> gradients_ ABSL_GUARDED_BY(mutex_);
};

// Kernels. Input 0 is the handle, except for the first, where it is the size.
absl::StatusOr<std::unique_ptr<Kernel>> NewArrayKernel(PrepareContext& p);
// Input 1 is the flow; input 2, if present, are the dimensions in front of the elements'.
absl::StatusOr<std::unique_ptr<Kernel>> ArrayGradientKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> ArrayWriteKernel(PrepareContext& p);   // index, value, flow
absl::StatusOr<std::unique_ptr<Kernel>> ArrayReadKernel(PrepareContext& p);    // index, flow
absl::StatusOr<std::unique_ptr<Kernel>> ArrayGatherKernel(PrepareContext& p);  // indices, flow
absl::StatusOr<std::unique_ptr<Kernel>> ArrayScatterKernel(
    PrepareContext& p);  // indices, value, flow
absl::StatusOr<std::unique_ptr<Kernel>> ArrayConcatKernel(PrepareContext& p);  // flow
absl::StatusOr<std::unique_ptr<Kernel>> ArraySplitKernel(
    PrepareContext& p);                                                    // value, lengths, flow
absl::StatusOr<std::unique_ptr<Kernel>> ArraySizeKernel(PrepareContext&);  // flow
absl::StatusOr<std::unique_ptr<Kernel>> ArrayCloseKernel(PrepareContext&);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_TENSOR_ARRAY_H_

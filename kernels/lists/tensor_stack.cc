#include "kernels/lists/tensor_stack.h"

#include <utility>
#include <vector>

#include "env/mutex.h"
#include "env/status.h"
#include "graph/object.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

class TensorStack final : public HasItems {
 public:
  TensorStack(DType dtype, int64_t capacity) : dtype_(dtype), capacity_(capacity) {}

  absl::Status Push(std::shared_ptr<const Tensor> item) {
    MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(CheckOpen());
    if (item->dtype() != dtype_) {
      return InvalidArgument("a stack of ", Name(dtype_), " takes no ", Name(item->dtype()));
    }
    if (capacity_ >= 0 && std::ssize(items_) >= capacity_) {
      return InvalidArgument("the stack is full: it may hold ", capacity_, " tensors");
    }
    if (items_.empty()) common_ = item->shape();
    if (common_ != item->shape()) common_ = Shape::Unknown();
    items_.push_back(std::move(item));
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<const Tensor>> Pop(DType dtype) {
    MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(CheckOpen());
    if (items_.empty()) return InvalidArgument("the stack is empty");
    if (dtype != dtype_) {
      return InvalidArgument("a stack of ", Name(dtype_), " has no ", Name(dtype));
    }
    std::shared_ptr<const Tensor> item = std::move(items_.back());
    items_.pop_back();
    return item;
  }

  absl::StatusOr<std::shared_ptr<const Tensor>> TakeItem(int64_t, DType dtype) override {
    return Pop(dtype);
  }

  void Close() {
    MutexLock lock(&mutex_);
    items_.clear();
    closed_ = true;
  }

  Shape CommonShape() const override {
    MutexLock lock(&mutex_);
    return items_.empty() ? Shape::Unknown() : common_;
  }

  bool empty() const override {
    MutexLock lock(&mutex_);
    return items_.empty();
  }

 private:
  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ ? InvalidArgument("the stack is closed") : absl::OkStatus();
  }

  const DType dtype_;
  const int64_t capacity_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<const Tensor>> items_ ABSL_GUARDED_BY(mutex_);
  Shape common_ ABSL_GUARDED_BY(mutex_) = Shape::Unknown();  // of all that were pushed
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<TensorStack*> StackAt(const RunContext& run) {
  const ObjectPtr* handle = run.input<ObjectPtr>(0);
  auto* stack = handle == nullptr ? nullptr : dynamic_cast<TensorStack*>(handle->get());
  if (stack == nullptr) return InvalidArgument("expected the handle of a stack");
  return stack;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> NewStackKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, p.attrs().Type("elem_type"));
  return MakeKernel([dtype](RunContext& run) {
    *run.output<ObjectPtr>(0) = std::make_shared<TensorStack>(dtype, *run.input<int32_t>(0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StackPushKernel(PrepareContext& p) {
  p.AllowInPlace(1, 0);
  return MakeKernel([item = InputSpec(p, 1)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorStack* const stack, StackAt(run));
    TENON_ASSIGN_OR_RETURN(auto kept, Keep(item.dtype, item.shape, run.input(1)));
    TENON_RETURN_IF_ERROR(stack->Push(std::move(kept)));
    if (run.output(0) != run.input(1)) {
      CopyElements(item.dtype, run.input(1), run.output(0), item.shape.num_elements());
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StackPopKernel(PrepareContext& p) {
  return MakeKernel(
      [dtype = p.output_dtype(0), planned = p.output_shape(0)](RunContext& run) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(TensorStack* const stack, StackAt(run));
        TENON_ASSIGN_OR_RETURN(const auto item, stack->Pop(dtype));
        TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, item->shape()));
        WriteItem(item, dtype, item->num_elements(), out);
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> StackCloseKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorStack* const stack, StackAt(run));
    stack->Close();
    return absl::OkStatus();
  });
}

}  // namespace tenon

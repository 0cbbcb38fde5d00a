#include "runtime/execution/list_item_step.h"

#include <memory>
#include <utility>

#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "runtime/execution/execution.h"

namespace tenon {

absl::Status ListItemStep::Run(Execution& run) const {
  const StepArg& out = outputs()[0];
  TENON_ASSIGN_OR_RETURN(const Tensor handle, run.View(inputs()[0]));
  TENON_ASSIGN_OR_RETURN(const Tensor index_value, run.View(inputs()[1]));
  TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(handle.data<ObjectPtr>(), out.dtype));
  const int64_t index = *index_value.data<int32_t>();
  if (index < 0 || index >= static_cast<int64_t>(list->items.size())) {
    return InvalidArgument("index ", index, " of a list of ", list->items.size(), " tensors");
  }
  const std::shared_ptr<const Tensor>& item = list->items[static_cast<size_t>(index)];
  Tensor t;
  if (item != nullptr) {
    if (item->shape() != out.shape) {
      return InvalidArgument("tensor ", index, " has shape ", item->shape().ToString(), ", not ",
                             out.shape.ToString());
    }
    t = *item;
  } else {
    TENON_ASSIGN_OR_RETURN(t, Tensor::Allocate(out.dtype, out.shape));
    WriteItem(nullptr, out.dtype, t.num_elements(), t.raw());
  }
  run.Bring(out, std::move(t));
  return absl::OkStatus();
}

}  // namespace tenon

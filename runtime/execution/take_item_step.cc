#include "runtime/execution/take_item_step.h"

#include <memory>
#include <utility>

#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "runtime/execution/execution.h"

namespace tenon {

absl::Status TakeItemStep::Run(Execution& run) const {
  const StepArg& out = outputs()[0];
  TENON_ASSIGN_OR_RETURN(const Tensor handle, run.View(inputs()[0]));
  int64_t index = 0;
  if (inputs().size() > 1) {
    TENON_ASSIGN_OR_RETURN(const Tensor value, run.View(inputs()[1]));
    index = *value.data<int32_t>();
  }
  auto* holder = dynamic_cast<HasItems*>(handle.data<ObjectPtr>()->get());
  if (holder == nullptr) return InvalidArgument("expected the handle of a stack or an array");
  TENON_ASSIGN_OR_RETURN(const auto item, holder->TakeItem(index, out.dtype));
  if (item->shape() != out.shape) {
    return InvalidArgument("the tensor has shape ", item->shape().ToString(), ", not ",
                           out.shape.ToString());
  }
  run.Bring(out, *item);
  return absl::OkStatus();
}

}  // namespace tenon

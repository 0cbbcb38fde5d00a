// Stacks of tensors: StackV2, StackPushV2, StackPopV2 and StackCloseV2, as gradients of TensorFlow
// 1's loops have them. Import turns those of version 1, whose handles are references, into these.
#include "kernels/lists/tensor_stack.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status NewStackShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return ScalarShape(c);
}

const OpRegistration stack_v2({
    .name = "StackV2",
    .inputs = "max_size: int32",
    .outputs = "handle: resource",
    .attrs = "elem_type: type; stack_name: string = ",
    .shape = NewStackShape,
    .reference = NewStackKernel,
    .stateful = true,
});

absl::Status StackPushShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

const OpRegistration stack_push({
    .name = "StackPushV2",
    .inputs = "handle: resource, elem: T",
    .outputs = "output: T",
    .attrs = "T: type; swap_memory: bool = false",
    .shape = StackPushShape,
    .reference = StackPushKernel,
    .stateful = true,
});

absl::Status StackHandleShape(ShapeContext& c) { return c.ExpectRank(0, 0); }

const OpRegistration stack_pop({
    .name = "StackPopV2",
    .inputs = "handle: resource",
    .outputs = "elem: elem_type",
    .attrs = "elem_type: type",
    .shape = StackHandleShape,
    .reference = StackPopKernel,
    .stateful = true,
});

const OpRegistration stack_close({
    .name = "StackCloseV2",
    .inputs = "handle: resource",
    .shape = StackHandleShape,
    .reference = StackCloseKernel,
    .stateful = true,
});

const OpRegistration stack_v1({
    .name = "Stack",
    .outputs = "handle: string",
    .attrs = "elem_type: type; stack_name: string = ",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration stack_push_v1({
    .name = "StackPush",
    .inputs = "handle: string, elem: T",
    .outputs = "output: T",
    .attrs = "T: type; swap_memory: bool = false",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration stack_pop_v1({
    .name = "StackPop",
    .inputs = "handle: string",
    .outputs = "elem: elem_type",
    .attrs = "elem_type: type",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration stack_close_v1({
    .name = "StackClose",
    .inputs = "handle: string",
    .shape = UnknownShape,
    .stateful = true,
});

}  // namespace
}  // namespace tenon

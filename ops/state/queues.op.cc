// FIFOQueueV2, PaddingFIFOQueueV2, RandomShuffleQueueV2 and PriorityQueueV2: tuples of tensors that
// stay in the session. Import turns the queues of version 1, whose handles are references, into
// these.
#include "env/status.h"
#include "kernels/queue/tensor_queue.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kQueueAttrs[] =
    "component_types: list(type); shapes: list(shape) = []; capacity: int = -1; "
    "container: string = ; shared_name: string = ";

OpRow NewQueueRow(const char* name, KernelFactory reference) {
  return {.name = name,
          .outputs = "handle: resource",
          .attrs = kQueueAttrs,
          .shape = ScalarShape,
          .reference = reference,
          .stateful = true};
}

const OpRegistration fifo_queue(NewQueueRow("FIFOQueueV2", [](PrepareContext& p) {
  return NewQueueKernel(p, QueueOrder::kFirstInFirstOut);
}));

const OpRegistration padding_fifo_queue(NewQueueRow("PaddingFIFOQueueV2", [](PrepareContext& p) {
  return NewQueueKernel(p, QueueOrder::kPadded);
}));

OpRow ShuffleQueueRow() {
  OpRow row = NewQueueRow("RandomShuffleQueueV2", [](PrepareContext& p) {
    return NewQueueKernel(p, QueueOrder::kShuffled);
  });
  row.attrs =
      "component_types: list(type); shapes: list(shape) = []; capacity: int = -1; "
      "min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; container: string = ; "
      "shared_name: string = ";
  return row;
}
const OpRegistration random_shuffle_queue(ShuffleQueueRow());

OpRow PriorityQueueRow() {
  OpRow row = NewQueueRow("PriorityQueueV2", [](PrepareContext& p) {
    return NewQueueKernel(p, QueueOrder::kByPriority);
  });
  row.attrs =
      "component_types: list(type) = []; shapes: list(shape); capacity: int = -1; "
      "container: string = ; shared_name: string = ";
  return row;
}
const OpRegistration priority_queue(PriorityQueueRow());

absl::Status FromHandle(ShapeContext& c) { return c.ExpectRank(0, 0); }

absl::Status FromHandleAndNumber(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return c.ExpectRank(1, 0);
}

absl::Status NumberFromHandle(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return ScalarShape(c);
}

constexpr char kEnqueueAttrs[] = "Tcomponents: list(type); timeout_ms: int = -1";
constexpr char kDequeueAttrs[] = "component_types: list(type); timeout_ms: int = -1";

const OpRegistration queue_enqueue({
    .name = "QueueEnqueueV2",
    .inputs = "handle: resource, components: Tcomponents",
    .attrs = kEnqueueAttrs,
    .shape = FromHandle,
    .reference = EnqueueKernel,
    .stateful = true,
});

const OpRegistration queue_enqueue_many({
    .name = "QueueEnqueueManyV2",
    .inputs = "handle: resource, components: Tcomponents",
    .attrs = kEnqueueAttrs,
    .shape = FromHandle,
    .reference = EnqueueManyKernel,
    .stateful = true,
});

const OpRegistration queue_dequeue({
    .name = "QueueDequeueV2",
    .inputs = "handle: resource",
    .outputs = "components: component_types",
    .attrs = kDequeueAttrs,
    .shape = FromHandle,
    .reference = DequeueKernel,
    .stateful = true,
});

const OpRegistration queue_dequeue_many({
    .name = "QueueDequeueManyV2",
    .inputs = "handle: resource, n: int32",
    .outputs = "components: component_types",
    .attrs = kDequeueAttrs,
    .shape = FromHandleAndNumber,
    .reference = DequeueManyKernel,
    .stateful = true,
});

const OpRegistration queue_dequeue_up_to({
    .name = "QueueDequeueUpToV2",
    .inputs = "handle: resource, n: int32",
    .outputs = "components: component_types",
    .attrs = kDequeueAttrs,
    .shape = FromHandleAndNumber,
    .reference = DequeueUpToKernel,
    .stateful = true,
});

const OpRegistration queue_close({
    .name = "QueueCloseV2",
    .inputs = "handle: resource",
    .attrs = "cancel_pending_enqueues: bool = false",
    .shape = FromHandle,
    .reference = QueueCloseKernel,
    .stateful = true,
});

const OpRegistration queue_size({
    .name = "QueueSizeV2",
    .inputs = "handle: resource",
    .outputs = "size: int32",
    .shape = NumberFromHandle,
    .reference = QueueSizeKernel,
    .stateful = true,
});

const OpRegistration queue_is_closed({
    .name = "QueueIsClosedV2",
    .inputs = "handle: resource",
    .outputs = "is_closed: bool",
    .shape = NumberFromHandle,
    .reference = QueueIsClosedKernel,
    .stateful = true,
});

}  // namespace
}  // namespace tenon

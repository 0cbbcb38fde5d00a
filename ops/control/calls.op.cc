// Function calls. Import inlines them, so they have signatures and no kernels.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration partitioned_call({
    .name = "PartitionedCall",
    .inputs = "args: Tin",
    .outputs = "output: Tout",
    .attrs = "Tin: list(type); Tout: list(type); f: func; config: string = ; "
             "config_proto: string = ; executor_type: string = ",
    .shape = UnknownShape,
});

const OpRegistration stateful_partitioned_call({
    .name = "StatefulPartitionedCall",
    .inputs = "args: Tin",
    .outputs = "output: Tout",
    .attrs = "Tin: list(type); Tout: list(type); f: func; config: string = ; "
             "config_proto: string = ; executor_type: string = ",
    .shape = UnknownShape,
    .stateful = true,
});

// Import writes it as a function with a While.
const OpRegistration for_op({
    .name = "For",
    .inputs = "start: int32, limit: int32, delta: int32, input: T",
    .outputs = "output: T",
    .attrs = "T: list(type); body: func",
    .shape = UnknownShape,
});

// Likewise.
const OpRegistration map_defun({
    .name = "MapDefun",
    .inputs = "arguments: Targuments, captured_inputs: Tcaptured",
    .outputs = "output: output_types",
    .attrs = "Targuments: list(type); Tcaptured: list(type) = []; output_types: list(type); "
             "output_shapes: list(shape); f: func; max_intra_op_parallelism: int = 1",
    .shape = UnknownShape,
});

// Calls the function that the model states as the gradient of f.
const OpRegistration symbolic_gradient({
    .name = "SymbolicGradient",
    .inputs = "input: Tin",
    .outputs = "output: Tout",
    .attrs = "Tin: list(type); Tout: list(type); f: func",
    .shape = UnknownShape,
});

// Collects calls into batches in TensorFlow; here each call is a batch.
const OpRegistration batch_function({
    .name = "BatchFunction",
    .inputs = "in_tensors: Tin, captured_tensors: Tcaptured",
    .outputs = "out_tensors: Tout",
    .attrs = "f: func; num_batch_threads: int; max_batch_size: int; batch_timeout_micros: int; "
             "max_enqueued_batches: int = 10; allowed_batch_sizes: list(int) = []; "
             "container: string = ; shared_name: string = ; batching_queue: string = ; "
             "low_priority_max_batch_size: int = 0; low_priority_batch_timeout_micros: int = 0; "
             "low_priority_allowed_batch_sizes: list(int) = []; "
             "low_priority_max_enqueued_batches: int = 0; "
             "mixed_priority_policy: string = low_priority_padding_with_max_batch_size; "
             "batch_padding_policy: string = PAD_UP; Tin: list(type); Tcaptured: list(type); "
             "Tout: list(type); enable_large_batch_splitting: bool = false",
    .shape = UnknownShape,
});

}  // namespace
}  // namespace tenon

// TensorFlow 1's control flow: dead tensors and frames. Import functionalizes it into If and While
// (proto/import/functionalize.h), so these have signatures and no kernels. Names that begin with
// Ref are for references, which import treats like values.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration switch_op({
    .name = "Switch",
    .inputs = "data: T, pred: bool",
    .outputs = "output_false: T, output_true: T",
    .attrs = "T: type",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration ref_switch({
    .name = "RefSwitch",
    .inputs = "data: T, pred: bool",
    .outputs = "output_false: T, output_true: T",
    .attrs = "T: type",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration merge({
    .name = "Merge",
    .inputs = "inputs: N * T",
    .outputs = "output: T, value_index: int32",
    .attrs = "T: type; N: int",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration ref_merge({
    .name = "RefMerge",
    .inputs = "inputs: N * T",
    .outputs = "output: T, value_index: int32",
    .attrs = "T: type; N: int",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration enter({
    .name = "Enter",
    .inputs = "data: T",
    .outputs = "output: T",
    .attrs = "T: type; frame_name: string; is_constant: bool = false; "
             "parallel_iterations: int = 10",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration ref_enter({
    .name = "RefEnter",
    .inputs = "data: T",
    .outputs = "output: T",
    .attrs = "T: type; frame_name: string; is_constant: bool = false; "
             "parallel_iterations: int = 10",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration exit_op({
    .name = "Exit",
    .inputs = "data: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration next_iteration({
    .name = "NextIteration",
    .inputs = "data: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration loop_cond({
    .name = "LoopCond",
    .inputs = "input: bool",
    .outputs = "output: bool",
    .shape = UnknownShape,
    .stateful = true,
});

const OpRegistration ref_identity({
    .name = "RefIdentity",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnknownShape,
    .stateful = true,
});

}  // namespace
}  // namespace tenon

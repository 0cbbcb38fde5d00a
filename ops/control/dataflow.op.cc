// TensorFlow 1's control flow: dead tensors and frames. Import functionalizes it into If and While
// (proto/import/functionalize.h), so these have signatures and no kernels. Names that begin with
// Ref are for references, which import treats like values.
#include "env/status.h"
#include "kernels/layout/copy.h"
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

absl::Status BranchValueShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> BranchValueKernel(PrepareContext& p) {
  p.AllowInPlace(0, 0);
  const bool taken = p.attrs().Bool("taken", true);
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([taken, n, dtype = p.input_dtype(0)](RunContext& run) -> absl::Status {
    if (*run.input<bool>(1) != taken) {
      return InvalidArgument("there is no value, because the condition is ",
                             taken ? "false" : "true");
    }
    if (run.output(0) != run.input(0)) CopyElements(dtype, run.input(0), run.output(0), n);
    return absl::OkStatus();
  });
}

// What import makes of an output of a Switch that is needed outside of the branch.
const OpRegistration branch_value({
    .name = "_BranchValue",
    .inputs = "data: T, pred: bool",
    .outputs = "output: T",
    .attrs = "T: type; taken: bool",
    .shape = BranchValueShape,
    .reference = BranchValueKernel,
    .internal = true,
});

const OpRegistration switch_n({
    .name = "_SwitchN",
    .inputs = "data: T, output_index: int32",
    .outputs = "outputs: num_outs * T",
    .attrs = "num_outs: int; T: type",
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

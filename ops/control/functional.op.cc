// Control flow with functions: If, Case, While, and XLA's forms of them. Plans run their bodies
// with separate plans (runtime/plan/body.h), so these have signatures and no kernels.
#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kIfInputs[] = "cond: Tcond, input: Tin";
constexpr char kIfAttrs[] =
    "Tcond: type; Tin: list(type); Tout: list(type); then_branch: func; else_branch: func; "
    "output_shapes: list(shape) = []";

const OpRegistration if_op({
    .name = "If",
    .inputs = kIfInputs,
    .outputs = "output: Tout",
    .attrs = kIfAttrs,
    .shape = UnknownShape,
    .stateful = true,
    .control_flow = ControlFlow::kIf,
});

const OpRegistration stateless_if({
    .name = "StatelessIf",
    .inputs = kIfInputs,
    .outputs = "output: Tout",
    .attrs = kIfAttrs,
    .shape = UnknownShape,
    .control_flow = ControlFlow::kIf,
});

constexpr char kCaseInputs[] = "branch_index: int32, input: Tin";
constexpr char kCaseAttrs[] =
    "Tin: list(type); Tout: list(type); branches: list(func); output_shapes: list(shape) = []";

const OpRegistration case_op({
    .name = "Case",
    .inputs = kCaseInputs,
    .outputs = "output: Tout",
    .attrs = kCaseAttrs,
    .shape = UnknownShape,
    .stateful = true,
    .control_flow = ControlFlow::kCase,
});

const OpRegistration stateless_case({
    .name = "StatelessCase",
    .inputs = kCaseInputs,
    .outputs = "output: Tout",
    .attrs = kCaseAttrs,
    .shape = UnknownShape,
    .control_flow = ControlFlow::kCase,
});

constexpr char kWhileAttrs[] =
    "T: list(type); cond: func; body: func; output_shapes: list(shape) = []; "
    "parallel_iterations: int = 10";

const OpRegistration while_op({
    .name = "While",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = kWhileAttrs,
    .shape = UnknownShape,
    .stateful = true,
    .control_flow = ControlFlow::kWhile,
});

const OpRegistration stateless_while({
    .name = "StatelessWhile",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = kWhileAttrs,
    .shape = UnknownShape,
    .control_flow = ControlFlow::kWhile,
});

const OpRegistration xla_if({
    .name = "XlaIf",
    .inputs = "cond: Tcond, inputs: Tin",
    .outputs = "output: Tout",
    .attrs = "Tcond: type; Tin: list(type); Tout: list(type); then_branch: func; "
             "else_branch: func",
    .shape = UnknownShape,
    .stateful = true,
    .control_flow = ControlFlow::kIf,
});

const OpRegistration xla_while({
    .name = "XlaWhile",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: list(type); cond: func; body: func",
    .shape = UnknownShape,
    .stateful = true,
    .control_flow = ControlFlow::kWhile,
});

}  // namespace
}  // namespace tenon

// Identity, IdentityN, StopGradient, PreventGradient, Snapshot, PlaceholderWithDefault, and copies
// for debugging.
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status EachUnchanged(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i));
  return absl::OkStatus();
}

const OpRegistration identity({
    .name = "Identity",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .import_role = ImportRole::kValue,
});

const OpRegistration identity_n({
    .name = "IdentityN",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: list(type)",
    .shape = EachUnchanged,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration stop_gradient({
    .name = "StopGradient",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration prevent_gradient({
    .name = "PreventGradient",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; message: string = ",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration snapshot({
    .name = "Snapshot",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

absl::Status DefaultShape(ShapeContext& c) {
  const auto stated = c.attrs().ShapeOf("shape");
  if (stated.ok() && !stated->CompatibleWith(c.input(0))) {
    return InvalidArgument("a default of shape ", c.input(0).ToString(), " for values of shape ",
                           stated->ToString());
  }
  return UnchangedShape(c);
}

// If it is not fed, it is its input.
const OpRegistration placeholder_with_default({
    .name = "PlaceholderWithDefault",
    .inputs = "input: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type; shape: shape",
    .shape = DefaultShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration deep_copy({
    .name = "DeepCopy",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration copy({
    .name = "Copy",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; tensor_name: string = ; debug_ops_spec: list(string) = []",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration copy_host({
    .name = "CopyHost",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; tensor_name: string = ; debug_ops_spec: list(string) = []",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration debug_gradient_identity({
    .name = "DebugGradientIdentity",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration guarantee_const({
    .name = "GuaranteeConst",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

}  // namespace
}  // namespace tenon

// StringFormat, which formats tensors as text, and its main users: Print and PrintV2. These print
// nothing here, because the library never prints: they pass their input on.
#include "kernels/strings/format.h"

#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration string_format_op({
    .name = "StringFormat",
    .inputs = "inputs: T",
    .outputs = "output: string",
    .attrs = "T: list(type); template: string = %s; placeholder: string = %s; summarize: int = 3",
    .shape = ScalarShape,
    .reference = StringFormatKernel,
});

const OpRegistration print_op({
    .name = "Print",
    .inputs = "input: T, data: U",
    .outputs = "output: T",
    .attrs = "T: type; U: list(type); message: string = ; first_n: int = -1; summarize: int = 3",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration print_v2_op({
    .name = "PrintV2",
    .inputs = "input: string",
    .attrs = "output_stream: string = stderr; end: string = ",
    .shape = [](ShapeContext&) { return absl::OkStatus(); },
    .reference =
        [](PrepareContext&) { return MakeKernel([](RunContext&) { return absl::OkStatus(); }); },
});

}  // namespace
}  // namespace tenon

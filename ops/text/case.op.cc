// StringLower and StringUpper.
#include "kernels/text/case.h"

#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration string_lower({
    .name = "StringLower",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "encoding: string = ",
    .shape = UnchangedShape,
    .reference = LowerKernel,
});

const OpRegistration string_upper({
    .name = "StringUpper",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "encoding: string = ",
    .shape = UnchangedShape,
    .reference = UpperKernel,
});

}  // namespace
}  // namespace tenon

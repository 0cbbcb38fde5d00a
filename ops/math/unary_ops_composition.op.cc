// _UnaryOpsComposition, what TensorFlow's optimizer makes of elementwise ops one after another.
// Import writes those ops again (proto/import/expand.h), so it has no kernel.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration unary_ops_composition({
    .name = "_UnaryOpsComposition",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type; op_names: list(string)",
    .types = "T: half float double",
    .shape = UnchangedShape,
    .eager = false,
});

}  // namespace
}  // namespace tenon

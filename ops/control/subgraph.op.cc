// A part of a graph that runs inside TensorFlow as one node (tf_plugin/subgraphs.h). The attribute
// `graph` is the part as a GraphDef: `feeds` names the placeholders that the inputs are, `fetches`
// the tensors that it gives. It has no kernel here: the plug-in registers its own.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration subgraph({
    .name = "_Subgraph",
    .inputs = "inputs: Tin",
    .outputs = "outputs: Tout",
    .attrs = "Tin: list(type); Tout: list(type); graph: string; feeds: list(string); "
             "fetches: list(string)",
    .shape = UnknownShape,
    .eager = false,
    .internal = true,
});

}  // namespace
}  // namespace tenon

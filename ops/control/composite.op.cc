// CompositeTensorVariantFromComponents and ToComponents: the tensors of a composite tensor in a
// variant scalar.
#include "kernels/lists/composite.h"

#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration from_components({
    .name = "CompositeTensorVariantFromComponents",
    .inputs = "components: Tcomponents",
    .outputs = "encoded: variant",
    .attrs = "metadata: string; Tcomponents: list(type)",
    .shape = ScalarShape,
    .reference = CompositeOfKernel,
});

const OpRegistration to_components({
    .name = "CompositeTensorVariantToComponents",
    .inputs = "encoded: variant",
    .outputs = "components: Tcomponents",
    .attrs = "metadata: string; Tcomponents: list(type)",
    .shape = UnknownShape,
    .reference = CompositePartsKernel,
});

}  // namespace
}  // namespace tenon

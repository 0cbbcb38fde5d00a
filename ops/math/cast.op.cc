// Cast between numeric dtypes and bool.
#include "kernels/elementwise/cast.h"

#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration cast({
    .name = "Cast",
    .inputs = "x: SrcT",
    .outputs = "y: DstT",
    .attrs = "SrcT: type; DstT: type; Truncate: bool = false",
    .shape = UnchangedShape,
    .reference = CastReference,
    .accelerated = VectorCast,
    .native = "_MklNativeCast",
    .native_types = "float half bfloat16",
    .elementwise = true,
    .precision = PrecisionRole::kAsStated,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon

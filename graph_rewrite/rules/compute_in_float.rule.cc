// Converts regions around contractions to float if their dtype has no fast kernel here: half, and
// bfloat16 if the CPU has no instructions for it. Less is rounded than the graph says.
// Mixed-precision Keras models are the common case; ops that they compute in float (norms,
// averages) join their neighbors, so that the rules for float see the whole region.
#include "env/status.h"
#include "graph_rewrite/dtype_regions.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

constexpr const char kFloatRule[] = "ComputeInFloat";

RegionRole FloatRole(const OpRow& row) {
  if (row.precision == PrecisionRole::kLeads) return RegionRole::kStart;
  // What jumps: a value that the dtype would have rounded may fall on the other side.
  if (row.precision == PrecisionRole::kAsStated || row.discontinuous) return RegionRole::kNone;
  return row.moves_elements ? RegionRole::kMover : RegionRole::kFollower;
}

absl::Status ComputeInFloat(RuleContext& context) {
  const auto role = [&](NodeId id) { return FloatRole(FactsOf(context.node(id).op)); };
  for (DType from : {DType::kHalf, DType::kBfloat16}) {
    if (from == DType::kBfloat16 && HasBfloat16Instructions()) continue;
    TENON_RETURN_IF_ERROR(MoveRegions(context, {.rule = kFloatRule,
                                                .from = from,
                                                .to = DType::kFloat,
                                                .role = role,
                                                .greedy = true,
                                                .absorb_casts = true}));
  }
  return absl::OkStatus();
}

const RuleRegistration compute_in_float({
    .name = kFloatRule,
    .doc = "regions around contractions in half, or in bfloat16 if the CPU has no instructions "
           "for it, compute in float",
    .phase = Phase::kFold,
    .sweep = ComputeInFloat,
    .keeps_control_inputs = true,
    .repeat = false,
});

}  // namespace
}  // namespace tenon

// Regions around contractions that are in a dtype for which there is no fast kernel here: half, and
// bfloat16 where the CPU has no instructions for it. They compute in float, and less is rounded
// than the graph says. Mixed-precision Keras models are the common case; what they do in float
// (norms, averages) joins its neighbours, so that the rules for float see all of it.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "graph_rewrite/contraction.h"
#include "graph_rewrite/dtype_regions.h"
#include "graph_rewrite/rule.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

constexpr const char kRule[] = "ComputeInFloat";

// What jumps: a value that the dtype would have rounded may fall on the other side.
constexpr const char kSteps[] =
    "Floor Ceil Round Rint Sign MaxPoolWithArgmax QuantizeV2 Dequantize "
    "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel";

absl::Status ComputeInFloat(RuleContext& context) {
  static const auto* const steps =
      new absl::flat_hash_set<absl::string_view>(absl::StrSplit(kSteps, ' '));
  const auto role = [&](NodeId id) {
    const std::string& op = context.node(id).op;
    if (IsContraction(op)) return RegionRole::kStart;
    if (op == "Cast" || steps->contains(op)) return RegionRole::kNone;
    return OnlyMovesElements(op) ? RegionRole::kMover : RegionRole::kFollower;
  };
  for (DType from : {DType::kHalf, DType::kBfloat16}) {
    if (from == DType::kBfloat16 && HasBfloat16Instructions()) continue;
    TENON_RETURN_IF_ERROR(MoveRegions(context, {.rule = kRule,
                                                .from = from,
                                                .to = DType::kFloat,
                                                .role = role,
                                                .greedy = true,
                                                .absorb_casts = true}));
  }
  return absl::OkStatus();
}

const RuleRegistration compute_in_float({
    .name = kRule,
    .doc = "regions around contractions in half, or in bfloat16 where the CPU has no instructions "
           "for it",
    .phase = Phase::kFold,
    .sweep = ComputeInFloat,
    .repeat = false,
});

}  // namespace
}  // namespace tenon

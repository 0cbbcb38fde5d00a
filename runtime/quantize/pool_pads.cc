#include "runtime/quantize/pool_pads.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/sign.h"

namespace tenon {
namespace {

using quantized::AttrOr;

// Whether each padding is smaller than the pool's window.
bool WindowsSeeTheTensor(const RuleContext& context, const Node& pad, const Node& pool) {
  const Tensor* const t = context.Constant(pad.inputs[1]);
  const auto* const window = pool.attr<std::vector<int64_t>>("ksize");
  if (t == nullptr || window == nullptr || AttrOr<std::string>(pool, "padding", "") != "VALID") {
    return false;
  }
  const auto paddings = IntegerValues(*t);
  if (!paddings.ok() || paddings->size() != 2 * window->size()) return false;
  for (size_t i = 0; i < paddings->size(); ++i) {
    if ((*paddings)[i] < 0 || (*paddings)[i] >= (*window)[i / 2]) return false;
  }
  return true;
}

}  // namespace

void PadPoolsWithZeros(RuleContext& context) {
  for (const NodeId id : context.graph().NodeIds()) {
    const Node& pool = context.node(id);
    if (pool.op != "MaxPool" || AttrOr(pool, "T", DType::kInvalid) != DType::kFloat) continue;
    const Node& pad = context.node(pool.inputs[0].node);
    if (pad.op != "PadV2" || context.OnlyReader(pad.id) != id) continue;
    const Tensor* const fill = context.Constant(pad.inputs[2]);
    if (fill == nullptr || fill->num_elements() != 1 || !(fill->data<float>()[0] < 0) ||
        !IsNeverNegative(context, pad.inputs[0]) || !WindowsSeeTheTensor(context, pad, pool)) {
      continue;
    }
    const NodeId zero = context.AddConst(absl::StrCat(pad.name, "/zero"),
                                         Tensor::From<float>(fill->shape(), {0.0f}));
    context.rw.SetInput(pad.id, 2, {zero, 0});
  }
}

}  // namespace tenon

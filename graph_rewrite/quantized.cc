#include "graph_rewrite/quantized.h"

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "ops/evaluate.h"

namespace tenon::quantized {
namespace {

absl::Status No(absl::string_view reason) { return absl::FailedPreconditionError(reason); }

}  // namespace

absl::StatusOr<Tensor> RangeValue(RuleContext& context, Endpoint e) {
  if (const Tensor* t = context.Constant(e); t != nullptr) return *t;
  const Node& n = context.node(e);
  if (n.op != "QuantizeV2" || e.port == 0 || AttrOr<int64_t>(n, "axis", -1) >= 0) {
    return No("a range is not constant");
  }
  const Tensor* min = context.Constant(n.inputs[1]);
  const Tensor* max = context.Constant(n.inputs[2]);
  if (min == nullptr || max == nullptr) return No("a range is not constant");
  TENON_ASSIGN_OR_RETURN(Tensor none, Tensor::Allocate(DType::kFloat, Shape({0})));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> out,
                         Evaluate(n, {none, *min, *max}, context.services));
  return out[static_cast<size_t>(e.port)];
}

absl::StatusOr<Source> ReadSource(RuleContext& context, Endpoint e) {
  const Node& n = context.node(e);
  if (n.op != "Dequantize" || e.port != 0) return No(absl::StrCat(n.op, " is no Dequantize"));
  if (!IsScaled(n)) return No("a Dequantize is not of mode SCALED");
  Source s;
  s.integers = n.inputs[0];
  s.dtype = AttrOr(n, "T", DType::kInvalid);
  s.axis = AttrOr<int64_t>(n, "axis", -1);
  if (!IsEightBits(s.dtype) || AttrOr(n, "dtype", DType::kFloat) != DType::kFloat) {
    return No("a Dequantize is not from 8 bits to float");
  }
  TENON_ASSIGN_OR_RETURN(const Tensor min, RangeValue(context, n.inputs[1]));
  TENON_ASSIGN_OR_RETURN(const Tensor max, RangeValue(context, n.inputs[2]));
  Shape shape({min.num_elements()});
  for (int64_t i = 0; i < s.axis; ++i) shape.insert(0, 1);
  TENON_ASSIGN_OR_RETURN(Tensor ones, Tensor::Allocate(s.dtype, shape));
  for (int64_t i = 0; i < ones.num_elements(); ++i) ones.data<uint8_t>()[i] = 1;
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> worth,
                         Evaluate(n, {ones, min, max}, context.services));
  for (float step : worth[0].flat<float>()) {
    if (!(step > 0)) return No("a range is empty");
    s.steps.push_back(step);
  }
  return s;
}

void ReplaceQuantize(RuleContext& context, NodeId quantize, Endpoint integers, const Tensor& min,
                     const Tensor& max) {
  const std::string name = absl::StrCat(context.node(quantize).name, "/range");
  context.rw.ReplaceAllUses({quantize, 0}, integers);
  for (int port : {1, 2}) {
    const Endpoint e{quantize, port};
    if (context.rw.NumReaders(e) == 0 && !context.rw.IsOutput(e)) continue;
    context.rw.ReplaceAllUses(e, {context.AddConst(name, port == 1 ? min : max), 0});
  }
  context.RemoveIfDead(quantize);
}

}  // namespace tenon::quantized

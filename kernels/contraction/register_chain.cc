#include "kernels/contraction/register_chain.h"

namespace tenon {

RegisterChain PlanRegisterChain(const PrepareContext& p, const FusedOps& fused) {
  RegisterChain chain;
  size_t& i = chain.count;
  if (i < fused.size() && fused[i].bias) chain.bias = fused[i++].input;
  if (i < fused.size() && fused[i].op == ElementwiseOp::kAdd && !fused[i].bias &&
      p.input_shape(fused[i].input).num_elements() == p.output_shape(0).num_elements()) {
    chain.addend = fused[i++].input;
  }
  if (i < fused.size() &&
      (fused[i].op == ElementwiseOp::kRelu || fused[i].op == ElementwiseOp::kRelu6)) {
    chain.clamp_low = true;
    chain.clamp_high = fused[i++].op == ElementwiseOp::kRelu6;
  }
  return chain;
}

}  // namespace tenon

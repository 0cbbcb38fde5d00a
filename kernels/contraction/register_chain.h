// The first ops of a fused chain, as loops apply them to results that are still in registers.
#ifndef TENON_KERNELS_CONTRACTION_REGISTER_CHAIN_H_
#define TENON_KERNELS_CONTRACTION_REGISTER_CHAIN_H_

#include <cstddef>

#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// BiasAdd, then an Add of the output's shape, then Relu or Relu6; each may be missing.
struct RegisterChain {
  int bias = -1, addend = -1;                  // inputs
  bool clamp_low = false, clamp_high = false;  // at 0, at 6
  size_t count = 0;                            // number of fused ops included

  // The ops of `fused` that are not included.
  FusedOps RestOf(const FusedOps& fused) const {
    return FusedOps(fused.begin() + static_cast<ptrdiff_t>(count), fused.end());
  }
};
RegisterChain PlanRegisterChain(const PrepareContext& p, const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_REGISTER_CHAIN_H_

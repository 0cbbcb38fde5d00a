// Fuses contractions with the ops after them (graph_rewrite/chain.h). BatchMatMul and BatchMatMulV2
// become the same fused op.
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// If a batch norm and a contraction are added, the batch norm absorbs the sum.
// Attention takes the masks that follow its first product.
constexpr char kAfter[] = "FuseBatchNormRelu FuseAttention";

const RuleRegistration conv2d({
    .name = "FuseConv2D",
    .doc = "Conv2D and the biases, sums and activations that follow it",
    .phase = Phase::kFuse,
    .contraction = "Conv2D",
    .fused = "_FusedConv2D",
    .after = kAfter,
});

const RuleRegistration depthwise({
    .name = "FuseDepthwiseConv2d",
    .doc = "DepthwiseConv2dNative and the biases, sums and activations that follow it",
    .phase = Phase::kFuse,
    .contraction = "DepthwiseConv2dNative",
    .fused = "_FusedDepthwiseConv2dNative",
    .after = kAfter,
});

const RuleRegistration conv3d({
    .name = "FuseConv3D",
    .doc = "Conv3D and the biases, sums and activations that follow it",
    .phase = Phase::kFuse,
    .contraction = "Conv3D",
    .fused = "_FusedConv3D",
    .after = kAfter,
});

const RuleRegistration matmul({
    .name = "FuseMatMul",
    .doc = "MatMul and the biases, sums and activations that follow it",
    .phase = Phase::kFuse,
    .contraction = "MatMul",
    .fused = "_FusedMatMul",
    .after = kAfter,
});

const RuleRegistration batch_matmul({
    .name = "FuseBatchMatMul",
    .doc = "BatchMatMul and the biases, sums and activations that follow it",
    .phase = Phase::kFuse,
    .contraction = "BatchMatMul",
    .fused = "_FusedBatchMatMulV2",
    .after = kAfter,
});

const RuleRegistration batch_matmul_v2({
    .name = "FuseBatchMatMulV2",
    .doc = "BatchMatMulV2 and the biases, sums and activations that follow it",
    .phase = Phase::kFuse,
    .contraction = "BatchMatMulV2",
    .fused = "_FusedBatchMatMulV2",
    .after = kAfter,
});

const RuleRegistration einsum({
    .name = "FuseEinsum",
    .doc = "Einsum and the biases, sums and activations that follow it",
    .phase = Phase::kFuse,
    .contraction = "Einsum",
    .fused = "_FusedEinsum",
    .after = kAfter,
});

}  // namespace
}  // namespace tenon

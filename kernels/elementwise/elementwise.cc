#include "kernels/elementwise/elementwise.h"

namespace tenon {
namespace {

using Op = ElementwiseOp;

// op names: instructions of programs are spelled like the ops that they stand for.
constexpr ElementwiseInfo kTable[] = {
    {"Identity", Op::kCopy, 0.1f},
    {"Abs", Op::kAbs, 0.1f, PostOpForm{.onednn = Eltwise::kAbs}},
    {"Neg", Op::kNeg, 0.1f},
    {"Square", Op::kSquare, 0.1f, PostOpForm{.onednn = Eltwise::kSquare}},
    {"Sqrt", Op::kSqrt, 0.3f, PostOpForm{.onednn = Eltwise::kSqrt}},
    {"Rsqrt", Op::kRsqrt, 0.5f},
    {"Reciprocal", Op::kReciprocal, 0.3f},
    {"Inv", Op::kReciprocal, 0.3f},
    {"Sign", Op::kSign, 0.1f},
    {"Floor", Op::kFloor, 0.1f},
    {"Ceil", Op::kCeil, 0.1f},
    {"Rint", Op::kRint, 0.1f},
    {"Round", Op::kRint, 0.1f},
    {"Exp", Op::kExp, 0.4f, PostOpForm{.onednn = Eltwise::kExp, .onednn_loses_nan = true}},
    {"Expm1", Op::kExpm1, 0.6f},
    // Not a post-op: oneDNN's logarithm has errors of 1% near 1.
    {"Log", Op::kLog, 0.5f},
    {"Log1p", Op::kLog1p, 0.8f},
    {"Erf", Op::kErf, 0.9f},
    {"Erfc", Op::kErfc, 0.9f},
    {"Tanh", Op::kTanh, 0.8f, PostOpForm{.onednn = Eltwise::kTanh, .faster_outside = true}},
    {"Sin", Op::kSin, 0.8f},
    {"Cos", Op::kCos, 0.8f},
    {"Asin", Op::kAsin, 0.6f},
    {"Acos", Op::kAcos, 0.6f},
    {"Atan", Op::kAtan, 0.6f},
    {"Tan", Op::kTan, 0.9f},
    {"Sinh", Op::kSinh, 0.8f},
    {"Cosh", Op::kCosh, 0.7f},
    {"Asinh", Op::kAsinh, 0.9f},
    {"Acosh", Op::kAcosh, 0.9f},
    {"Atanh", Op::kAtanh, 0.9f},
    {"Erfinv", Op::kErfinv, 1.3f},
    {"Ndtri", Op::kNdtri, 1.7f},
    {"Sigmoid", Op::kSigmoid, 0.6f, PostOpForm{.onednn = Eltwise::kLogistic}},
    {"Relu", Op::kRelu, 0.1f, PostOpForm{.onednn = Eltwise::kRelu, .onednn_loses_nan = true}},
    {"Relu6", Op::kRelu6, 0.1f,
     PostOpForm{.onednn = Eltwise::kClip, .beta = 6, .onednn_loses_nan = true}},
    {"LeakyRelu", Op::kLeakyRelu, 0.1f,
     PostOpForm{.parameter = "leakyrelu_alpha", .onednn = Eltwise::kRelu}, "alpha", 0.2f},
    {"Elu", Op::kElu, 0.7f, PostOpForm{.onednn = Eltwise::kElu, .alpha = 1}},
    {"Selu", Op::kSelu, 0.7f,
     PostOpForm{.onednn = Eltwise::kElu,
                .alpha = static_cast<float>(kSeluScaleAlpha / kSeluScale),
                .scale = static_cast<float>(kSeluScale)}},
    // Not by oneDNN: its soft_relu has errors up to 8e-6 if x is far below zero.
    {"Softplus", Op::kSoftplus, 1.2f, PostOpForm{}},
    {"Softsign", Op::kSoftsign, 0.3f},
    {"_GeluExact", Op::kGeluExact, 1.0f,
     PostOpForm{.spelling = "GeluExact", .onednn = Eltwise::kGeluErf, .faster_outside = true}},
    {"_GeluApproximate", Op::kGeluApproximate, 0.7f,
     PostOpForm{
         .spelling = "GeluApproximate", .onednn = Eltwise::kGeluTanh, .faster_outside = true}},
    {"_Swish", Op::kSwish, 0.6f,
     PostOpForm{
         .spelling = "_MklSwish", .onednn = Eltwise::kSwish, .alpha = 1, .faster_outside = true}},
    {"_HardSwish", Op::kHardSwish, 0.1f,
     PostOpForm{.spelling = "_FusedHardSwish", .onednn = Eltwise::kHardSwish}},
    {"_Mish", Op::kMish, 0.7f, PostOpForm{.spelling = "_MklFusedMish", .onednn = Eltwise::kMish}},
    {"Add", Op::kAdd, 0.12f, PostOpForm{}},
    {"AddV2", Op::kAdd, 0.12f},
    {"BiasAdd", Op::kAdd, 0.12f, PostOpForm{}},
    {"Sub", Op::kSub, 0.12f},
    {"Mul", Op::kMul, 0.12f, PostOpForm{}},
    {"Div", Op::kDiv, 0.3f},
    {"RealDiv", Op::kDiv, 0.3f},
    {"DivNoNan", Op::kDivNoNan, 0.3f},
    {"Maximum", Op::kMaximum, 0.12f},
    {"Minimum", Op::kMinimum, 0.12f},
    {"SquaredDifference", Op::kSquaredDifference, 0.12f},
    {"Atan2", Op::kAtan2, 0.9f},
    {"Pow", Op::kPow, 2.5f},
    {"Xdivy", Op::kXdivy, 0.3f},
    {"Xlogy", Op::kXlogy, 0.6f},
    {"Xlog1py", Op::kXlog1py, 0.9f},
    {"ReluGrad", Op::kReluGrad, 0.12f},
    {"Relu6Grad", Op::kRelu6Grad, 0.12f},
    {"LeakyReluGrad", Op::kLeakyReluGrad, 0.12f, std::nullopt, "alpha", 0.2f},
    {"EluGrad", Op::kEluGrad, 0.12f},
    {"SeluGrad", Op::kSeluGrad, 0.12f},
    {"SoftplusGrad", Op::kSoftplusGrad, 0.6f},
    {"SoftsignGrad", Op::kSoftsignGrad, 0.3f},
    {"TanhGrad", Op::kTanhGrad, 0.12f},
    {"SigmoidGrad", Op::kSigmoidGrad, 0.12f},
    {"SqrtGrad", Op::kSqrtGrad, 0.3f},
    {"RsqrtGrad", Op::kRsqrtGrad, 0.12f},
    {"ReciprocalGrad", Op::kReciprocalGrad, 0.12f},
    {"InvGrad", Op::kReciprocalGrad, 0.12f},
};

}  // namespace

absl::Span<const ElementwiseInfo> ElementwiseTable() { return kTable; }

const ElementwiseInfo* FindElementwise(absl::string_view name) {
  for (const ElementwiseInfo& row : kTable) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

const ElementwiseInfo* FindElementwise(ElementwiseOp op) {
  for (const ElementwiseInfo& row : kTable) {
    if (op == row.op) return &row;
  }
  return nullptr;
}

const ElementwiseInfo* FindFusedOp(absl::string_view name) {
  for (const ElementwiseInfo& row : kTable) {
    if (!row.post_op.has_value()) continue;
    if (name == row.name) return &row;
    if (row.post_op->spelling != nullptr && name == row.post_op->spelling) return &row;
  }
  return nullptr;
}

double ElementwiseCost(ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  return info == nullptr ? 0.15 : static_cast<double>(info->ns);
}

}  // namespace tenon

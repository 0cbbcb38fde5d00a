#include "kernels/elementwise/elementwise.h"

namespace tenon {
namespace {

using Op = ElementwiseOp;

// op names: instructions of programs are spelled like the ops that they stand for.
constexpr ElementwiseInfo kTable[] = {
    {"Identity", Op::kCopy, 1, 0.1f, nullptr, 0},
    {"Abs", Op::kAbs, 1, 0.1f, nullptr, 0},
    {"Neg", Op::kNeg, 1, 0.1f, nullptr, 0},
    {"Square", Op::kSquare, 1, 0.1f, nullptr, 0},
    {"Sqrt", Op::kSqrt, 1, 0.3f, nullptr, 0},
    {"Rsqrt", Op::kRsqrt, 1, 0.5f, nullptr, 0},
    {"Reciprocal", Op::kReciprocal, 1, 0.3f, nullptr, 0},
    {"Inv", Op::kReciprocal, 1, 0.3f, nullptr, 0},
    {"Sign", Op::kSign, 1, 0.1f, nullptr, 0},
    {"Floor", Op::kFloor, 1, 0.1f, nullptr, 0},
    {"Ceil", Op::kCeil, 1, 0.1f, nullptr, 0},
    {"Rint", Op::kRint, 1, 0.1f, nullptr, 0},
    {"Round", Op::kRint, 1, 0.1f, nullptr, 0},
    {"Exp", Op::kExp, 1, 0.4f, nullptr, 0},
    {"Expm1", Op::kExpm1, 1, 0.6f, nullptr, 0},
    {"Log", Op::kLog, 1, 0.5f, nullptr, 0},
    {"Log1p", Op::kLog1p, 1, 0.8f, nullptr, 0},
    {"Erf", Op::kErf, 1, 0.9f, nullptr, 0},
    {"Erfc", Op::kErfc, 1, 0.9f, nullptr, 0},
    {"Tanh", Op::kTanh, 1, 0.8f, nullptr, 0},
    {"Sigmoid", Op::kSigmoid, 1, 0.6f, nullptr, 0},
    {"Relu", Op::kRelu, 1, 0.1f, nullptr, 0},
    {"Relu6", Op::kRelu6, 1, 0.1f, nullptr, 0},
    {"LeakyRelu", Op::kLeakyRelu, 1, 0.1f, "alpha", 0.2f},
    {"Elu", Op::kElu, 1, 0.7f, nullptr, 0},
    {"Selu", Op::kSelu, 1, 0.7f, nullptr, 0},
    {"Softplus", Op::kSoftplus, 1, 1.2f, nullptr, 0},
    {"Softsign", Op::kSoftsign, 1, 0.3f, nullptr, 0},
    {"_GeluExact", Op::kGeluExact, 1, 1.0f, nullptr, 0},
    {"_GeluApproximate", Op::kGeluApproximate, 1, 0.7f, nullptr, 0},
    {"_Swish", Op::kSwish, 1, 0.6f, nullptr, 0},
    {"_HardSwish", Op::kHardSwish, 1, 0.1f, nullptr, 0},
    {"_Mish", Op::kMish, 1, 0.7f, nullptr, 0},
    {"Add", Op::kAdd, 2, 0.12f, nullptr, 0},
    {"AddV2", Op::kAdd, 2, 0.12f, nullptr, 0},
    {"BiasAdd", Op::kAdd, 2, 0.12f, nullptr, 0},
    {"Sub", Op::kSub, 2, 0.12f, nullptr, 0},
    {"Mul", Op::kMul, 2, 0.12f, nullptr, 0},
    {"Div", Op::kDiv, 2, 0.3f, nullptr, 0},
    {"RealDiv", Op::kDiv, 2, 0.3f, nullptr, 0},
    {"DivNoNan", Op::kDivNoNan, 2, 0.3f, nullptr, 0},
    {"Maximum", Op::kMaximum, 2, 0.12f, nullptr, 0},
    {"Minimum", Op::kMinimum, 2, 0.12f, nullptr, 0},
    {"SquaredDifference", Op::kSquaredDifference, 2, 0.12f, nullptr, 0},
    {"ReluGrad", Op::kReluGrad, 2, 0.12f, nullptr, 0},
    {"Relu6Grad", Op::kRelu6Grad, 2, 0.12f, nullptr, 0},
    {"LeakyReluGrad", Op::kLeakyReluGrad, 2, 0.12f, "alpha", 0.2f},
    {"EluGrad", Op::kEluGrad, 2, 0.12f, nullptr, 0},
    {"SeluGrad", Op::kSeluGrad, 2, 0.12f, nullptr, 0},
    {"SoftplusGrad", Op::kSoftplusGrad, 2, 0.6f, nullptr, 0},
    {"SoftsignGrad", Op::kSoftsignGrad, 2, 0.3f, nullptr, 0},
    {"TanhGrad", Op::kTanhGrad, 2, 0.12f, nullptr, 0},
    {"SigmoidGrad", Op::kSigmoidGrad, 2, 0.12f, nullptr, 0},
    {"SqrtGrad", Op::kSqrtGrad, 2, 0.3f, nullptr, 0},
    {"RsqrtGrad", Op::kRsqrtGrad, 2, 0.12f, nullptr, 0},
    {"ReciprocalGrad", Op::kReciprocalGrad, 2, 0.12f, nullptr, 0},
    {"InvGrad", Op::kReciprocalGrad, 2, 0.12f, nullptr, 0},
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

double ElementwiseCost(ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  return info == nullptr ? 0.15 : static_cast<double>(info->ns);
}

}  // namespace tenon

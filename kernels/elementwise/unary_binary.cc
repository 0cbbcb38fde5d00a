#include "kernels/elementwise/unary_binary.h"

#include "env/status.h"
#include "kernels/elementwise/double_simd.h"
#include "kernels/elementwise/program.h"

namespace tenon {
namespace {

Operand Input(int i) { return {Operand::Kind::kInput, i}; }
Operand Result(int i) { return {Operand::Kind::kResult, i}; }

// The node's value of the op's parameter.
float ParameterOf(const PrepareContext& p, const ElementwiseInfo& info) {
  return info.parameter == nullptr ? 0 : p.attrs().Float(info.parameter, info.default_parameter);
}

constexpr char kDoubles[] = "vector";

absl::StatusOr<std::unique_ptr<Kernel>> DoubleUnaryKernel(PrepareContext& p, ElementwiseOp op) {
  const DoubleUnaryFn loop = FindDoubleUnary(op);
  if (loop == nullptr) return Unimplemented("no vector kernel for double");
  return MakeUnaryKernel(p, {loop, sizeof(double), sizeof(double)}, kDoubles);
}

absl::StatusOr<std::unique_ptr<Kernel>> DoubleBinaryKernel(PrepareContext& p, ElementwiseOp op) {
  const BinaryLoop loop = FindDoubleBinary(op);
  if (loop == nullptr) return Unimplemented("no vector kernel for double");
  return MakeBinaryKernel(p, loop, /*same_size=*/true, kDoubles);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorUnary(PrepareContext& p, ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  if (info == nullptr || info->arity() != 1 || p.num_inputs() != 1) {
    return Unimplemented("no vector kernel of one input");
  }
  if (p.output_dtype(0) == DType::kDouble) return DoubleUnaryKernel(p, op);
  return MakeProgramKernel(p, {{op, {Input(0)}, ParameterOf(p, *info)}});
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorBinary(PrepareContext& p, ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  if (info == nullptr || info->arity() != 2 || p.num_inputs() != 2) {
    return Unimplemented("no vector kernel of two inputs");
  }
  if (p.output_dtype(0) == DType::kDouble) return DoubleBinaryKernel(p, op);
  return MakeProgramKernel(p, {{op, {Input(0), Input(1)}, ParameterOf(p, *info)}});
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorAddN(PrepareContext& p) {
  if (p.num_inputs() < 2) return Unimplemented("AddN of one input");
  Program program;
  for (int i = 1; i < p.num_inputs(); ++i) {
    program.push_back({ElementwiseOp::kAdd, {i == 1 ? Input(0) : Result(i - 2), Input(i)}, 0});
  }
  return MakeProgramKernel(p, program);
}

}  // namespace tenon

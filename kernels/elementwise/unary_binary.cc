#include "kernels/elementwise/unary_binary.h"

#include "env/status.h"
#include "kernels/elementwise/complex_simd.h"
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

constexpr char kVector[] = "vector";

// Kernels of dtypes that programs do not have, by loops over the elements themselves.
absl::StatusOr<std::unique_ptr<Kernel>> UnaryKernelOf(PrepareContext& p, ElementwiseOp op) {
  const DType dtype = p.output_dtype(0);
  const auto loop = dtype == DType::kDouble ? FindDoubleUnary(op) : FindComplexUnary(op);
  const auto bytes = static_cast<int64_t>(SizeOf(dtype));
  if (loop == nullptr) return Unimplemented("no vector kernel for ", Name(dtype));
  return MakeUnaryKernel(p, {loop, bytes, bytes}, kVector);
}

absl::StatusOr<std::unique_ptr<Kernel>> BinaryKernelOf(PrepareContext& p, ElementwiseOp op) {
  const DType dtype = p.output_dtype(0);
  const BinaryLoop loop = dtype == DType::kDouble ? FindDoubleBinary(op) : FindComplexBinary(op);
  if (loop == nullptr) return Unimplemented("no vector kernel for ", Name(dtype));
  return MakeBinaryKernel(p, loop, /*same_size=*/true, kVector);
}

bool HasOwnLoops(DType dtype) { return dtype == DType::kDouble || dtype == DType::kComplex64; }

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorUnary(PrepareContext& p, ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  if (info == nullptr || info->arity() != 1 || p.num_inputs() != 1) {
    return Unimplemented("no vector kernel of one input");
  }
  if (HasOwnLoops(p.output_dtype(0))) return UnaryKernelOf(p, op);
  return MakeProgramKernel(p, {{op, {Input(0)}, ParameterOf(p, *info)}});
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorBinary(PrepareContext& p, ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  if (info == nullptr || info->arity() != 2 || p.num_inputs() != 2) {
    return Unimplemented("no vector kernel of two inputs");
  }
  if (HasOwnLoops(p.output_dtype(0))) return BinaryKernelOf(p, op);
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

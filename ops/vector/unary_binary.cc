#include "env/status.h"
#include "ops/op.h"
#include "ops/vector/program.h"
#include "ops/vector/vector_kernels.h"

namespace tenon {
namespace {

// The node's op under its plain name, whatever the node is called.
absl::string_view PlainName(const Node& node) {
  const OpLookup op = FindOp(node.op);
  return op ? absl::string_view(op.info->row.name) : absl::string_view(node.op);
}

Operand Input(int i) { return {Operand::Kind::kInput, i}; }
Operand Result(int i) { return {Operand::Kind::kResult, i}; }

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorUnary(PrepareContext& p) {
  const absl::string_view name = PlainName(p.node());
  const ElementwiseInfo* info = FindElementwise(name);
  if (info == nullptr || info->arity != 1 || p.num_inputs() != 1) {
    return Unimplemented("no vector kernel for ", name);
  }
  Instruction instruction;
  instruction.op = info->op;
  instruction.operands[0] = Input(0);
  if (info->parameter != nullptr) {
    instruction.parameter = p.attrs().Float(info->parameter, info->default_parameter);
  }
  return MakeProgramKernel(p, {instruction});
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorBinary(PrepareContext& p) {
  const absl::string_view name = PlainName(p.node());
  Program program;
  if (name == "AddN") {
    if (p.num_inputs() < 2) return Unimplemented("AddN of one input");
    for (int i = 1; i < p.num_inputs(); ++i) {
      program.push_back({ElementwiseOp::kAdd, {i == 1 ? Input(0) : Result(i - 2), Input(i)}, 0});
    }
    return MakeProgramKernel(p, program);
  }
  const ElementwiseInfo* info = FindElementwise(name);
  if (info == nullptr || info->arity != 2 || p.num_inputs() != 2) {
    return Unimplemented("no vector kernel for ", name);
  }
  if (name == "BiasAdd" && p.attrs().String("data_format", "NHWC") != "NHWC") {
    return Unimplemented("BiasAdd with channels first");
  }
  const float parameter =
      info->parameter == nullptr ? 0 : p.attrs().Float(info->parameter, info->default_parameter);
  program.push_back({info->op, {Input(0), Input(1)}, parameter});
  return MakeProgramKernel(p, program);
}

}  // namespace tenon

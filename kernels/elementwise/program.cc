#include "kernels/elementwise/program.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "env/status.h"

namespace tenon {
namespace {

absl::StatusOr<Operand> ParseOperand(absl::string_view text, int num_inputs, int num_results) {
  Operand operand;
  if (text.size() < 2 || !absl::SimpleAtoi(text.substr(1), &operand.index)) {
    return InvalidArgument("operand '", text, "' is neither $i nor %j");
  }
  int limit = 0;
  if (text[0] == '$') {
    operand.kind = Operand::Kind::kInput;
    limit = num_inputs;
  } else if (text[0] == '%') {
    operand.kind = Operand::Kind::kResult;
    limit = num_results;
  }
  if (operand.index < 0 || operand.index >= limit) {
    return InvalidArgument("operand '", text, "' does not exist here");
  }
  return operand;
}

absl::StatusOr<Instruction> ParseInstruction(absl::string_view text, int num_inputs,
                                             int num_results) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.empty()) return InvalidArgument("empty");
  const std::pair<absl::string_view, absl::string_view> name_and_parameter =
      absl::StrSplit(words[0], absl::MaxSplits(':', 1));
  const ElementwiseInfo* info = FindElementwise(name_and_parameter.first);
  if (info == nullptr) return InvalidArgument("'", words[0], "' is no elementwise op");

  Instruction instruction;
  instruction.op = info->op;
  instruction.parameter = info->default_parameter;
  if (!name_and_parameter.second.empty()) {
    const std::pair<absl::string_view, absl::string_view> key_and_value =
        absl::StrSplit(name_and_parameter.second, absl::MaxSplits('=', 1));
    if (info->parameter == nullptr || key_and_value.first != info->parameter ||
        !absl::SimpleAtof(key_and_value.second, &instruction.parameter)) {
      return InvalidArgument("bad parameter '", name_and_parameter.second, "'");
    }
  }
  if (static_cast<int>(words.size()) != info->arity() + 1) {
    return InvalidArgument("takes ", info->arity(), " operands");
  }
  for (int i = 0; i < info->arity(); ++i) {
    TENON_ASSIGN_OR_RETURN(
        instruction.operands[static_cast<size_t>(i)],
        ParseOperand(words[static_cast<size_t>(i) + 1], num_inputs, num_results));
  }
  return instruction;
}

std::vector<int> CountReaders(const Program& program) {
  std::vector<int> readers(program.size(), 0);
  for (const Instruction& instruction : program) {
    for (const Operand& o : instruction.operands) {
      if (o.kind == Operand::Kind::kResult) ++readers[static_cast<size_t>(o.index)];
    }
  }
  return readers;
}

// Rebuilds the program without the instructions marked in `dead`.
Program Compact(const Program& program, const std::vector<bool>& dead) {
  std::vector<int> renumbered(program.size(), 0);
  Program out;
  for (size_t i = 0; i < program.size(); ++i) {
    if (dead[i]) continue;
    renumbered[i] = static_cast<int>(out.size());
    out.push_back(program[i]);
    for (Operand& o : out.back().operands) {
      if (o.kind == Operand::Kind::kResult) o.index = renumbered[static_cast<size_t>(o.index)];
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<Program> ParseProgram(absl::Span<const std::string> text, int num_inputs) {
  if (text.empty()) return InvalidArgument("the program is empty");
  Program program;
  std::vector<bool> used(static_cast<size_t>(num_inputs), false);
  for (const std::string& line : text) {
    auto instruction = ParseInstruction(line, num_inputs, static_cast<int>(program.size()));
    if (!instruction.ok()) {
      return Annotate(instruction.status(), absl::StrCat("instruction '", line, "'"));
    }
    for (const Operand& o : instruction->operands) {
      if (o.kind == Operand::Kind::kInput) used[static_cast<size_t>(o.index)] = true;
    }
    program.push_back(*instruction);
  }
  for (int i = 0; i < num_inputs; ++i) {
    if (!used[static_cast<size_t>(i)]) return InvalidArgument("nothing reads input $", i);
  }
  return program;
}

Program OptimizeProgram(const Program& program) {
  Program out = program;
  const std::vector<int> readers = CountReaders(program);
  std::vector<bool> dead(program.size(), false);
  const auto only_reader_of = [&](const Operand& o, ElementwiseOp op) {
    return o.kind == Operand::Kind::kResult && out[static_cast<size_t>(o.index)].op == op &&
           readers[static_cast<size_t>(o.index)] == 1;
  };
  for (Instruction& now : out) {
    if (now.op == ElementwiseOp::kAdd) {
      for (size_t side : {0u, 1u}) {
        const Operand product = now.operands[side];
        if (!only_reader_of(product, ElementwiseOp::kMul)) continue;
        const Instruction& mul = out[static_cast<size_t>(product.index)];
        const Operand addend = now.operands[1 - side];
        now = {ElementwiseOp::kMulAdd, {mul.operands[0], mul.operands[1], addend}, 0};
        dead[static_cast<size_t>(product.index)] = true;
        break;
      }
    } else if (now.op == ElementwiseOp::kRelu) {
      const Operand sum = now.operands[0];
      if (!only_reader_of(sum, ElementwiseOp::kMulAdd)) continue;
      now.operands = out[static_cast<size_t>(sum.index)].operands;
      now.op = ElementwiseOp::kMulAddRelu;
      dead[static_cast<size_t>(sum.index)] = true;
    }
  }
  return Compact(out, dead);
}

}  // namespace tenon

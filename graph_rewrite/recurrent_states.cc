#include "graph_rewrite/recurrent_states.h"

#include <algorithm>

#include "env/status.h"
#include "graph_rewrite/cell_reader.h"

namespace tenon {
namespace {

using Variable = RecurrentLoop::Variable;

class StateReader {
 public:
  StateReader(const RecurrentLoop& loop, RecurrentStack& stack)
      : loop_(loop), all_(loop.expressions), read_(loop.expressions), stack_(stack) {}

  absl::StatusOr<RecurrentStates> Read() {
    TENON_RETURN_IF_ERROR(FindResults());
    TENON_RETURN_IF_ERROR(FindStates());
    if (stack_.results >= 0) TENON_RETURN_IF_ERROR(ReadResults());
    if (held_.size() != (stack_.held >= 0 ? 1u : 0u)) return WhyNot("a state is not used");
    return std::move(out_);
  }

 private:
  const Variable& variable(int v) const { return loop_.variables[static_cast<size_t>(v)]; }
  int end() const { return static_cast<int>(loop_.variables.size()); }

  absl::Status SetMask(ExprId condition) {
    const Expression& mask = all_.at(condition);
    if (stack_.mask >= 0 && stack_.mask != mask.variable) return WhyNot("it has several masks");
    stack_.mask = mask.variable;
    stack_.by_length = !mask.op.empty();
    return absl::OkStatus();
  }

  absl::Status FindResults() {
    for (int v = 0; v < end(); ++v) {
      if (variable(v).role != Variable::kResults) continue;
      if (stack_.results >= 0) return WhyNot("it writes several lists");
      stack_.results = v;
    }
    return absl::OkStatus();
  }

  // A masked state is select(mask, new, old).
  absl::Status FindStates() {
    out_.unmasked.assign(loop_.variables.size(), -1);
    std::vector<int> states;
    bool without_mask = false;
    for (int v = 0; v < end(); ++v) {
      if (variable(v).role != Variable::kState) continue;
      const ExprId next = variable(v).next;
      const Expression* select = read_.AsOp(next, "Select");
      without_mask = without_mask || select == nullptr;
      if (select != nullptr) {
        TENON_RETURN_IF_ERROR(SetMask(select->args[0]));
        if (!read_.IsState(select->args[2], v)) {
          // With zeros where masked, it repeats the result before without being read.
          if (stack_.results < 0 || next != variable(stack_.results).next) {
            return WhyNot("a mask does not keep the state");
          }
          held_.push_back(v);
          continue;
        }
      }
      states.push_back(v);
      out_.unmasked[static_cast<size_t>(v)] = select == nullptr ? next : select->args[1];
    }
    if (stack_.mask >= 0 && without_mask) return WhyNot("only some of its states are masked");
    std::vector<int> used;
    for (int v : states) {
      for (int s : all_.States(out_.next(v))) used.push_back(s);
    }
    for (int v : states) {
      const bool is_used = std::find(used.begin(), used.end(), v) != used.end();
      (is_used ? out_.of_cells : held_).push_back(v);
    }
    return absl::OkStatus();
  }

  // Masked results are zero, or those of the step before.
  absl::Status ReadResults() {
    const ExprId next = variable(stack_.results).next;
    out_.result = next;
    const Expression* select = read_.AsOp(next, "Select");
    if ((select != nullptr) != (stack_.mask >= 0)) {
      return WhyNot("its results are not masked alike");
    }
    if (select == nullptr) return absl::OkStatus();
    TENON_RETURN_IF_ERROR(SetMask(select->args[0]));
    const ExprId otherwise = select->args[2];
    const bool held = held_.size() == 1 && variable(held_[0]).next == next;
    stack_.zero_masked =
        all_.at(otherwise).kind == Expression::kZeros || read_.IsNumber(otherwise, 0);
    if (!stack_.zero_masked && !(held && read_.IsState(otherwise, held_[0]))) {
      return WhyNot("its masked results are neither zero nor those before");
    }
    if (held) stack_.held = held_[0];
    out_.result = select->args[1];
    return absl::OkStatus();
  }

  const RecurrentLoop& loop_;
  const Expressions& all_;
  const CellReader read_;
  RecurrentStack& stack_;
  RecurrentStates out_;
  std::vector<int> held_;  // states that no cell reads
};

}  // namespace

absl::StatusOr<RecurrentStates> ReadRecurrentStates(const RecurrentLoop& loop,
                                                    RecurrentStack& stack) {
  return StateReader(loop, stack).Read();
}

}  // namespace tenon

#include "graph_rewrite/recurrent_cell.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "env/status.h"

namespace tenon {
namespace {

using Gate = RecurrentCellForm::Gate;
using Variable = RecurrentLoop::Variable;

struct Activation {
  std::string name = "linear";
  ExprId inner = -1;
  double alpha = 0, beta = 0;
};

// The two operands of a binary op, or of a product.
using Pair = std::pair<ExprId, ExprId>;

class CellMatcher {
 public:
  CellMatcher(const RecurrentLoop& loop, RecurrentCellForm& out)
      : loop_(loop), all_(loop.expressions), out_(out) {}

  absl::Status Match() {
    TENON_RETURN_IF_ERROR(ReadMasks());
    if (cells_.empty() || cells_.size() > 2) {
      return WhyNot(absl::StrCat("its cells have ", cells_.size(), " states"));
    }
    absl::Status status;
    if (cells_.size() == 1) {
      status = MatchGru(cells_[0]);
      if (!status.ok() && IsSimple(cells_[0])) status = MatchSimple(cells_[0]);
    } else {
      status = MatchLstm(cells_[0], cells_[1]);
      if (!status.ok()) {
        Reset();
        const absl::Status other = MatchLstm(cells_[1], cells_[0]);
        if (other.ok() || progress_[1] > progress_[0]) status = other;
      }
    }
    TENON_RETURN_IF_ERROR(status);
    if (out_.input < 0) return WhyNot("its cell has no input");
    if (out_.results >= 0 && result_ != NewState(out_.h)) {
      return WhyNot("its results are not the new states");
    }
    return absl::OkStatus();
  }

 private:
  const Variable& variable(int v) const { return loop_.variables[static_cast<size_t>(v)]; }
  ExprId NewState(int v) const { return cores_[static_cast<size_t>(v)]; }
  const Expression* AsOp(ExprId e, const char* op) const {
    const Expression& x = all_.at(e);
    return x.kind == Expression::kOp && x.op == op ? &x : nullptr;
  }
  bool IsState(ExprId e, int v) const {
    const Expression& x = all_.at(e);
    return x.kind == Expression::kState && x.variable == v;
  }
  bool IsNumber(ExprId e, double value) const {
    const Expression& x = all_.at(e);
    return (x.kind == Expression::kNumber && std::abs(x.number - value) <= 1e-6 * value) ||
           (x.kind == Expression::kZeros && value == 0);
  }
  void Reset() {
    out_.gates.clear();
    out_.activations.clear();
    out_.alpha = out_.beta = 0;
    out_.input = -1;
    std::fill(std::begin(out_.peepholes), std::end(out_.peepholes), ConstantBlock());
  }

  // ---- masks ----

  absl::Status SetMask(ExprId condition) {
    const int list = all_.at(condition).variable;
    if (out_.mask >= 0 && out_.mask != list) return WhyNot("it has several masks");
    out_.mask = list;
    return absl::OkStatus();
  }

  // Finds the states of cells, and takes off the masks: select(mask, new, old).
  absl::Status ReadMasks() {
    cores_.assign(loop_.variables.size(), -1);
    std::vector<int> states, held;
    bool unmasked = false;
    for (size_t i = 0; i < loop_.variables.size(); ++i) {
      if (loop_.variables[i].role != Variable::kResults) continue;
      if (out_.results >= 0) return WhyNot("it writes several lists");
      out_.results = static_cast<int>(i);
    }
    for (size_t i = 0; i < loop_.variables.size(); ++i) {
      const int v = static_cast<int>(i);
      if (variable(v).role != Variable::kState) continue;
      const ExprId next = variable(v).next;
      const Expression* select = AsOp(next, "Select");
      unmasked = unmasked || select == nullptr;
      if (select != nullptr) {
        TENON_RETURN_IF_ERROR(SetMask(select->args[0]));
        if (!IsState(select->args[2], v)) {
          // With zeros where masked, it repeats the result before without being read.
          if (out_.results < 0 || next != variable(out_.results).next) {
            return WhyNot("a mask does not keep the state");
          }
          held.push_back(v);
          continue;
        }
      }
      states.push_back(v);
      cores_[i] = select == nullptr ? next : select->args[1];
    }
    if (out_.mask >= 0 && unmasked) return WhyNot("only some of its states are masked");
    std::vector<int> used;
    for (int v : states) {
      for (int s : all_.States(NewState(v))) used.push_back(s);
    }
    for (int v : states) {
      const bool is_used = std::find(used.begin(), used.end(), v) != used.end();
      (is_used ? cells_ : held).push_back(v);
    }
    if (out_.results < 0) {
      return held.empty() ? absl::OkStatus() : WhyNot("a state is not used");
    }
    result_ = variable(out_.results).next;
    const Expression* select = AsOp(result_, "Select");
    if ((select != nullptr) != (out_.mask >= 0)) return WhyNot("its results are not masked alike");
    if (select != nullptr) {
      TENON_RETURN_IF_ERROR(SetMask(select->args[0]));
      const Expression& otherwise = all_.at(select->args[2]);
      if (otherwise.kind == Expression::kZeros || IsNumber(select->args[2], 0)) {
        out_.zero_masked = true;
      } else if (held.size() == 1 && IsState(select->args[2], held[0]) &&
                 variable(held[0]).next == result_) {
        out_.held = held[0];
      } else {
        return WhyNot("its masked results are neither zero nor those before");
      }
      if (out_.zero_masked && held.size() == 1 && variable(held[0]).next == result_) {
        out_.held = held[0];
      }
      result_ = select->args[1];
    }
    if (held.size() != (out_.held >= 0 ? 1u : 0u)) return WhyNot("a state is not used");
    return absl::OkStatus();
  }

  // ---- parts of cells ----

  std::optional<Pair> Factors(ExprId e) const {
    const Expression* mul = AsOp(e, "Mul");
    if (mul == nullptr) return std::nullopt;
    return Pair(mul->args[0], mul->args[1]);
  }

  // min(max(x, low), high), in any order.
  std::optional<ExprId> Clamped(ExprId e, double low, double high) const {
    for (const bool max_outside : {false, true}) {
      const Expression* outer = AsOp(e, max_outside ? "Maximum" : "Minimum");
      if (outer == nullptr) continue;
      for (size_t i : {0, 1}) {
        if (!IsNumber(outer->args[i], max_outside ? low : high)) continue;
        const Expression* inner = AsOp(outer->args[1 - i], max_outside ? "Minimum" : "Maximum");
        if (inner == nullptr) continue;
        for (size_t k : {0, 1}) {
          if (IsNumber(inner->args[k], max_outside ? high : low)) return inner->args[1 - k];
        }
      }
    }
    return std::nullopt;
  }

  // factor * e, factor a number.
  std::optional<std::pair<double, ExprId>> Scaled(ExprId e) const {
    if (const Expression* div = AsOp(e, "RealDiv")) {
      const Expression& by = all_.at(div->args[1]);
      if (by.kind == Expression::kNumber) return std::pair(1 / by.number, div->args[0]);
    }
    const std::optional<Pair> f = Factors(e);
    if (!f.has_value()) return std::nullopt;
    for (const auto& [a, b] : {Pair(f->first, f->second), Pair(f->second, f->first)}) {
      if (all_.at(a).kind == Expression::kNumber) return std::pair(all_.at(a).number, b);
    }
    return std::nullopt;
  }

  Activation ActivationOf(ExprId e) const {
    // op names: those of which _Recurrence has a form
    static constexpr std::pair<const char*, const char*> kNames[] = {
        {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Relu", "relu"}};
    for (const auto& [op, name] : kNames) {
      if (const Expression* x = AsOp(e, op)) return {.name = name, .inner = x->args[0]};
    }
    if (const auto scaled = Scaled(e); scaled.has_value()) {
      const Expression* relu6 = AsOp(scaled->second, "Relu6");
      if (relu6 != nullptr && std::abs(scaled->first * 6 - 1) < 1e-6) {
        return {.name = "hard_sigmoid", .inner = relu6->args[0], .alpha = 1 / 6.0, .beta = 0};
      }
    }
    if (const auto clamped = Clamped(e, 0, 1); clamped.has_value()) {
      Activation a = {.name = "hard_sigmoid", .inner = *clamped, .alpha = 1, .beta = 0};
      if (const Expression* sum = AsOp(*clamped, "AddV2")) {
        for (size_t i : {0, 1}) {
          const Expression& number = all_.at(sum->args[i]);
          const auto scaled = Scaled(sum->args[1 - i]);
          if (number.kind != Expression::kNumber || !scaled.has_value()) continue;
          return {.name = a.name,
                  .inner = scaled->second,
                  .alpha = scaled->first,
                  .beta = number.number};
        }
      }
      return a;
    }
    return {.inner = e};
  }

  absl::Status AddActivation(const Activation& a) {
    if (a.name == "hard_sigmoid") {
      const bool first = out_.alpha == 0 && out_.beta == 0;
      if (!first && (out_.alpha != a.alpha || out_.beta != a.beta)) {
        return WhyNot("it has different hard sigmoids");
      }
      out_.alpha = a.alpha;
      out_.beta = a.beta;
    }
    out_.activations.push_back(a.name);
    return absl::OkStatus();
  }

  // Adds one summand of a gate: a product with the input or with `h_like`, or a constant.
  absl::Status AddTerm(Expressions::Term term, ExprId h_like, Gate& gate) {
    const Expression& e = all_.at(term.e);
    if (e.kind == Expression::kZeros) return absl::OkStatus();
    if (e.kind == Expression::kNumber) {
      gate.number += term.negative ? -e.number : e.number;
      return absl::OkStatus();
    }
    if (e.width != out_.units) {
      return WhyNot(absl::StrCat("a gate has ", e.width, " columns, not ", out_.units));
    }
    if (e.kind == Expression::kVector) {
      gate.bias.emplace_back(term.negative, e.block);
      return absl::OkStatus();
    }
    if (e.kind != Expression::kProduct || term.negative) {
      return WhyNot(absl::StrCat("a gate adds ", Describe(e)));
    }
    const Expression& operand = all_.at(e.args[0]);
    if (e.args[0] == h_like) {
      gate.h.push_back(e.block);
    } else if (operand.kind == Expression::kItem) {
      if (out_.input >= 0 && out_.input != operand.variable) return WhyNot("it has several inputs");
      out_.input = operand.variable;
      gate.x.emplace_back(operand.first, e.block);
    } else {
      return WhyNot(absl::StrCat("a gate multiplies ", Describe(operand)));
    }
    return absl::OkStatus();
  }

  static std::string Describe(const Expression& e) {
    switch (e.kind) {
      case Expression::kItem:
        return "the input without weights";
      case Expression::kState:
        return "a state";
      case Expression::kOp:
        return absl::StrCat("the result of ", e.op);
      default:
        return "something else";
    }
  }

  ExprId StateId(int v) const {
    for (ExprId e = 0; e < all_.size(); ++e) {
      if (IsState(e, v)) return e;
    }
    return -1;
  }

  // A gate without peepholes or reset.
  absl::Status AddGate(ExprId e, ExprId h_like) {
    const Activation a = ActivationOf(e);
    TENON_RETURN_IF_ERROR(AddActivation(a));
    Gate gate;
    for (const Expressions::Term& t : all_.Terms(a.inner)) {
      TENON_RETURN_IF_ERROR(AddTerm(t, h_like, gate));
    }
    out_.gates.push_back(std::move(gate));
    return absl::OkStatus();
  }

  // ---- LSTM ----

  // A gate that may add a vector times the cell state `peeped`.
  absl::Status AddPeepedGate(ExprId e, ExprId peeped, ConstantBlock& peephole) {
    const Activation a = ActivationOf(e);
    TENON_RETURN_IF_ERROR(AddActivation(a));
    Gate gate;
    for (const Expressions::Term& t : all_.Terms(a.inner)) {
      if (const auto f = Factors(t.e); f.has_value() && !t.negative) {
        const ExprId other = f->first == peeped ? f->second : f->first;
        const Expression& vector = all_.at(other);
        if ((f->first == peeped || f->second == peeped) && vector.kind == Expression::kVector &&
            peephole.tensor == nullptr && vector.width == out_.units) {
          peephole = vector.block;
          continue;
        }
        if ((f->first == peeped || f->second == peeped) && vector.kind == Expression::kZeros) {
          continue;
        }
      }
      TENON_RETURN_IF_ERROR(AddTerm(t, StateId(out_.h), gate));
    }
    out_.gates.push_back(std::move(gate));
    return absl::OkStatus();
  }

  // c' = f * c + i * g, h' = o * a(c').
  absl::Status MatchLstm(int h, int c) {
    int& progress = progress_[h == cells_[0] ? 0 : 1];
    out_.cell = "lstm";
    out_.h = h;
    out_.c = c;
    out_.units = all_.at(StateId(h)).width;
    const ExprId new_c = NewState(c), new_h = NewState(h);
    const auto terms = all_.Terms(new_c);
    if (terms.size() != 2 || terms[0].negative || terms[1].negative) {
      return WhyNot("the new cell state is not the sum of two products");
    }
    const auto first = Factors(terms[0].e), second = Factors(terms[1].e);
    if (!first.has_value() || !second.has_value()) {
      return WhyNot("the new cell state is not the sum of two products");
    }
    ++progress;
    ExprId forget = -1;
    Pair others;
    for (const auto& [keep, add] : {std::pair(*first, *second), std::pair(*second, *first)}) {
      for (const auto& [state, gate] : {keep, Pair(keep.second, keep.first)}) {
        if (forget >= 0 || !IsState(state, c)) continue;
        forget = gate;
        others = add;
      }
    }
    if (forget < 0) return WhyNot("no gate forgets the cell state");
    ++progress;
    const auto product = Factors(new_h);
    if (!product.has_value()) return WhyNot("the new state is not a product");
    ExprId output = -1;
    Activation last;
    for (const auto& [gate, cell] : {*product, Pair(product->second, product->first)}) {
      const Activation a = ActivationOf(cell);
      if (output >= 0 || a.inner != new_c) continue;
      output = gate;
      last = a;
    }
    if (output < 0) return WhyNot("the new state is not a gate times the cell state");
    ++progress;
    // The input gate and the new value are interchangeable; only a gate has a peephole.
    if (ActivationOf(others.second).name == "sigmoid" || PeepsAt(others.second, c)) {
      std::swap(others.first, others.second);
    }
    TENON_RETURN_IF_ERROR(AddPeepedGate(others.first, StateId(c), out_.peepholes[0]));
    TENON_RETURN_IF_ERROR(AddPeepedGate(forget, StateId(c), out_.peepholes[1]));
    TENON_RETURN_IF_ERROR(AddGate(others.second, StateId(h)));
    TENON_RETURN_IF_ERROR(AddPeepedGate(output, new_c, out_.peepholes[2]));
    return AddActivation(last);
  }

  bool PeepsAt(ExprId e, int c) const {
    const std::vector<int> states = all_.States(e);
    return std::find(states.begin(), states.end(), c) != states.end();
  }

  // ---- GRU ----

  // h' = z * h + (1 - z) * candidate.
  absl::Status MatchGru(int h) {
    out_.h = h;
    const ExprId state = StateId(h);
    out_.units = all_.at(state).width;
    const auto terms = all_.Terms(NewState(h));
    constexpr char kForm[] = "the new state is neither that of a GRU nor an activation";
    if (terms.size() != 2 || terms[0].negative || terms[1].negative) return WhyNot(kForm);
    ExprId update = -1, candidate = -1;
    for (const auto& [keep, add] : {Pair(terms[0].e, terms[1].e), Pair(terms[1].e, terms[0].e)}) {
      const auto kept = Factors(keep), added = Factors(add);
      if (!kept.has_value() || !added.has_value()) continue;
      for (const auto& [z, s] : {*kept, Pair(kept->second, kept->first)}) {
        for (const auto& [rest, value] : {*added, Pair(added->second, added->first)}) {
          const Expression* sub = AsOp(rest, "Sub");
          if (s != state || sub == nullptr || !IsNumber(sub->args[0], 1) || sub->args[1] != z) {
            continue;
          }
          update = z;
          candidate = value;
        }
      }
    }
    if (update < 0) return WhyNot(kForm);
    TENON_RETURN_IF_ERROR(AddGate(update, state));
    return AddCandidate(candidate, state);
  }

  // a(x + r * (h w + bias)), or a(x + (r * h) w).
  absl::Status AddCandidate(ExprId candidate, ExprId state) {
    const Activation a = ActivationOf(candidate);
    const auto terms = all_.Terms(a.inner);
    Gate gate;
    ExprId reset = -1;
    for (const Expressions::Term& t : terms) {
      const Expression& e = all_.at(t.e);
      if (e.kind == Expression::kProduct && reset < 0) {
        const auto f = Factors(e.args[0]);
        if (f.has_value() && (f->first == state || f->second == state)) {
          reset = f->first == state ? f->second : f->first;
          out_.cell = "gru_reset_before";
          TENON_RETURN_IF_ERROR(AddTerm(t, e.args[0], gate));
          continue;
        }
      }
      if (const auto f = Factors(t.e); f.has_value() && !t.negative && reset < 0) {
        // The product with the state is the factor that has no activation.
        const bool swapped = ActivationOf(f->first).name == "linear";
        reset = swapped ? f->second : f->first;
        out_.cell = "gru";
        for (const Expressions::Term& inner : all_.Terms(swapped ? f->first : f->second)) {
          TENON_RETURN_IF_ERROR(AddTerm(inner, state, out_.candidate));
        }
        if (!out_.candidate.x.empty()) return WhyNot("the reset gate scales the input");
        gate.h = out_.candidate.h;
        continue;
      }
      TENON_RETURN_IF_ERROR(AddTerm(t, -1, gate));
    }
    if (reset < 0) return WhyNot("it has no reset gate");
    TENON_RETURN_IF_ERROR(AddGate(reset, state));
    TENON_RETURN_IF_ERROR(AddActivation(a));
    out_.gates.push_back(std::move(gate));
    return absl::OkStatus();
  }

  // ---- simple ----

  bool IsSimple(int h) const {
    const auto terms = all_.Terms(ActivationOf(NewState(h)).inner);
    return std::all_of(terms.begin(), terms.end(), [&](const Expressions::Term& t) {
      return all_.at(t.e).kind != Expression::kOp;
    });
  }
  absl::Status MatchSimple(int h) {
    Reset();
    out_.cell = "simple";
    out_.h = h;
    out_.units = all_.at(StateId(h)).width;
    return AddGate(NewState(h), StateId(h));
  }

  const RecurrentLoop& loop_;
  const Expressions& all_;
  RecurrentCellForm& out_;
  std::vector<ExprId> cores_;  // of each variable: the new state without its mask
  std::vector<int> cells_;     // the states that the cell reads
  ExprId result_ = -1;
  int progress_[2] = {0, 0};
};

}  // namespace

absl::StatusOr<RecurrentCellForm> FindRecurrentCell(const RecurrentLoop& loop) {
  RecurrentCellForm out;
  TENON_RETURN_IF_ERROR(CellMatcher(loop, out).Match());
  return out;
}

}  // namespace tenon

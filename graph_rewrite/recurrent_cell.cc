#include "graph_rewrite/recurrent_cell.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/cell_reader.h"
#include "graph_rewrite/recurrent_states.h"

namespace tenon {
namespace {

using Gate = RecurrentCellForm::Gate;
using Pair = CellReader::Pair;

class CellMatcher {
 public:
  CellMatcher(const RecurrentLoop& loop, RecurrentStack& stack)
      : loop_(loop), all_(loop.expressions), read_(loop.expressions), stack_(stack) {}

  absl::Status Match() {
    TENON_ASSIGN_OR_RETURN(states_, ReadRecurrentStates(loop_, stack_));
    for (const std::vector<int>& states : StatesByCell()) {
      cells_ = states;
      out_ = {};
      progress_[0] = progress_[1] = 0;
      TENON_RETURN_IF_ERROR(MatchCell());
      if ((out_.input == RecurrentCellForm::kCellBefore) != (before_ >= 0)) {
        return WhyNot("a cell does not take the results of the one before it");
      }
      before_ = states_.next(out_.h);
      stack_.cells.push_back(out_);
    }
    if (stack_.cells.empty()) return WhyNot("its cells have 0 states");
    if (stack_.results >= 0 && states_.result != before_) {
      return WhyNot("its results are not the new states");
    }
    return absl::OkStatus();
  }

 private:
  // The states of each cell, in order: those of a cell depend on themselves and on those of all
  // cells before it.
  std::vector<std::vector<int>> StatesByCell() const {
    OrderedMap<std::vector<int>, std::vector<int>> by_sources;
    for (int v : states_.of_cells) by_sources[all_.States(states_.next(v))].push_back(v);
    std::vector<std::pair<std::vector<int>, std::vector<int>>> groups(by_sources.begin(),
                                                                      by_sources.end());
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
    std::vector<std::vector<int>> cells;
    std::vector<int> all;
    for (const auto& [sources, own] : groups) {
      all.insert(all.end(), own.begin(), own.end());
      std::sort(all.begin(), all.end());
      if (sources != all) return {states_.of_cells};
      cells.push_back(own);
    }
    return cells;
  }

  absl::Status MatchCell() {
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
    if (out_.input == -1) return WhyNot("its cell has no input");
    return absl::OkStatus();
  }

  void Reset() {
    out_.gates.clear();
    out_.activations.clear();
    out_.alpha = out_.beta = 0;
    out_.input = -1;
    std::fill(std::begin(out_.peepholes), std::end(out_.peepholes), ConstantBlock());
    out_.projection = {};
    out_.cell_clip = out_.projection_clip = 0;
  }

  absl::Status AddActivation(const CellActivation& a) {
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
      return WhyNot(absl::StrCat("a gate adds ", DescribeExpression(e)));
    }
    const Expression& operand = all_.at(e.args[0]);
    if (e.args[0] == h_like) {
      gate.h.push_back(e.block);
    } else if (operand.kind == Expression::kItem || e.args[0] == before_) {
      const int input =
          operand.kind == Expression::kItem ? operand.variable : RecurrentCellForm::kCellBefore;
      if (out_.input != -1 && out_.input != input) return WhyNot("it has several inputs");
      out_.input = input;
      gate.x.emplace_back(operand.first, e.block);
    } else {
      return WhyNot(absl::StrCat("a gate multiplies ", DescribeExpression(operand)));
    }
    return absl::OkStatus();
  }

  // A gate without peepholes or reset.
  absl::Status AddGate(ExprId e, ExprId h_like) {
    const CellActivation a = read_.ActivationOf(e);
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
    const CellActivation a = read_.ActivationOf(e);
    TENON_RETURN_IF_ERROR(AddActivation(a));
    Gate gate;
    for (const Expressions::Term& t : all_.Terms(a.inner)) {
      if (const auto f = read_.Factors(t.e); f.has_value() && !t.negative) {
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
      TENON_RETURN_IF_ERROR(AddTerm(t, read_.StateId(out_.h), gate));
    }
    out_.gates.push_back(std::move(gate));
    return absl::OkStatus();
  }

  // c' = f * c + i * g, h' = o * a(c'). Both may be limited, and h' projected.
  absl::Status MatchLstm(int h, int c) {
    int& progress = progress_[h == cells_[0] ? 0 : 1];
    out_.cell = "lstm";
    out_.h = h;
    out_.c = c;
    out_.units = all_.at(read_.StateId(c)).width;
    out_.width = all_.at(read_.StateId(h)).width;
    const ExprId new_c = states_.next(c);
    ExprId new_h = read_.Unlimited(states_.next(h), out_.projection_clip);
    if (const Expression& projected = all_.at(new_h); projected.kind == Expression::kProduct) {
      out_.projection = projected.block;
      new_h = projected.args[0];
      if (out_.projection.rows != out_.units || out_.projection.columns != out_.width) {
        return WhyNot("its projection has another size");
      }
    } else if (out_.projection_clip != 0) {
      return WhyNot("the new state is limited without a projection");
    } else if (out_.width != out_.units) {
      return WhyNot("its states have different sizes");
    }
    const auto terms = all_.Terms(read_.Unlimited(new_c, out_.cell_clip));
    if (terms.size() != 2 || terms[0].negative || terms[1].negative) {
      return WhyNot("the new cell state is not the sum of two products");
    }
    const auto first = read_.Factors(terms[0].e), second = read_.Factors(terms[1].e);
    if (!first.has_value() || !second.has_value()) {
      return WhyNot("the new cell state is not the sum of two products");
    }
    ++progress;
    ExprId forget = -1;
    Pair others;
    for (const auto& [keep, add] : {std::pair(*first, *second), std::pair(*second, *first)}) {
      for (const auto& [state, gate] : {keep, Pair(keep.second, keep.first)}) {
        if (forget >= 0 || !read_.IsState(state, c)) continue;
        forget = gate;
        others = add;
      }
    }
    if (forget < 0) return WhyNot("no gate forgets the cell state");
    ++progress;
    const auto product = read_.Factors(new_h);
    if (!product.has_value()) return WhyNot("the new state is not a product");
    ExprId output = -1;
    CellActivation last;
    for (const auto& [gate, cell] : {*product, Pair(product->second, product->first)}) {
      const CellActivation a = read_.ActivationOf(cell);
      if (output >= 0 || a.inner != new_c) continue;
      output = gate;
      last = a;
    }
    if (output < 0) return WhyNot("the new state is not a gate times the cell state");
    ++progress;
    // The input gate and the new value are interchangeable; only a gate has a peephole.
    if (read_.ActivationOf(others.second).name == "sigmoid" || PeepsAt(others.second, c)) {
      std::swap(others.first, others.second);
    }
    TENON_RETURN_IF_ERROR(AddPeepedGate(others.first, read_.StateId(c), out_.peepholes[0]));
    TENON_RETURN_IF_ERROR(AddPeepedGate(forget, read_.StateId(c), out_.peepholes[1]));
    TENON_RETURN_IF_ERROR(AddGate(others.second, read_.StateId(h)));
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
    const ExprId state = read_.StateId(h);
    out_.units = out_.width = all_.at(state).width;
    const auto terms = all_.Terms(states_.next(h));
    constexpr char kForm[] = "the new state is neither that of a GRU nor an activation";
    if (terms.size() != 2 || terms[0].negative || terms[1].negative) return WhyNot(kForm);
    ExprId update = -1, candidate = -1;
    for (const auto& [keep, add] : {Pair(terms[0].e, terms[1].e), Pair(terms[1].e, terms[0].e)}) {
      const auto kept = read_.Factors(keep), added = read_.Factors(add);
      if (!kept.has_value() || !added.has_value()) continue;
      for (const auto& [z, s] : {*kept, Pair(kept->second, kept->first)}) {
        for (const auto& [rest, value] : {*added, Pair(added->second, added->first)}) {
          const Expression* sub = read_.AsOp(rest, "Sub");
          if (s != state || sub == nullptr || !read_.IsNumber(sub->args[0], 1) ||
              sub->args[1] != z) {
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
    const CellActivation a = read_.ActivationOf(candidate);
    const auto terms = all_.Terms(a.inner);
    Gate gate;
    ExprId reset = -1;
    for (const Expressions::Term& t : terms) {
      const Expression& e = all_.at(t.e);
      if (e.kind == Expression::kProduct && reset < 0) {
        const auto f = read_.Factors(e.args[0]);
        if (f.has_value() && (f->first == state || f->second == state)) {
          reset = f->first == state ? f->second : f->first;
          out_.cell = "gru_reset_before";
          TENON_RETURN_IF_ERROR(AddTerm(t, e.args[0], gate));
          continue;
        }
      }
      if (const auto f = read_.Factors(t.e); f.has_value() && !t.negative && reset < 0) {
        // The product with the state is the factor that has no activation.
        const bool swapped = read_.ActivationOf(f->first).name == "linear";
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
    const auto terms = all_.Terms(read_.ActivationOf(states_.next(h)).inner);
    return std::all_of(terms.begin(), terms.end(), [&](const Expressions::Term& t) {
      return all_.at(t.e).kind != Expression::kOp;
    });
  }
  absl::Status MatchSimple(int h) {
    Reset();
    out_.cell = "simple";
    out_.h = h;
    out_.units = out_.width = all_.at(read_.StateId(h)).width;
    return AddGate(states_.next(h), read_.StateId(h));
  }

  const RecurrentLoop& loop_;
  const Expressions& all_;
  const CellReader read_;
  RecurrentStack& stack_;
  RecurrentStates states_;
  RecurrentCellForm out_;   // the cell at hand
  std::vector<int> cells_;  // its states
  ExprId before_ = -1;      // the new state of the cell before
  int progress_[2] = {0, 0};
};

}  // namespace

absl::StatusOr<RecurrentStack> FindRecurrentCells(const RecurrentLoop& loop) {
  RecurrentStack out;
  TENON_RETURN_IF_ERROR(CellMatcher(loop, out).Match());
  return out;
}

}  // namespace tenon

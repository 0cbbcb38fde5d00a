#include "graph_rewrite/cell_reader.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace tenon {

const Expression* CellReader::AsOp(ExprId e, const char* op) const {
  const Expression& x = all_.at(e);
  return x.kind == Expression::kOp && x.op == op ? &x : nullptr;
}

bool CellReader::IsState(ExprId e, int v) const {
  const Expression& x = all_.at(e);
  return x.kind == Expression::kState && x.variable == v;
}

bool CellReader::IsNumber(ExprId e, double value) const {
  const Expression& x = all_.at(e);
  return (x.kind == Expression::kNumber && std::abs(x.number - value) <= 1e-6 * std::abs(value)) ||
         (x.kind == Expression::kZeros && value == 0);
}

std::optional<CellReader::Pair> CellReader::Factors(ExprId e) const {
  const Expression* mul = AsOp(e, "Mul");
  if (mul == nullptr) return std::nullopt;
  return Pair(mul->args[0], mul->args[1]);
}

std::optional<ExprId> CellReader::Clamped(ExprId e, double low, double high) const {
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

ExprId CellReader::Unlimited(ExprId e, double& limit) const {
  limit = 0;
  const Expression& outer = all_.at(e);
  if (outer.kind != Expression::kOp) return e;
  for (ExprId number : outer.args) {
    if (all_.at(number).kind != Expression::kNumber) continue;
    const double most = std::abs(all_.at(number).number);
    const std::optional<ExprId> inner = Clamped(e, -most, most);
    if (!inner.has_value() || most == 0) continue;
    limit = most;
    return *inner;
  }
  return e;
}

std::optional<std::pair<double, ExprId>> CellReader::Scaled(ExprId e) const {
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

CellActivation CellReader::ActivationOf(ExprId e) const {
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
    CellActivation a = {.name = "hard_sigmoid", .inner = *clamped, .alpha = 1, .beta = 0};
    if (const Expression* sum = AsOp(*clamped, "AddV2")) {
      for (size_t i : {0, 1}) {
        const Expression& number = all_.at(sum->args[i]);
        const auto scaled = Scaled(sum->args[1 - i]);
        if (number.kind != Expression::kNumber || !scaled.has_value()) continue;
        return {
            .name = a.name, .inner = scaled->second, .alpha = scaled->first, .beta = number.number};
      }
    }
    return a;
  }
  return {.inner = e};
}

ExprId CellReader::StateId(int v) const {
  for (ExprId e = 0; e < all_.size(); ++e) {
    if (IsState(e, v)) return e;
  }
  return -1;
}

std::string DescribeExpression(const Expression& e) {
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

}  // namespace tenon

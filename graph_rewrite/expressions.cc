#include "graph_rewrite/expressions.h"

#include <algorithm>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/context.h"

namespace tenon {
namespace {

constexpr int kMostSlices = 10000;
constexpr size_t kMostTerms = 64;

std::string Key(const Expression& e) {
  return absl::StrCat(e.kind, "|", e.op, "|", absl::StrJoin(e.args, ","), "|", e.width, "|",
                      e.first, "|", e.variable, "|", absl::Hex(absl::bit_cast<uint64_t>(e.number)),
                      "|", reinterpret_cast<uintptr_t>(e.block.tensor), "|", e.block.row, "|",
                      e.block.rows, "|", e.block.column, "|", e.block.columns, "|",
                      e.block.transposed);
}

}  // namespace

float ConstantBlock::At(int64_t r, int64_t c) const {
  r += row;
  c += column;
  const Shape& s = tensor->shape();
  const int64_t stride = s.rank() == 0 ? 1 : s.dims().back();
  return tensor->data<float>()[transposed ? c * stride + r : r * stride + c];
}
ConstantBlock ConstantBlock::Rows(int64_t begin, int64_t count) const {
  ConstantBlock out = *this;
  out.row += begin;
  out.rows = count;
  return out;
}
ConstantBlock ConstantBlock::Columns(int64_t begin, int64_t count) const {
  ConstantBlock out = *this;
  out.column += begin;
  out.columns = count;
  return out;
}

ExprId Expressions::Add(Expression e) {
  const auto [it, added] = ids_.try_emplace(Key(e), static_cast<ExprId>(all_.size()));
  if (added) all_.push_back(std::move(e));
  return it->second;
}

ExprId Expressions::Number(double value) {
  return Add({.kind = Expression::kNumber, .number = value});
}

ExprId Expressions::Vector(const ConstantBlock& block) {
  return Add({.kind = Expression::kVector, .width = block.columns, .block = block});
}

absl::StatusOr<ExprId> Expressions::Op(const std::string& op, std::vector<ExprId> args) {
  int64_t width = 1;
  for (ExprId a : args) {
    const int64_t w = at(a).width;
    if (w <= 1) continue;
    if (width > 1 && w != width) {
      return WhyNot(absl::StrCat(op, " of ", width, " and ", w, " columns"));
    }
    width = w;
  }
  return Add({.kind = Expression::kOp, .op = op, .args = std::move(args), .width = width});
}

absl::StatusOr<ExprId> Expressions::Product(ExprId a, const ConstantBlock& weights) {
  const Expression e = at(a);
  if (e.width != weights.rows) return WhyNot("a product of other sizes");
  if (e.kind == Expression::kConcat) {
    ExprId sum = -1;
    int64_t row = 0;
    for (ExprId part : e.args) {
      const int64_t rows = at(part).width;
      TENON_ASSIGN_OR_RETURN(const ExprId product, Product(part, weights.Rows(row, rows)));
      row += rows;
      if (sum < 0) {
        sum = product;
      } else {
        TENON_ASSIGN_OR_RETURN(sum, Op("AddV2", {sum, product}));
      }
    }
    return sum;
  }
  return Add(
      {.kind = Expression::kProduct, .args = {a}, .width = weights.columns, .block = weights});
}

absl::StatusOr<ExprId> Expressions::Slice(ExprId id, int64_t begin, int64_t count) {
  Expression e = at(id);
  if (begin == 0 && count == e.width) return id;
  if (++slices_ > kMostSlices) return WhyNot("too many slices");
  if (e.kind == Expression::kNumber || e.kind == Expression::kZeros) return id;
  if (begin < 0 || count < 0 || begin + count > e.width) return WhyNot("columns out of range");
  switch (e.kind) {
    case Expression::kItem:
      e.first += begin;
      break;
    case Expression::kVector:
    case Expression::kProduct:
      e.block = e.block.Columns(begin, count);
      break;
    case Expression::kConcat: {
      int64_t at_column = 0;
      for (ExprId part : e.args) {
        const int64_t w = at(part).width;
        if (begin >= at_column && begin + count <= at_column + w) {
          return Slice(part, begin - at_column, count);
        }
        at_column += w;
      }
      return WhyNot("columns of two joined tensors");
    }
    case Expression::kOp:
      for (ExprId& a : e.args) {
        if (at(a).width <= 1) continue;
        TENON_ASSIGN_OR_RETURN(a, Slice(a, begin, count));
      }
      break;
    default:
      return WhyNot("some columns of a state or mask");
  }
  e.width = count;
  return Add(std::move(e));
}

void Expressions::AddTerms(ExprId id, bool negative, std::vector<Term>& terms) const {
  const Expression& e = at(id);
  const bool is_op = e.kind == Expression::kOp && terms.size() < kMostTerms;
  if (is_op && (e.op == "AddV2" || e.op == "Sub")) {
    AddTerms(e.args[0], negative, terms);
    AddTerms(e.args[1], negative != (e.op == "Sub"), terms);
  } else if (is_op && e.op == "Neg") {
    AddTerms(e.args[0], !negative, terms);
  } else {
    terms.push_back({id, negative});
  }
}

std::vector<Expressions::Term> Expressions::Terms(ExprId e) const {
  std::vector<Term> terms;
  AddTerms(e, false, terms);
  return terms;
}

std::vector<int> Expressions::States(ExprId id) const {
  OrderedSet<int> states;
  OrderedSet<ExprId> seen;
  std::vector<ExprId> todo = {id};
  while (!todo.empty()) {
    const ExprId next = todo.back();
    todo.pop_back();
    if (!seen.insert(next).second) continue;
    const Expression& e = at(next);
    if (e.kind == Expression::kState) states.insert(e.variable);
    todo.insert(todo.end(), e.args.begin(), e.args.end());
  }
  return {states.begin(), states.end()};
}

}  // namespace tenon

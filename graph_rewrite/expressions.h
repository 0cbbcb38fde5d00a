// What the body of a recurrent loop computes, as expressions over one step's input, the states and
// constants. All tensors are [batch, columns]; a column range of an expression is an expression.
// Equal expressions are one: they have the same id.
#ifndef TENON_GRAPH_REWRITE_EXPRESSIONS_H_
#define TENON_GRAPH_REWRITE_EXPRESSIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/tensor.h"

namespace tenon {

using ExprId = int;

// Rows and columns of a constant float matrix, or elements of a vector (one row).
struct ConstantBlock {
  const Tensor* tensor = nullptr;
  int64_t row = 0, rows = 0, column = 0, columns = 0;
  bool transposed = false;  // the tensor has these rows as columns

  float At(int64_t r, int64_t c) const;
  ConstantBlock Rows(int64_t begin, int64_t count) const;
  ConstantBlock Columns(int64_t begin, int64_t count) const;
};

struct Expression {
  enum Kind {
    kItem,     // the step's item of list `variable`; columns [first, first + width)
    kMask,     // the step's item of a list of bool; width 1: a column, 0: a vector. Or whether the
               // step is `within` or `beyond` (`op`) the lengths of the rows, a vector
    kState,    // loop variable `variable`
    kZeros,    // of any shape
    kNumber,   // the same for all elements
    kVector,   // `block`, the same for all rows
    kProduct,  // args[0] times `block`
    kConcat,   // args side by side
    kOp,       // an elementwise `op` of args; Select: mask, then, else
  };
  Kind kind = kZeros;
  std::string op = {};
  std::vector<ExprId> args = {};
  int64_t width = 1;  // columns; 1: also a scalar
  int64_t first = 0;
  int variable = -1;
  double number = 0;
  ConstantBlock block = {};
};

class Expressions {
 public:
  ExprId size() const { return static_cast<ExprId>(all_.size()); }
  const Expression& at(ExprId id) const { return all_[static_cast<size_t>(id)]; }

  ExprId Add(Expression e);
  ExprId Number(double value);
  ExprId Vector(const ConstantBlock& block);
  // FailedPrecondition with a reason if the columns do not fit.
  absl::StatusOr<ExprId> Op(const std::string& op, std::vector<ExprId> args);
  absl::StatusOr<ExprId> Product(ExprId a, const ConstantBlock& weights);
  absl::StatusOr<ExprId> Slice(ExprId e, int64_t begin, int64_t count);

  // The summands of sums, differences and negations, with their signs; a sum of very many stays a
  // term of its own.
  struct Term {
    ExprId e = -1;
    bool negative = false;
  };
  std::vector<Term> Terms(ExprId e) const;
  // The states that it depends on, in order.
  std::vector<int> States(ExprId e) const;

 private:
  void AddTerms(ExprId e, bool negative, std::vector<Term>& terms) const;

  std::vector<Expression> all_;
  int slices_ = 0;  // taken so far: a shared expression is visited once per path
  HashMap<std::string, ExprId> ids_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_EXPRESSIONS_H_

// Reads the parts that recurrent cells consist of from their expressions: products, limits and
// activations, whose operands may come in any order.
#ifndef TENON_GRAPH_REWRITE_CELL_READER_H_
#define TENON_GRAPH_REWRITE_CELL_READER_H_

#include <optional>
#include <string>
#include <utility>

#include "graph_rewrite/expressions.h"

namespace tenon {

struct CellActivation {
  std::string name = "linear";  // as in _Recurrence
  ExprId inner = -1;            // what it applies to
  double alpha = 0, beta = 0;   // of a hard sigmoid
};

class CellReader {
 public:
  // The two operands of a binary op, or of a product.
  using Pair = std::pair<ExprId, ExprId>;

  explicit CellReader(const Expressions& expressions) : all_(expressions) {}

  // The expression if it is a result of `op`; otherwise null.
  const Expression* AsOp(ExprId e, const char* op) const;
  bool IsState(ExprId e, int variable) const;
  bool IsNumber(ExprId e, double value) const;
  // -1: nothing reads the state.
  ExprId StateId(int variable) const;
  std::optional<Pair> Factors(ExprId e) const;
  // The x of min(max(x, low), high), in any order.
  std::optional<ExprId> Clamped(ExprId e, double low, double high) const;
  // Takes off min(max(e, -limit), limit), in any order; without one, `limit` is 0.
  ExprId Unlimited(ExprId e, double& limit) const;
  // The number and e of number * e.
  std::optional<std::pair<double, ExprId>> Scaled(ExprId e) const;
  // "linear" if there is none.
  CellActivation ActivationOf(ExprId e) const;

 private:
  const Expressions& all_;
};

// For a reason why something is no cell.
std::string DescribeExpression(const Expression& e);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CELL_READER_H_

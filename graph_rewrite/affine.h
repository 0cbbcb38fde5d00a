// Combines runs of ops that multiply by and add constants (Mul, AddV2, Sub, RealDiv, BiasAdd,
// inference batch norm) into  y = x * scale + shift  with constants that broadcast as in NumPy.
#ifndef TENON_GRAPH_REWRITE_AFFINE_H_
#define TENON_GRAPH_REWRITE_AFFINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// A small constant in double, so that folding several constants rounds only once.
struct Values {
  Shape shape;
  std::vector<double> v;

  bool AllAre(double value) const;
  absl::StatusOr<Tensor> ToFloat() const;
};

struct Affine {
  Endpoint base;              // x
  std::vector<NodeId> nodes;  // from the node that reads x to the last
  std::optional<Values> scale, shift;
  bool plain = true;  // nodes are Mul and AddV2 only
};

// The longest run that ends in `last`. FailedPrecondition, with the reason, if there is none: a
// dtype other than float, no constant operand, or the run continues after `last`.
absl::StatusOr<Affine> CollectAffine(RuleContext& context, NodeId last);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_AFFINE_H_

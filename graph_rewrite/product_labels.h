// The labels of a product's dimensions, as in Einsum, for MatMul, BatchMatMul, V2 and Einsum.
#ifndef TENON_GRAPH_REWRITE_PRODUCT_LABELS_H_
#define TENON_GRAPH_REWRITE_PRODUCT_LABELS_H_

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon {

struct ProductLabels {
  std::array<std::string, 2> operands;
  std::string out;
};

bool IsPlainProduct(absl::string_view op);

// Letters from `next` on, which is advanced. FailedPrecondition if the product is no product of two
// tensors of known rank whose dimensions can be labeled, each once.
absl::StatusOr<ProductLabels> LabelProduct(RuleContext& context, const Node& product, char& next);

// Whether each result is known to be the product of two numbers, with nothing to sum: an outer
// product, as of positions and frequencies.
bool SumsOneTerm(RuleContext& context, const Node& product);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_PRODUCT_LABELS_H_

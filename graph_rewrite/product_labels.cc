#include "graph_rewrite/product_labels.h"

#include <algorithm>
#include <map>
#include <vector>

#include "env/status.h"
#include "graph_rewrite/elements.h"
#include "kernels/matmul/einsum_equation.h"

namespace tenon {
namespace {

bool HasRepeats(std::string labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

absl::StatusOr<ProductLabels> LabelEinsum(const Node& product, const int (&ranks)[2], char& next) {
  const std::string* equation = product.attr<std::string>("equation");
  if (equation == nullptr) return WhyNot("the product lacks an attribute");
  const auto parsed = ParseEinsum(*equation, ranks);
  if (!parsed.ok()) return WhyNot(parsed.status().message());
  std::map<int, char> letters;
  const auto letters_of = [&](const std::vector<int>& labels) {
    std::string out;
    for (int label : labels) {
      const auto [it, added] = letters.emplace(label, next);
      if (added) ++next;
      out += it->second;
    }
    return out;
  };
  ProductLabels l;
  l.operands = {letters_of(parsed->inputs[0]), letters_of(parsed->inputs[1])};
  l.out = letters_of(parsed->output);
  return l;
}

}  // namespace

// op names: products of two tensors whose dimensions are labeled here.
bool IsPlainProduct(absl::string_view op) {
  return op == "MatMul" || op == "BatchMatMul" || op == "BatchMatMulV2" || op == "Einsum";
}

absl::StatusOr<ProductLabels> LabelProduct(RuleContext& context, const Node& product, char& next) {
  if (!IsPlainProduct(product.op) || product.inputs.size() != 2) return WhyNot("it is no product");
  const int ranks[2] = {context.shapes.rank(product.inputs[0]),
                        context.shapes.rank(product.inputs[1])};
  if (ranks[0] < 2 || ranks[1] < 2)
    return WhyNot("the rank of the product's operands is not known");
  if (ranks[0] + ranks[1] > 16) return WhyNot("the product's rank is too high");
  ProductLabels l;
  if (product.op == "Einsum") {
    TENON_ASSIGN_OR_RETURN(l, LabelEinsum(product, ranks, next));
  } else {
    const bool plain = product.op == "MatMul";
    const bool a_transposed = IsTrue(product, plain ? "transpose_a" : "adj_x");
    const bool b_transposed = IsTrue(product, plain ? "transpose_b" : "adj_y");
    const int batch = std::max(ranks[0], ranks[1]) - 2;
    for (int i = 0; i < batch; ++i) l.out += next++;
    const char m = next++, k = next++, n = next++;
    const auto matrix = [](char row, char column, bool transposed) {
      return transposed ? std::string{column, row} : std::string{row, column};
    };
    const auto tail = [&](int rank) { return l.out.substr(static_cast<size_t>(batch + 2 - rank)); };
    l.operands = {tail(ranks[0]) + matrix(m, k, a_transposed),
                  tail(ranks[1]) + matrix(k, n, b_transposed)};
    l.out += matrix(m, n, false);
  }
  if (HasRepeats(l.operands[0]) || HasRepeats(l.operands[1]) || HasRepeats(l.out)) {
    return WhyNot("the product takes a diagonal");
  }
  return l;
}

bool SumsOneTerm(RuleContext& context, const Node& product) {
  if (!IsPlainProduct(product.op) || product.inputs.size() != 2) return false;
  const int ranks[2] = {context.shapes.rank(product.inputs[0]),
                        context.shapes.rank(product.inputs[1])};
  if (ranks[0] < 0 || ranks[1] < 0) return false;
  char next = 'a';
  const auto labels = product.op == "Einsum" ? LabelEinsum(product, ranks, next)
                                             : LabelProduct(context, product, next);
  if (!labels.ok()) return false;
  for (size_t i : {0, 1}) {
    const std::string& operand = labels->operands[i];
    for (size_t d = 0; d < operand.size(); ++d) {
      const bool summed = labels->out.find(operand[d]) == std::string::npos;
      if (summed && context.shapes.shape(product.inputs[i])[static_cast<int>(d)] != 1) return false;
    }
  }
  return true;
}

}  // namespace tenon

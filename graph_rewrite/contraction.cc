#include "graph_rewrite/contraction.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "env/containers.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// op -> whether it is the fused form.
const HashMap<std::string, bool>& Contractions() {
  static const auto* const ops = [] {
    auto* map = new HashMap<std::string, bool>;
    for (const Rule& r : AllRules()) {
      if (r.contraction == nullptr) continue;
      map->emplace(r.contraction, false);
      map->emplace(r.fused, true);
    }
    return map;
  }();
  return *ops;
}

// The one weight axis of a factor that has one value per channel of the result.
absl::StatusOr<WeightAxes> PerChannel(RuleContext& context, NodeId id, const Shape& factor,
                                      WeightAxes axes) {
  const int rank = context.shapes.rank({id, 0});
  const int axis = ChannelAxis(context, id);
  if (axis < 0) return WhyNot("the rank of the result is not known");
  const int64_t n = PerAxis(factor, rank, axis);
  if (n < 0)
    return WhyNot(absl::StrCat("factors of shape ", factor.ToString(), " are not per channel"));
  const Shape& w = context.shapes.shape(context.node(id).inputs[1]);
  int64_t channels = 1;
  for (int d = axes.first; d < axes.last; ++d) channels *= w.dim(d);
  if (channels != n) return WhyNot(absl::StrCat(n, " factors for ", channels, " channels"));
  return axes;
}

absl::StatusOr<WeightAxes> EinsumAxes(RuleContext& context, NodeId id, const Shape& factor) {
  const Node& n = context.node(id);
  const std::string* equation = n.attr<std::string>("equation");
  if (equation == nullptr || n.inputs.size() != 2) return WhyNot("it is no einsum of two operands");
  std::string eq = *equation;
  eq.erase(std::remove(eq.begin(), eq.end(), ' '), eq.end());
  if (eq.find('.') != std::string::npos) return WhyNot("the equation has an ellipsis");
  const size_t comma = eq.find(','), arrow = eq.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) {
    return WhyNot("the equation is not plain");
  }
  const std::string sides[2] = {eq.substr(0, comma), eq.substr(comma + 1, arrow - comma - 1)};
  const std::string out = eq.substr(arrow + 2);
  WeightAxes axes;
  axes.input = context.Constant(n.inputs[1]) != nullptr ? 1 : 0;
  if (context.Constant(n.inputs[static_cast<size_t>(axes.input)]) == nullptr) {
    return WhyNot("no operand is constant");
  }
  const std::string& w = sides[axes.input];
  std::string labels;  // of the factor's dimensions that are more than one
  if (factor.rank() > static_cast<int>(out.size())) return WhyNot("the factors have a higher rank");
  for (int d = 0; d < factor.rank(); ++d) {
    if (factor.dim(d) != 1) {
      labels += out[out.size() - static_cast<size_t>(factor.rank() - d)];
    }
  }
  if (labels.empty()) return axes;
  const size_t at = w.find(labels);
  if (at == std::string::npos) return WhyNot("the factors do not lie along the weights' axes");
  axes.first = static_cast<int>(at);
  axes.last = axes.first + static_cast<int>(labels.size());
  return axes;
}

}  // namespace

bool IsContraction(absl::string_view op) { return Contractions().contains(op); }
bool IsFusedContraction(absl::string_view op) {
  auto it = Contractions().find(op);
  return it != Contractions().end() && it->second;
}

absl::Status IsPointwise(RuleContext& context, const Node& conv) {
  const Tensor* filter = context.Constant(conv.inputs[1]);
  if (filter == nullptr || filter->dtype() != DType::kFloat || filter->shape().rank() != 4) {
    return WhyNot("its filter is not constant");
  }
  if (filter->shape()[0] != 1 || filter->shape()[1] != 1) return WhyNot("its window is not 1x1");
  const std::string* format = conv.attr<std::string>("data_format");
  const std::string* padding = conv.attr<std::string>("padding");
  const auto* strides = conv.attr<std::vector<int64_t>>("strides");
  if (format == nullptr || *format != "NHWC") return WhyNot("its channels are not last");
  if (padding == nullptr || *padding == "EXPLICIT") return WhyNot("it pads");
  if (strides == nullptr || *strides != std::vector<int64_t>(4, 1)) return WhyNot("it has strides");
  return absl::OkStatus();
}

int ChannelAxis(RuleContext& context, NodeId contraction) {
  const int rank = context.shapes.rank({contraction, 0});
  if (rank <= 0) return -1;
  const std::string* format = context.node(contraction).attr<std::string>("data_format");
  if (format != nullptr && format->size() >= 2 && (*format)[1] == 'C') return 1;
  return rank - 1;
}

int64_t PerAxis(const Shape& operand, int rank, int axis) {
  if (!operand.IsComplete() || operand.rank() > rank) return -1;
  int64_t n = 1;
  for (int d = 0; d < operand.rank(); ++d) {
    if (d + rank - operand.rank() == axis) {
      n = operand.dim(d);
    } else if (operand.dim(d) != 1) {
      return -1;
    }
  }
  return n;
}

bool BroadcastsInto(const Shape& operand, const Shape& result) {
  if (!operand.IsComplete() || !result.has_rank() || operand.rank() > result.rank()) return false;
  for (int d = 0; d < operand.rank(); ++d) {
    const int64_t n = operand.dim(d);
    if (n != 1 && n != result.dim(d + result.rank() - operand.rank())) return false;
  }
  return true;
}

absl::StatusOr<WeightAxes> FactorAxes(RuleContext& context, NodeId contraction,
                                      const Shape& factor) {
  const Node& n = context.node(contraction);
  if (n.op == "Einsum") return EinsumAxes(context, contraction, factor);
  if (IsFusedContraction(n.op) || !IsContraction(n.op)) return WhyNot("it is no plain contraction");
  const Tensor* w = context.Constant(n.inputs[1]);
  if (w == nullptr) {
    return WhyNot(
        absl::StrCat("'", context.node(n.inputs[1]).name, "', its weights, is not constant"));
  }
  WeightAxes axes;
  if (factor.num_elements() == 1) return axes;
  const int rank = w->shape().rank();
  if (rank < 2) return WhyNot("the weights are no matrix");
  axes.first = rank - 1;
  axes.last = rank;
  if (n.op == "DepthwiseConv2dNative") axes.first = rank - 2;
  const bool* transposed = n.attr<bool>(n.op == "MatMul" ? "transpose_b" : "adj_y");
  if (transposed != nullptr && *transposed) {
    axes.first = rank - 2;
    axes.last = rank - 1;
  }
  return PerChannel(context, contraction, factor, axes);
}

}  // namespace tenon

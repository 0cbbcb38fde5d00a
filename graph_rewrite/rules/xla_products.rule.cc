// XLA's products and convolutions as TensorFlow's, which are fused and accelerated.
#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"
#include "kernels/xla/conv.h"
#include "kernels/xla/dimension_numbers.h"

namespace tenon {
namespace {

const RuleRegistration xla_einsum({
    .name = "EinsumOfXla",
    .doc = "XlaEinsum becomes an Einsum",
    .phase = Phase::kClean,
    .pattern = "%y = XlaEinsum(%a, %b)",
    .replacement = "%y = Einsum(%a, %b) {equation=@y.equation, N=2}",
    .dtypes = "",
});

// Whether operands and result have one dtype that TensorFlow's products have.
bool IsUniform(RuleContext& context, const Node& n) {
  const DType dtype = context.shapes.dtype({n.id, 0});
  return (IsFloating(dtype) || IsComplex(dtype)) && context.shapes.dtype(n.inputs[0]) == dtype &&
         context.shapes.dtype(n.inputs[1]) == dtype;
}

char Letter(int i) { return static_cast<char>(i < 26 ? 'a' + i : 'A' + i - 26); }

absl::StatusOr<Node> TensorFlowProduct(const DotNumbers& numbers, int lhs, int rhs) {
  DimList of_lhs = numbers.lhs_batch, of_rhs = numbers.rhs_batch;
  of_lhs.insert(of_lhs.end(), numbers.lhs_contracting.begin(), numbers.lhs_contracting.end());
  of_rhs.insert(of_rhs.end(), numbers.rhs_contracting.begin(), numbers.rhs_contracting.end());
  if (!AreDims(of_lhs, lhs) || !AreDims(of_rhs, rhs) || lhs + rhs > 52) {
    return WhyNot("its dimension numbers do not fit the operands");
  }
  Node made;
  if (lhs == 2 && rhs == 2 && of_lhs.size() == 1 && numbers.lhs_batch.empty()) {
    made.op = "MatMul";
    made.attrs["transpose_a"] = AttrValue(of_lhs[0] == 0);
    made.attrs["transpose_b"] = AttrValue(of_rhs[0] == 1);
    return made;
  }
  std::string a, b, out;
  for (int64_t d : numbers.lhs_batch) out += Letter(static_cast<int>(d));
  for (int i = 0; i < lhs; ++i) {
    a += Letter(i);
    if (!Contains(of_lhs, i)) out += Letter(i);
  }
  for (int i = 0; i < rhs; ++i) {
    const auto pair = std::find(of_rhs.begin(), of_rhs.end(), i);
    if (pair == of_rhs.end()) {
      b += Letter(lhs + i);
      out += Letter(lhs + i);
    } else {
      b += Letter(static_cast<int>(of_lhs[static_cast<size_t>(pair - of_rhs.begin())]));
    }
  }
  made.op = "Einsum";
  made.attrs["equation"] = AttrValue(absl::StrCat(a, ",", b, "->", out));
  made.attrs["N"] = AttrValue(int64_t{2});
  return made;
}

Outcome DotOfXla(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const std::string* bytes = n.attr<std::string>("dimension_numbers");
  if (bytes == nullptr || n.inputs.size() != 2) return Outcome::NotMine();
  if (!IsUniform(context, n)) return Outcome::Skip(0, "the dtypes differ, or are integers", id);
  const int lhs = context.shapes.rank(n.inputs[0]), rhs = context.shapes.rank(n.inputs[1]);
  if (lhs < 0 || rhs < 0) return Outcome::Skip(0, "the operands' ranks are not known", id);
  const auto numbers = ParseDotNumbers(*bytes);
  if (!numbers.ok()) return Outcome::Skip(1, std::string(numbers.status().message()), id);
  auto made = TensorFlowProduct(*numbers, lhs, rhs);
  if (!made.ok()) return Outcome::Skip(1, std::string(made.status().message()), id);
  made->name = n.name;
  made->device = n.device;
  made->inputs = n.inputs;
  made->attrs["T"] = AttrValue(context.shapes.dtype({id, 0}));
  const auto added = context.AddNode(*std::move(made));
  if (!added.ok()) return Outcome::Skip(2, std::string(added.status().message()), id);
  context.rw.ReplaceNode(id, {*added, 0});
  return Outcome::Fired();
}

const RuleRegistration dot({
    .name = "DotOfXla",
    .doc = "XlaDot and XlaDotV2 of one dtype become a MatMul or an Einsum",
    .phase = Phase::kClean,
    .anchors = "XlaDot|XlaDotV2",
    .apply = DotOfXla,
});

// ---- convolutions ----

// The order of dimensions that brings a tensor into TensorFlow's layout.
std::vector<int32_t> ImageOrder(const ConvNumbers::Layout& layout) {
  std::vector<int32_t> order{static_cast<int32_t>(layout.batch)};
  for (int64_t d : layout.spatial) order.push_back(static_cast<int32_t>(d));
  order.push_back(static_cast<int32_t>(layout.feature));
  return order;
}
std::vector<int32_t> FilterOrder(const ConvNumbers::Layout& layout) {
  std::vector<int32_t> order;
  for (int64_t d : layout.spatial) order.push_back(static_cast<int32_t>(d));
  order.push_back(static_cast<int32_t>(layout.feature));
  order.push_back(static_cast<int32_t>(layout.batch));
  return order;
}
std::vector<int32_t> Inverse(const std::vector<int32_t>& order) {
  std::vector<int32_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  return inverse;
}

Endpoint Added(RuleContext& context, Node node) { return {context.rw.AddNode(std::move(node)), 0}; }

Endpoint Transposed(RuleContext& context, const std::string& name, Endpoint x, DType dtype,
                    const std::vector<int32_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  Node n;
  n.name = name;
  n.op = "Transpose";
  n.inputs = {x, {context.AddConst(name + "/order", Tensor::Vector<int32_t>(order)), 0}};
  n.attrs["T"] = AttrValue(dtype);
  n.attrs["Tperm"] = AttrValue(DType::kInt32);
  return Added(context, std::move(n));
}

// Why the convolution is not one of TensorFlow's; empty if it is.
std::string WhyNoConv2D(const ConvSpec& spec, const Shape& lhs, const Shape& rhs) {
  if (lhs.rank() != 4 || rhs.rank() != 4) return "it does not have two spatial dimensions";
  if (!spec.numbers.input.Covers(4) || !spec.numbers.kernel.Covers(4) ||
      !spec.numbers.output.Covers(4)) {
    return "its dimension numbers do not fit the operands";
  }
  if (spec.batch_groups != 1) return "it has groups of images";
  for (const ConvWindow& w : spec.windows) {
    if (w.lhs_dilation != 1) return "it has gaps in the image";
    if (w.low < 0 || w.high < 0) return "its padding is negative";
  }
  for (int64_t d : rhs.dims()) {
    if (d < 1) return "the filter's shape is not known";
  }
  return "";
}

Outcome ConvOfXla(RuleContext& context, NodeId id) {
  const Node n = context.node(id);
  if (n.inputs.size() != 7) return Outcome::NotMine();
  const DType dtype = context.shapes.dtype({id, 0});
  if (!IsFloating(dtype) || !IsUniform(context, n)) {
    return Outcome::Skip(0, "the dtypes differ, or are not floating", id);
  }
  const Tensor* values[5];
  for (size_t i = 0; i < 5; ++i) {
    values[i] = context.Constant(n.inputs[2 + i]);
    if (values[i] == nullptr) return Outcome::Skip(0, "the window is not constant", id);
  }
  const auto spec = MakeConvSpec(AttrReader(n), values);
  if (!spec.ok()) return Outcome::Skip(1, std::string(spec.status().message()), id);
  const Shape lhs = context.shapes.shape(n.inputs[0]), rhs = context.shapes.shape(n.inputs[1]);
  if (std::string why = WhyNoConv2D(*spec, lhs, rhs); !why.empty()) {
    return Outcome::Skip(1, std::move(why), id);
  }
  const ConvNumbers& numbers = spec->numbers;
  const int64_t depth = rhs.dim(static_cast<int>(numbers.kernel.feature));
  const int64_t features = rhs.dim(static_cast<int>(numbers.kernel.batch));
  const ConvWindow &h = spec->windows[0], &w = spec->windows[1];
  const bool depthwise = spec->feature_groups > 1 && depth == 1;
  if (depthwise && h.stride != w.stride) return Outcome::Skip(1, "its strides differ", id);

  Endpoint filter =
      Transposed(context, n.name + "/filter", n.inputs[1], dtype, FilterOrder(numbers.kernel));
  if (depthwise) {
    const int64_t rows = rhs.dim(static_cast<int>(numbers.kernel.spatial[0]));
    const int64_t columns = rhs.dim(static_cast<int>(numbers.kernel.spatial[1]));
    Node reshape;
    reshape.name = n.name + "/depthwise";
    reshape.op = "Reshape";
    reshape.attrs["T"] = AttrValue(dtype);
    reshape.attrs["Tshape"] = AttrValue(DType::kInt64);
    reshape.inputs = {
        filter,
        {context.AddConst(reshape.name + "/shape",
                          Tensor::Vector<int64_t>({rows, columns, spec->feature_groups,
                                                   features / spec->feature_groups})),
         0}};
    filter = Added(context, std::move(reshape));
  }
  Node conv;
  conv.name = n.name;
  conv.op = depthwise ? "DepthwiseConv2dNative" : "Conv2D";
  conv.device = n.device;
  conv.inputs = {
      Transposed(context, n.name + "/image", n.inputs[0], dtype, ImageOrder(numbers.input)),
      filter};
  const std::vector<int64_t> pads = {0, 0, h.low, h.high, w.low, w.high, 0, 0};
  const bool padded = h.low != 0 || h.high != 0 || w.low != 0 || w.high != 0;
  conv.attrs["T"] = AttrValue(dtype);
  conv.attrs["strides"] = AttrValue(std::vector<int64_t>{1, h.stride, w.stride, 1});
  conv.attrs["dilations"] = AttrValue(std::vector<int64_t>{1, h.rhs_dilation, w.rhs_dilation, 1});
  conv.attrs["padding"] = AttrValue(std::string(padded ? "EXPLICIT" : "VALID"));
  conv.attrs["explicit_paddings"] = AttrValue(padded ? pads : std::vector<int64_t>());
  conv.attrs["data_format"] = AttrValue(std::string("NHWC"));
  if (!depthwise) conv.attrs["use_cudnn_on_gpu"] = AttrValue(true);
  const Endpoint out = Transposed(context, n.name, Added(context, std::move(conv)), dtype,
                                  Inverse(ImageOrder(numbers.output)));
  context.rw.ReplaceNode(id, out);
  return Outcome::Fired();
}

const RuleRegistration xla_conv({
    .name = "ConvOfXla",
    .doc = "XlaConv and XlaConvV2 of images become a Conv2D or DepthwiseConv2dNative",
    .phase = Phase::kClean,
    .anchors = "XlaConv|XlaConvV2",
    .apply = ConvOfXla,
});

}  // namespace
}  // namespace tenon

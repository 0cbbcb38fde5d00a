// A transposed convolution without strides is a convolution, with the filter turned by half a turn
// and its channels exchanged:
//   Conv2DBackpropInput(sizes, w, x) = Conv2D(x, turned(w))
// Convolutions have more kernels, and take a bias and activations along.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;

// [H, W, I, O] to [H, W, O, I], H and W reversed.
absl::StatusOr<Tensor> Turned(const Tensor& filter) {
  const Shape& s = filter.shape();
  const int64_t taps = s[0] * s[1], in = s[2], out = s[3];
  TENON_ASSIGN_OR_RETURN(Tensor turned,
                         Tensor::Allocate(DType::kFloat, Shape({s[0], s[1], out, in})));
  for (int64_t tap = 0; tap < taps; ++tap) {
    const float* from = filter.data<float>() + (taps - 1 - tap) * in * out;
    float* to = turned.data<float>() + tap * in * out;
    for (int64_t i = 0; i < in; ++i) {
      for (int64_t o = 0; o < out; ++o) to[o * in + i] = from[i * out + o];
    }
  }
  return turned;
}

absl::Status IsConvolution(RuleContext& context, const Node& n) {
  const Tensor* filter = context.Constant(n.inputs[1]);
  if (filter == nullptr || filter->shape().rank() != 4) {
    return WhyNot("its filter is not constant");
  }
  const std::string* format = n.attr<std::string>("data_format");
  const std::string* padding = n.attr<std::string>("padding");
  const auto* strides = n.attr<Ints>("strides");
  if (format == nullptr || *format != "NHWC") return WhyNot("its channels are not last");
  if (padding == nullptr || *padding != "SAME") return WhyNot("its padding is not SAME");
  if (strides == nullptr || *strides != Ints(4, 1)) return WhyNot("it has strides");
  const Shape& images = context.shapes.shape(n.inputs[2]);
  if (images.rank() != 4 || images.dim(3) != filter->shape()[3]) {
    return WhyNot("its images are not known to have the filter's channels");
  }
  // If the sizes are others, the op fails.
  if (!context.shapes.SameShapeButLast({n.id, 0}, n.inputs[2], filter->shape()[2])) {
    return WhyNot("its sizes are not known to be those of its images");
  }
  return absl::OkStatus();
}

// Padding of SAME, which has more at the end, with both sides exchanged.
void ExchangePadding(const Shape& filter, Node& conv) {
  const auto* dilations = conv.attr<Ints>("dilations");
  Ints pads(8, 0);
  bool even = true;
  for (int d = 0; d < 2; ++d) {
    const auto i = static_cast<size_t>(d) + 1;
    const int64_t total = (filter[d] - 1) * (dilations == nullptr ? 1 : (*dilations)[i]);
    pads[2 * i] = total - total / 2;
    pads[2 * i + 1] = total / 2;
    even = even && total % 2 == 0;
  }
  if (even) return;
  conv.attrs["padding"] = std::string("EXPLICIT");
  conv.attrs["explicit_paddings"] = pads;
}

Outcome AsConvolution(RuleContext& context, NodeId id) {
  const Node& old = context.node(id);
  if (old.inputs.size() != 3) return Outcome::NotMine();
  if (const absl::Status s = IsConvolution(context, old); !s.ok()) {
    return Outcome::Skip(1, std::string(s.message()), id);
  }
  const Tensor filter = *context.Constant(old.inputs[1]);
  auto turned = Turned(filter);
  if (!turned.ok()) return Outcome::Skip(2, std::string(turned.status().message()), id);
  Node conv = old;
  conv.id = kNoNode;
  conv.op = "Conv2D";
  ExchangePadding(filter.shape(), conv);
  const Endpoint images = old.inputs[2];
  const NodeId w = context.AddConst(absl::StrCat(conv.name, "/turned"), *std::move(turned));
  conv.inputs = {images, {w, 0}};
  auto added = context.AddNode(std::move(conv));
  if (!added.ok()) return Outcome::Skip(2, std::string(added.status().message()), id);
  context.rw.ReplaceNode(id, {*added, 0});
  return Outcome::Fired();
}

const RuleRegistration transposed({
    .name = "TransposedConvolution",
    .doc = "a transposed convolution without strides is a convolution with the turned filter",
    .phase = Phase::kFold,
    .dtypes = "float",
    .anchors = "Conv2DBackpropInput",
    .apply = AsConvolution,
});

}  // namespace
}  // namespace tenon

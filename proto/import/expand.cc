#include "proto/import/expand.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph/attr_reader.h"
#include "ops/nn/conv_nd.h"

namespace tenon {
namespace {

using Add = absl::FunctionRef<absl::StatusOr<Endpoint>(Node)>;

Node Part(const Node& whole, const char* name, const char* op,
          std::initializer_list<Endpoint> inputs) {
  Node part;
  part.name = absl::StrCat(whole.name, "/", name);
  part.op = op;
  part.device = whole.device;
  part.inputs = inputs;
  part.control_inputs = whole.control_inputs;
  return part;
}

// Inputs: image, mean, variance, offset, scale.
absl::StatusOr<Node> BatchNorm(Node node, Add add) {
  const AttrReader attrs(node);
  TENON_ASSIGN_OR_RETURN(const DType type, attrs.Type("T"));
  if (type != DType::kFloat) return node;
  TENON_ASSIGN_OR_RETURN(const float epsilon, attrs.Float("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(const bool scales, attrs.Bool("scale_after_normalization"));
  Endpoint scale = node.inputs[4];
  if (!scales) {
    Node ones = Part(node, "scale", "OnesLike", {node.inputs[3]});
    ones.attrs["T"] = type;
    TENON_ASSIGN_OR_RETURN(scale, add(std::move(ones)));
  }
  node.inputs = {node.inputs[0], scale, node.inputs[3], node.inputs[1], node.inputs[2]};
  node.op = "FusedBatchNormV3";
  node.attrs = {{"T", type}, {"U", type}, {"epsilon", epsilon}, {"is_training", false}};
  return node;
}

// Inputs: image, size (if it is resized), paddings, filter.
absl::StatusOr<Node> PadConv(Node node, bool resizes, Add add) {
  const AttrReader attrs(node);
  TENON_ASSIGN_OR_RETURN(const DType type, attrs.Type("T"));
  TENON_ASSIGN_OR_RETURN(std::string mode, attrs.String("mode"));
  if (node.inputs.size() != (resizes ? 4 : 3)) {
    return InvalidArgument("needs ", resizes ? 4 : 3, " inputs");
  }
  Endpoint image = node.inputs[0];
  if (resizes) {
    if (type != DType::kFloat) return Unimplemented("of type ", Name(type));
    Node resize = Part(node, "resize", "ResizeBilinear", {image, node.inputs[1]});
    resize.attrs["T"] = type;
    resize.attrs["align_corners"] = attrs.Bool("resize_align_corners", false);
    TENON_ASSIGN_OR_RETURN(image, add(std::move(resize)));
  }
  const size_t at = resizes ? 2 : 1;
  Node pad = Part(node, "pad", "MirrorPad", {image, node.inputs[at]});
  pad.attrs["T"] = type;
  pad.attrs["mode"] = std::move(mode);
  TENON_ASSIGN_OR_RETURN(image, add(std::move(pad)));
  node.inputs = {image, node.inputs[at + 1]};
  node.op = "Conv2D";
  node.attrs.erase("mode");
  node.attrs.erase("resize_align_corners");
  return node;
}

struct OtherName {
  const char* name;
  const char* op;
};
// op names: these differ from standard ops in nothing but the name.
constexpr OtherName kOtherNames[] = {
    {"AccumulateNV2", "AddN"}, {"BatchFFT", "FFT"},
    {"BatchFFT2D", "FFT2D"},   {"BatchFFT3D", "FFT3D"},
    {"BatchIFFT", "IFFT"},     {"BatchIFFT2D", "IFFT2D"},
    {"BatchIFFT3D", "IFFT3D"}, {"PlaceholderV2", "Placeholder"},
};

}  // namespace

absl::StatusOr<Node> Expand(Node node, Add add) {
  // op names: each is written as standard ops in its own way.
  if (node.op == "BatchNormWithGlobalNormalization") return BatchNorm(std::move(node), add);
  if (node.op == "FusedPadConv2D") return PadConv(std::move(node), false, add);
  if (node.op == "FusedResizeAndPadConv2D") return PadConv(std::move(node), true, add);
  // Images with more batch dimensions would need their shape.
  if (node.op == "Conv" && AttrReader(node).Int("batch_dims", 1) == 1) {
    return PlainConv(std::move(node));
  }
  for (const OtherName& other : kOtherNames) {
    if (node.op == other.name) {
      node.op = other.op;
      break;
    }
  }
  return node;
}

}  // namespace tenon

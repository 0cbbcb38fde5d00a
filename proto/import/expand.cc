#include "proto/import/expand.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "env/status.h"
#include "graph/attr_reader.h"
#include "ops/nn/conv_nd.h"
#include "ops/op.h"

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

absl::StatusOr<Node> UnaryOps(Node node, Add add) {
  const AttrReader attrs(node);
  TENON_ASSIGN_OR_RETURN(const DType type, attrs.Type("T"));
  const auto* const names = node.attr<std::vector<std::string>>("op_names");
  if (names == nullptr || names->empty()) return InvalidArgument("names no ops");
  Endpoint value = node.inputs[0];
  for (size_t i = 0; i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    const OpLookup op = FindOp(name);
    if (!op || !op.info->row.elementwise || op.info->signature.inputs.size() != 1) {
      return Unimplemented("has an op '", name, "'");
    }
    if (i + 1 == names->size()) {
      const std::string last = name;
      node.op = last;
      node.attrs = {{"T", type}};
      break;
    }
    Node part = Part(node, name.c_str(), name.c_str(), {value});
    part.attrs["T"] = type;
    TENON_ASSIGN_OR_RETURN(value, add(std::move(part)));
  }
  node.inputs = {value};
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
    {"RefEnter", "Enter"},     {"RefIdentity", "Identity"},
    {"RefMerge", "Merge"},     {"RefSwitch", "Switch"},
};

// Stacks and tensor arrays of older versions, whose handles were strings. op names: their last
// versions do the same.
constexpr OtherName kOldArrays[] = {
    {"StackPush", "StackPushV2"},
    {"StackPop", "StackPopV2"},
    {"StackClose", "StackCloseV2"},
    {"TensorArray", "TensorArrayV3"},
    {"TensorArrayV2", "TensorArrayV3"},
    {"TensorArrayGrad", "TensorArrayGradV3"},
    {"TensorArrayGradV2", "TensorArrayGradV3"},
    {"TensorArrayWrite", "TensorArrayWriteV3"},
    {"TensorArrayWriteV2", "TensorArrayWriteV3"},
    {"TensorArrayRead", "TensorArrayReadV3"},
    {"TensorArrayReadV2", "TensorArrayReadV3"},
    {"TensorArrayGather", "TensorArrayGatherV3"},
    {"TensorArrayGatherV2", "TensorArrayGatherV3"},
    {"TensorArrayScatter", "TensorArrayScatterV3"},
    {"TensorArrayScatterV2", "TensorArrayScatterV3"},
    {"TensorArrayConcat", "TensorArrayConcatV3"},
    {"TensorArrayConcatV2", "TensorArrayConcatV3"},
    {"TensorArraySplit", "TensorArraySplitV3"},
    {"TensorArraySplitV2", "TensorArraySplitV3"},
    {"TensorArraySize", "TensorArraySizeV3"},
    {"TensorArraySizeV2", "TensorArraySizeV3"},
    {"TensorArrayClose", "TensorArrayCloseV3"},
    {"TensorArrayCloseV2", "TensorArrayCloseV3"},
};

absl::StatusOr<Endpoint> Number(const Node& whole, const char* name, int32_t value, Add add) {
  Node number = Part(whole, name, "Const", {});
  number.control_inputs.clear();
  number.attrs["dtype"] = DType::kInt32;
  number.attrs["value"] = Tensor::Scalar<int32_t>(value);
  return add(std::move(number));
}

// 0, 1, … below `end`.
absl::StatusOr<Endpoint> IndicesBelow(const Node& whole, Endpoint end, Add add) {
  TENON_ASSIGN_OR_RETURN(const Endpoint zero, Number(whole, "start", 0, add));
  TENON_ASSIGN_OR_RETURN(const Endpoint one, Number(whole, "delta", 1, add));
  Node range = Part(whole, "indices", "Range", {zero, end, one});
  range.attrs["Tidx"] = DType::kInt32;
  return add(std::move(range));
}

// Inputs: handle, flow.
absl::StatusOr<Node> GatherAll(Node node, Add add) {
  Node size = Part(node, "size", "TensorArraySizeV3", {node.inputs[0], node.inputs[1]});
  TENON_ASSIGN_OR_RETURN(const Endpoint end, add(std::move(size)));
  TENON_ASSIGN_OR_RETURN(const Endpoint indices, IndicesBelow(node, end, add));
  node.op = "TensorArrayGatherV3";
  node.inputs = {node.inputs[0], indices, node.inputs[1]};
  return node;
}

// Inputs: handle, value, flow.
absl::StatusOr<Node> ScatterAll(Node node, Add add) {
  TENON_ASSIGN_OR_RETURN(const DType type, AttrReader(node).Type("T"));
  Node shape = Part(node, "shape", "Shape", {node.inputs[1]});
  shape.attrs["T"] = type;
  shape.attrs["out_type"] = DType::kInt32;
  TENON_ASSIGN_OR_RETURN(const Endpoint dims, add(std::move(shape)));
  TENON_ASSIGN_OR_RETURN(const Endpoint first, Number(node, "first", 0, add));
  Node rows = Part(node, "rows", "Gather", {dims, first});
  rows.attrs["Tparams"] = DType::kInt32;
  rows.attrs["Tindices"] = DType::kInt32;
  TENON_ASSIGN_OR_RETURN(const Endpoint end, add(std::move(rows)));
  TENON_ASSIGN_OR_RETURN(const Endpoint indices, IndicesBelow(node, end, add));
  node.op = "TensorArrayScatterV3";
  node.inputs = {node.inputs[0], indices, node.inputs[1], node.inputs[2]};
  return node;
}

}  // namespace

absl::StatusOr<Node> Expand(Node node, Add add) {
  // op names: each is written as standard ops in its own way.
  if (node.op == "BatchNormWithGlobalNormalization") return BatchNorm(std::move(node), add);
  if (node.op == "FusedPadConv2D") return PadConv(std::move(node), false, add);
  if (node.op == "FusedResizeAndPadConv2D") return PadConv(std::move(node), true, add);
  if (node.op == "_UnaryOpsComposition") return UnaryOps(std::move(node), add);
  // Images with more batch dimensions would need their shape.
  if (node.op == "Conv" && AttrReader(node).Int("batch_dims", 1) == 1) {
    return PlainConv(std::move(node));
  }
  if (node.op == "Stack") {
    TENON_ASSIGN_OR_RETURN(const Endpoint any, Number(node, "max_size", -1, add));
    node.op = "StackV2";
    node.inputs = {any};
    return node;
  }
  if (node.op == "TensorArray" || node.op == "TensorArrayV2") node.attrs[kWithoutFlow] = true;
  if (node.op == "TensorArrayPack") return GatherAll(std::move(node), add);
  if (node.op == "TensorArrayUnpack") return ScatterAll(std::move(node), add);
  for (const absl::Span<const OtherName> names :
       {absl::MakeConstSpan(kOtherNames), absl::MakeConstSpan(kOldArrays)}) {
    for (const OtherName& other : names) {
      if (node.op == other.name) {
        node.op = other.op;
        return node;
      }
    }
  }
  return node;
}

}  // namespace tenon

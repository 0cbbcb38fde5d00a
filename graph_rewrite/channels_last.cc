#include "graph_rewrite/channels_last.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/match.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Integers of the same dtype and shape as `like`.
Tensor IntegersLike(const Tensor& like, const std::vector<int64_t>& values) {
  if (like.dtype() == DType::kInt64) return Tensor::From<int64_t>(like.shape(), values);
  return Tensor::From<int32_t>(like.shape(), std::vector<int32_t>(values.begin(), values.end()));
}

class FormFinder {
 public:
  FormFinder(RuleContext& context, NodeId id, const ChannelsLast& layout)
      : context_(context), id_(id), n_(context.node(id)), layout_(layout) {}

  absl::StatusOr<ChannelsLastForm> Find() {
    std::string why;
    if (!context_.IsCandidate(id_, &why)) return WhyNot(why);
    const OpLookup op = FindOp(n_.op);
    if (!op || op.native || op.info->row.stateful) return WhyNot("of another kind");
    if (!context_.shapes.Accepts(id_)) return WhyNot("its inputs do not fit");
    const std::string* format = n_.attr<std::string>("data_format");
    if (format != nullptr) {
      TENON_RETURN_IF_ERROR(WithFormat(*format));
    } else if (op.info->row.elementwise) {
      TENON_RETURN_IF_ERROR(Elementwise(*op.info));
      // op names: which of their inputs count by dimension is spelled out.
    } else if (n_.op == "Pad" || n_.op == "PadV2" || n_.op == "MirrorPad") {
      TENON_RETURN_IF_ERROR(ByDimension(1, 2));
      form_.outputs = 1;
    } else if (n_.op == "Slice") {
      TENON_RETURN_IF_ERROR(ByDimension(1, 1));
      TENON_RETURN_IF_ERROR(ByDimension(2, 1));
      form_.outputs = 1;
      // op names: as above.
    } else if (n_.op == "Mean" || n_.op == "Sum" || n_.op == "Max" || n_.op == "Min") {
      TENON_RETURN_IF_ERROR(Reduction());
    } else if (n_.op == "ConcatV2") {
      const int last = static_cast<int>(n_.inputs.size()) - 1;
      TENON_RETURN_IF_ERROR(Axis(last));
      for (int i = 0; i < last; ++i) TENON_RETURN_IF_ERROR(Data(i));
      form_.outputs = 1;
    } else if (n_.op == "Split") {
      TENON_RETURN_IF_ERROR(Axis(0));
      TENON_RETURN_IF_ERROR(Data(1));
      form_.outputs = static_cast<int>(*n_.attr<int64_t>("num_split"));
    } else {
      return WhyNot("of another kind");
    }
    for (int i = 0; i < form_.outputs; ++i) {
      if (context_.shapes.rank({id_, i}) != layout_.rank()) return WhyNot("of another rank");
    }
    return std::move(form_);
  }

 private:
  absl::Status Data(int slot) {
    const Endpoint e = n_.inputs[static_cast<size_t>(slot)];
    if (context_.shapes.rank(e) != layout_.rank()) return WhyNot("an input of another rank");
    form_.data.push_back(slot);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<int64_t>> Integers(int slot, const Tensor** tensor) {
    const Tensor* t = context_.Constant(n_.inputs[static_cast<size_t>(slot)]);
    if (t == nullptr) return WhyNot("an argument that is not constant");
    if (t->dtype() != DType::kInt32 && t->dtype() != DType::kInt64) return WhyNot("of other axes");
    *tensor = t;
    return IntegerValues(*t);
  }

  // Input 0 is the data; input `slot` has `width` numbers for each of its dimensions.
  absl::Status ByDimension(int slot, size_t width) {
    const Tensor* t = nullptr;
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, Integers(slot, &t));
    if (values.size() != static_cast<size_t>(layout_.rank()) * width) {
      return WhyNot("an argument of another size");
    }
    form_.constants.emplace_back(slot, IntegersLike(*t, layout_.Reordered(values, width)));
    return form_.data.empty() ? Data(0) : absl::OkStatus();
  }

  absl::Status Axis(int slot) {
    const Tensor* t = nullptr;
    TENON_ASSIGN_OR_RETURN(std::vector<int64_t> axes, Integers(slot, &t));
    for (int64_t& axis : axes) {
      if (axis < 0) axis += layout_.rank();
      if (axis < 0 || axis >= layout_.rank()) return WhyNot("an axis out of range");
      axis = layout_.Axis(axis);
    }
    form_.constants.emplace_back(slot, IntegersLike(*t, axes));
    return absl::OkStatus();
  }

  absl::Status Reduction() {
    TENON_RETURN_IF_ERROR(Data(0));
    TENON_RETURN_IF_ERROR(Axis(1));
    const bool* keep = n_.attr<bool>("keep_dims");
    if (keep != nullptr && *keep) {
      form_.outputs = 1;
      return absl::OkStatus();
    }
    // The dimensions that are left must stay in order.
    const auto axes = IntegerValues(form_.constants.back().second);
    std::vector<int64_t> left;
    for (int d = 0; d < layout_.rank(); ++d) {
      const int64_t at = layout_.Axis(d);
      if (std::find(axes->begin(), axes->end(), at) == axes->end()) left.push_back(at);
    }
    return std::is_sorted(left.begin(), left.end()) ? absl::OkStatus()
                                                    : WhyNot("its result changes its order");
  }

  absl::Status Elementwise(const OpInfo& op) {
    // Its condition may be a vector that counts along the first dimension.
    if (n_.op == "Select" && context_.shapes.rank(n_.inputs[0]) != layout_.rank()) {
      return WhyNot("a condition of another rank");
    }
    for (size_t i = 0; i < n_.inputs.size(); ++i) {
      const int slot = static_cast<int>(i), rank = context_.shapes.rank(n_.inputs[i]);
      if (rank == 0) continue;
      const Tensor* t = context_.Constant(n_.inputs[i]);
      if (t == nullptr) {
        TENON_RETURN_IF_ERROR(Data(slot));
      } else if (rank < 0 || rank > layout_.rank()) {
        return WhyNot("a constant of another rank");
      } else if (t->num_elements() != 1 || rank == layout_.rank()) {
        TENON_ASSIGN_OR_RETURN(Tensor operand, layout_.Operand(*t, context_.services));
        form_.constants.emplace_back(slot, std::move(operand));
      }
    }
    if (form_.data.empty()) return WhyNot("no input has the rank");
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> outputs, OutputDTypes(op, n_));
    form_.outputs = static_cast<int>(outputs.size());
    return absl::OkStatus();
  }

  absl::Status WithFormat(absl::string_view format) {
    const absl::string_view first = layout_.rank() == 4 ? "NCHW" : "NCDHW";
    // op names: those whose attributes are handled below, and whose first input alone is an image.
    const bool known = n_.op == "Conv2D" || n_.op == "DepthwiseConv2dNative" || n_.op == "Conv3D" ||
                       n_.op == "MaxPool" || n_.op == "AvgPool" || n_.op == "MaxPool3D" ||
                       n_.op == "AvgPool3D" || n_.op == "BiasAdd" || n_.op == "FusedBatchNorm" ||
                       n_.op == "FusedBatchNormV2" || n_.op == "FusedBatchNormV3";
    // A bias of format NCHW is added to channels of tensors of any rank.
    const bool fits = format == first || (n_.op == "BiasAdd" && format == "NCHW");
    if (!known || !fits || layout_.rank() == 3) return WhyNot("of another kind or format");
    TENON_RETURN_IF_ERROR(Data(0));
    form_.outputs = 1;
    form_.has_format = true;
    const bool of_any_rank = n_.op == "BiasAdd";
    form_.attrs.emplace_back("data_format", of_any_rank || layout_.rank() == 4 ? "NHWC" : "NDHWC");
    for (const auto& [name, width] : {std::pair<const char*, size_t>{"strides", 1},
                                      {"dilations", 1},
                                      {"ksize", 1},
                                      {"explicit_paddings", 2}}) {
      const auto* values = n_.attr<std::vector<int64_t>>(name);
      if (values == nullptr || values->empty()) continue;
      if (values->size() != static_cast<size_t>(layout_.rank()) * width) {
        return WhyNot("an attribute of another size");
      }
      form_.attrs.emplace_back(name, layout_.Reordered(*values, width));
    }
    return absl::OkStatus();
  }

  RuleContext& context_;
  const NodeId id_;
  const Node& n_;
  const ChannelsLast& layout_;
  ChannelsLastForm form_;
};

}  // namespace

ChannelsLast::ChannelsLast(int rank) : rank_(rank) {
  to_first_ = {0, rank - 1};
  to_last_ = {0};
  for (int d = 1; d + 1 < rank; ++d) to_first_.push_back(d);
  for (int d = 2; d < rank; ++d) to_last_.push_back(d);
  to_last_.push_back(1);
}

absl::StatusOr<Tensor> ChannelsLast::Operand(const Tensor& value, const Services& services) const {
  std::vector<int64_t> dims(static_cast<size_t>(rank_ - value.shape().rank()), 1);
  dims.insert(dims.end(), value.shape().dims().begin(), value.shape().dims().end());
  TENON_ASSIGN_OR_RETURN(Tensor whole, value.Reshaped(Shape(dims)));
  Node transpose;
  transpose.name = "operand";
  transpose.op = "Transpose";
  transpose.attrs["T"] = value.dtype();
  transpose.attrs["Tperm"] = DType::kInt32;
  const Tensor inputs[] = {std::move(whole), Tensor::Vector<int32_t>(to_last_)};
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> out, Evaluate(transpose, inputs, services));
  return std::move(out[0]);
}

absl::StatusOr<ChannelsLastForm> FormInChannelsLast(RuleContext& context, NodeId id,
                                                    const ChannelsLast& layout) {
  return FormFinder(context, id, layout).Find();
}

}  // namespace tenon

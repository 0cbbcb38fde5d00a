// _FusedInvertedResidual: a block of mobile networks. A _FusedConv2D that expands, a
// _FusedDepthwiseConv2dNative, and, if num_project is 1, a _FusedConv2D that projects. input [N, H,
// W, C]; expand_filter [1, 1, C, M]; depthwise_filter [h, w, M, K]; project_filter [1, 1, M * K,
// O]. Each has a chain of fused ops of its own, with its operands. Strides, padding and dilations
// are the depthwise convolution's.
#include "kernels/convolution/inverted_residual.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/round_up.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/nn/contraction_shape.h"
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct StageNames {
  const char *count, *ops, *alpha, *args;  // attributes; no count: always there
  ConvKind kind = ConvKind::kDense;
};
constexpr StageNames kExpand = {nullptr, "expand_ops", "expand_alpha", "num_expand_args"};
constexpr StageNames kDepthwise = {nullptr, "depthwise_ops", "depthwise_alpha",
                                   "num_depthwise_args", ConvKind::kDepthwise};
constexpr StageNames kProject = {"num_project", "project_ops", "project_alpha", "num_project_args"};
constexpr StageNames kStages[] = {kExpand, kDepthwise, kProject};

// A node of one of the convolutions.
struct Stage {
  Node node;
  ConvKind kind = ConvKind::kDense;
  std::vector<int> inputs;  // of the block's node; -1: what the stage before it computes
};

Node NodeOf(const Node& block, const StageNames& names) {
  const AttrReader attrs(block);
  Node node = block;
  const bool depthwise = names.kind == ConvKind::kDepthwise;
  node.op = depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D";
  node.inputs.clear();
  node.attrs["num_args"] = attrs.Int(names.args, 0);
  node.attrs["fused_ops"] = attrs.Strings(names.ops).value_or(std::vector<std::string>());
  node.attrs["leakyrelu_alpha"] = attrs.Float(names.alpha, 0.2f);
  for (const StageNames& s : kStages) {
    for (const char* own : {s.count, s.ops, s.alpha, s.args}) {
      if (own != nullptr) node.attrs.erase(own);
    }
  }
  if (!depthwise) {
    node.attrs["strides"] = node.attrs["dilations"] = std::vector<int64_t>(4, 1);
    node.attrs["padding"] = "VALID";
    node.attrs["explicit_paddings"] = std::vector<int64_t>();
  }
  return node;
}

// The stages of a node with so many inputs: first all filters, then all operands.
absl::StatusOr<std::vector<Stage>> StagesOf(const Node& block, int num_inputs) {
  const AttrReader attrs(block);
  if (const std::string* format = block.attr<std::string>("data_format");
      format != nullptr && *format != "NHWC") {
    return InvalidArgument("data_format must be NHWC, but is ", *format);
  }
  std::vector<Stage> stages;
  int next = 1;
  for (const StageNames& names : kStages) {
    const int64_t count = names.count == nullptr ? 1 : attrs.Int(names.count, 0);
    if (count < 0 || count > 1) return InvalidArgument(names.count, " must be 0 or 1");
    if (count == 0) continue;
    stages.push_back({NodeOf(block, names), names.kind, {stages.empty() ? 0 : -1, next++}});
  }
  for (Stage& stage : stages) {
    const int64_t args = *stage.node.attr<int64_t>("num_args");
    if (args < 0 || args > num_inputs - next) return InvalidArgument("too few operands");
    for (int64_t i = 0; i < args; ++i) stage.inputs.push_back(next++);
  }
  if (next != num_inputs) return InvalidArgument(num_inputs - next, " operands too many");
  return stages;
}

// The shape of a stage's result. `c`: of the block's node.
absl::StatusOr<Shape> StageShape(const ShapeContext& c, const Stage& stage, const Shape& input) {
  const Shape& filter = c.input(stage.inputs[1]);
  TENON_RETURN_IF_ERROR(c.ExpectRank(stage.inputs[1], 4));
  for (int i = 0; i < 2 && stage.kind == ConvKind::kDense && filter.has_rank(); ++i) {
    if (filter[i] >= 0 && filter[i] != 1) {
      return InvalidArgument(
          "the filters that expand and project must have 1x1 pixels, but one is ",
          filter.ToString());
    }
  }
  const AttrReader attrs(stage.node);
  TENON_ASSIGN_OR_RETURN(const WindowAttrs window, ReadWindowAttrs(attrs, 2));
  TENON_ASSIGN_OR_RETURN(Shape output, ConvOutputShape(window, stage.kind, input, filter));
  const int args = static_cast<int>(stage.inputs.size()) - 2;
  const int first = args > 0 ? stage.inputs[2] : 0;
  TENON_ASSIGN_OR_RETURN(const FusedOps ops, ParseFusedOps(attrs, first, first + args));
  TENON_RETURN_IF_ERROR(CheckFusedOpShapes(ops, c, output, window.channel_axis()));
  return output;
}

absl::Status BlockShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Stage> stages, StagesOf(c.node(), c.num_inputs()));
  Shape shape = c.input(0);
  for (const Stage& stage : stages) {
    TENON_ASSIGN_OR_RETURN(shape, StageShape(c, stage, shape));
  }
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

// What a stage is prepared with.
struct PreparedStage {
  Stage stage;
  std::vector<TensorSpec> specs, outputs;
  std::vector<Constant*> constants;

  PrepareContext Context(const PrepareContext& p) const {
    return PrepareContext(stage.node, specs, constants, outputs, p.services(), p.infer_outputs());
  }
};

absl::StatusOr<std::vector<PreparedStage>> PrepareStages(const PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(std::vector<Stage> stages, StagesOf(p.node(), p.num_inputs()));
  std::vector<PreparedStage> all;
  TensorSpec image{p.input_dtype(0), p.input_shape(0), nullptr};
  for (Stage& stage : stages) {
    PreparedStage own{std::move(stage), {}, {}, {}};
    for (const int i : own.stage.inputs) {
      own.specs.push_back(i < 1 ? image : TensorSpec{p.input_dtype(i), p.input_shape(i), nullptr});
      own.constants.push_back(i < 0 ? nullptr : p.constant(i));
    }
    TENON_ASSIGN_OR_RETURN(const WindowAttrs window,
                           ReadWindowAttrs(AttrReader(own.stage.node), 2));
    TENON_ASSIGN_OR_RETURN(image.shape, ConvOutputShape(window, own.stage.kind, own.specs[0].shape,
                                                        own.specs[1].shape));
    TENON_RETURN_IF_ERROR(image.shape.CheckedElements().status());
    own.outputs = {image};
    all.push_back(std::move(own));
  }
  return all;
}

void PassUnread(PrepareContext& p, absl::Span<const int> unread, absl::Span<const int> inputs) {
  for (const int i : unread) p.InputNotRead(inputs[static_cast<size_t>(i)]);
}

// One convolution after the other. What is between them alternates between two places.
class StagesInTurn final : public Kernel {
 public:
  StagesInTurn(std::vector<PreparedKernel> kernels, const std::vector<PreparedStage>& stages)
      : kernels_(std::move(kernels)) {
    for (size_t i = 0; i < stages.size(); ++i) {
      inputs_.push_back(stages[i].stage.inputs);
      own_scratch_ = std::max(own_scratch_, kernels_[i].scratch_bytes);
      if (i + 1 == stages.size()) continue;
      const TensorSpec& out = stages[i].outputs[0];
      const size_t bytes = static_cast<size_t>(out.shape.num_elements()) * SizeOf(out.dtype);
      place_bytes_[i % 2] = RoundUp(bytes, kCacheLine);
    }
  }

  size_t ScratchBytes() const { return place_bytes_[0] + place_bytes_[1] + own_scratch_; }
  absl::Status Run(RunContext& r) const override {
    char* const first = static_cast<char*>(r.scratch());
    char* const places[] = {first, first + place_bytes_[0]};
    char* const scratch = first + place_bytes_[0] + place_bytes_[1];
    const void* before = nullptr;
    for (size_t s = 0; s < kernels_.size(); ++s) {
      std::vector<const void*> inputs;
      for (const int i : inputs_[s]) inputs.push_back(i < 0 ? before : r.input(i));
      void* output = s + 1 == kernels_.size() ? r.output(0) : places[s % 2];
      RunContext own(inputs.data(), &output, scratch);
      TENON_RETURN_IF_ERROR(kernels_[s].kernel->Run(own));
      before = output;
    }
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrJoin(kernels_, ", ", [](std::string* out, const PreparedKernel& k) {
      out->append(k.kernel->Implementation());
    });
  }
  double Flops() const override {
    double flops = 0;
    for (const PreparedKernel& k : kernels_) flops += k.kernel->Flops();
    return flops;
  }
  size_t HeldBytes() const override {
    size_t bytes = 0;
    for (const PreparedKernel& k : kernels_) bytes += k.kernel->HeldBytes();
    return bytes;
  }

 private:
  const std::vector<PreparedKernel> kernels_;
  std::vector<std::vector<int>> inputs_;
  size_t place_bytes_[2] = {0, 0}, own_scratch_ = 0;
};

absl::StatusOr<std::unique_ptr<Kernel>> InTurn(PrepareContext& p,
                                               const std::vector<PreparedStage>& stages,
                                               bool accelerated) {
  std::vector<PreparedKernel> kernels;
  for (const PreparedStage& s : stages) {
    Node node = s.stage.node;
    const char* const native = FindOp(node.op).info->row.native;
    if (accelerated) node.op = native;
    TENON_ASSIGN_OR_RETURN(PreparedKernel kernel,
                           PrepareNode(node, s.specs, s.constants, p.services()));
    PassUnread(p, kernel.unread, s.stage.inputs);
    kernels.push_back(std::move(kernel));
  }
  auto kernel = std::make_unique<StagesInTurn>(std::move(kernels), stages);
  p.RequestScratch(kernel->ScratchBytes());
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> OnednnBlock(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<PreparedStage> stages, PrepareStages(p));
  std::vector<PrepareContext> contexts;
  contexts.reserve(stages.size());
  ConvStages block;
  for (const PreparedStage& s : stages) {
    contexts.push_back(s.Context(p));
    ConvStage& stage = s.stage.kind == ConvKind::kDepthwise ? block.depthwise
                       : block.depthwise.context == nullptr ? block.expand
                                                            : block.project;
    stage = {&contexts.back(), s.stage.inputs};
  }
  auto lines = InvertedResidualKernel(block);
  if (!lines.ok() && !absl::IsUnimplemented(lines.status())) return lines;
  if (!lines.ok()) return InTurn(p, stages, /*accelerated=*/true);
  for (size_t i = 0; i < stages.size(); ++i) {
    PassUnread(p, contexts[i].unread(), stages[i].stage.inputs);
  }
  p.RequestScratch(block.depthwise.context->scratch_bytes());
  return lines;
}

absl::StatusOr<std::unique_ptr<Kernel>> ReferenceBlock(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<PreparedStage> stages, PrepareStages(p));
  return InTurn(p, stages, /*accelerated=*/false);
}

const OpRegistration inverted_residual({
    .name = "_FusedInvertedResidual",
    .inputs = "input: T, expand_filter: T, depthwise_filter: T, "
              "project_filter: num_project * T, expand_args: num_expand_args * T, "
              "depthwise_args: num_depthwise_args * T, project_args: num_project_args * T",
    .outputs = "output: T",
    .attrs = "T: type; num_project: int; num_expand_args: int; "
             "num_depthwise_args: int; num_project_args: int; strides: list(int); "
             "padding: string; explicit_paddings: list(int) = []; data_format: string = NHWC; "
             "dilations: list(int) = [1, 1, 1, 1]; expand_ops: list(string) = []; "
             "depthwise_ops: list(string) = []; project_ops: list(string) = []; "
             "expand_alpha: float = 0.2; depthwise_alpha: float = 0.2; project_alpha: float = 0.2",
    .types = "T: half bfloat16 float double",
    .shape = BlockShape,
    .reference = ReferenceBlock,
    .accelerated = OnednnBlock,
    .native = "_MklNativeFusedInvertedResidual",
    .native_types = "float",
    .eager = false,
    .internal = true,
    .batch_axis = batch_axis::Contraction,
    .error_bound = ErrorBound::kInvertedResidual,
});

}  // namespace
}  // namespace tenon

// _PadWithFusedConv2D: Pad, then _FusedConv2D, for paddings that are computed. (Constant ones
// become attributes of the convolution.) Pads of height and width are fused into the convolution;
// those of batch or channels are done first, in scratch.
#include <algorithm>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "ops/evaluate.h"
#include "ops/nn/contraction_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kSpatial = 2;
constexpr int kRank = kSpatial + 2;

absl::StatusOr<std::vector<int64_t>> ReadPaddings(const Tensor& t) {
  if (t.shape() != Shape({kRank, 2})) {
    return InvalidArgument("paddings must have shape [4,2], but have ", t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> pads, IntegersOf(t));
  for (int64_t v : pads) {
    if (v < 0) return InvalidArgument("paddings must not be negative, but one is ", v);
    if (v > (int64_t{1} << 40)) return InvalidArgument("a padding of ", v, " is too large");
  }
  return pads;
}

Shape Padded(const Shape& input, const std::vector<int64_t>& pads) {
  Shape padded = input;
  for (int d = 0; d < kRank; ++d) {
    const size_t i = static_cast<size_t>(2 * d);
    if (input[d] >= 0) padded.set_dim(d, input[d] + pads[i] + pads[i + 1]);
  }
  return padded;
}

absl::Status PadConvShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(c.attrs(), kSpatial));
  const int last = c.num_inputs() - 1;
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, kRank));
  TENON_RETURN_IF_ERROR(c.ExpectRank(last, 2));
  Shape padded = Shape::UnknownOfRank(kRank);
  if (c.value(last) != nullptr && c.input(0).has_rank()) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, ReadPaddings(*c.value(last)));
    padded = Padded(c.input(0), pads);
  }
  TENON_ASSIGN_OR_RETURN(Shape output,
                         ConvOutputShape(attrs, ConvKind::kDense, padded, c.input(1)));
  TENON_ASSIGN_OR_RETURN(const FusedOps ops, ParseFusedOps(c.attrs(), 2, last));
  TENON_RETURN_IF_ERROR(CheckFusedOpShapes(ops, c, output, attrs.channel_axis()));
  c.set_output(0, std::move(output));
  return absl::OkStatus();
}

// The convolution without the paddings.
struct ConvParts {
  Node node;
  std::vector<TensorSpec> inputs;
  std::vector<Constant*> constants;
  std::vector<TensorSpec> outputs;

  explicit ConvParts(const PrepareContext& p) : node(p.node()) {
    node.op = "_FusedConv2D";
    if (!node.inputs.empty()) node.inputs.pop_back();
    for (int i = 0; i + 1 < p.num_inputs(); ++i) {
      inputs.push_back({p.input_dtype(i), p.input_shape(i), nullptr});
      constants.push_back(p.constant(i));
    }
    outputs.push_back({p.output_dtype(0), p.output_shape(0), nullptr});
  }
};

using PrepareConv = absl::StatusOr<std::unique_ptr<Kernel>> (*)(PrepareContext&, int, ConvKind);

// The pads as explicit paddings; Unimplemented if they cannot be expressed so.
absl::StatusOr<std::unique_ptr<Kernel>> AsExplicit(PrepareContext& p, std::vector<int64_t> pads,
                                                   PrepareConv prepare) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p.attrs(), kSpatial));
  if (attrs.padding == WindowAttrs::Padding::kSame) return Unimplemented("SAME of a padded input");
  for (int axis : {0, attrs.channel_axis()}) {
    const size_t i = static_cast<size_t>(2 * axis);
    if (pads[i] != 0 || pads[i + 1] != 0) return Unimplemented("pads of batch or channels");
  }
  for (int i = 0; i < kSpatial; ++i) {
    const size_t s = static_cast<size_t>(i), at = static_cast<size_t>(2 * attrs.spatial_axis(i));
    pads[at] += attrs.padding == WindowAttrs::Padding::kExplicit ? attrs.explicit_begin[s] : 0;
    pads[at + 1] += attrs.padding == WindowAttrs::Padding::kExplicit ? attrs.explicit_end[s] : 0;
  }
  ConvParts conv(p);
  conv.node.attrs["padding"] = "EXPLICIT";
  conv.node.attrs["explicit_paddings"] = std::move(pads);
  PrepareContext inner(conv.node, conv.inputs, conv.constants, conv.outputs, p.services(),
                       p.infer_outputs());
  TENON_ASSIGN_OR_RETURN(auto kernel, prepare(inner, kSpatial, ConvKind::kDense));
  if (inner.scratch_bytes() > 0) p.RequestScratch(inner.scratch_bytes());
  for (const auto& [input, output] : inner.in_place()) p.AllowInPlace(input, output);
  for (int i : inner.unread()) p.InputNotRead(i);
  p.InputNotRead(p.num_inputs() - 1);
  return kernel;
}

class PadThenConv final : public Kernel {
 public:
  PreparedKernel pad, conv;
  size_t padded_bytes = 0;
  int num_inputs = 0;  // including the paddings, which are last

  size_t ScratchBytes() const {
    return padded_bytes + std::max(pad.scratch_bytes, conv.scratch_bytes);
  }
  absl::Status Run(RunContext& r) const override {
    char* const padded = static_cast<char*>(r.scratch());
    char* const scratch = padded + padded_bytes;
    const void* pad_inputs[] = {r.input(0), r.input(num_inputs - 1)};
    void* pad_outputs[] = {padded};
    RunContext pad_run(pad_inputs, pad_outputs, scratch);
    TENON_RETURN_IF_ERROR(pad.kernel->Run(pad_run));
    std::vector<const void*> inputs{padded};
    for (int i = 1; i + 1 < num_inputs; ++i) inputs.push_back(r.input(i));
    void* outputs[] = {r.output(0)};
    RunContext conv_run(inputs.data(), outputs, scratch);
    return conv.kernel->Run(conv_run);
  }
};

absl::StatusOr<std::unique_ptr<Kernel>> InTurn(PrepareContext& p, const Tensor& paddings,
                                               const std::vector<int64_t>& pads) {
  ConvParts conv(p);
  Node pad = conv.node;
  pad.op = "Pad";
  pad.attrs = {{"T", p.output_dtype(0)}, {"Tpaddings", paddings.dtype()}};
  pad.inputs.clear();
  auto kernel = std::make_unique<PadThenConv>();
  kernel->num_inputs = p.num_inputs();
  const Shape padded = Padded(p.input_shape(0), pads);
  TENON_ASSIGN_OR_RETURN(const int64_t elements, padded.CheckedElements());
  kernel->padded_bytes =
      RoundUp(static_cast<size_t>(elements) * SizeOf(p.output_dtype(0)), kCacheLine);
  TENON_ASSIGN_OR_RETURN(
      kernel->pad,
      PrepareNode(pad, {conv.inputs[0], {paddings.dtype(), paddings.shape(), &paddings}}, {},
                  p.services()));
  conv.inputs[0].shape = padded;
  TENON_ASSIGN_OR_RETURN(kernel->conv, PrepareNode(conv.node, conv.inputs, {}, p.services()));
  p.RequestScratch(kernel->ScratchBytes());
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> OnednnPadConv2D(PrepareContext& p) {
  const Tensor* paddings = p.value(p.num_inputs() - 1);
  if (paddings == nullptr) return PrepareLate(p, OnednnPadConv2D, {p.num_inputs() - 1});
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> pads, ReadPaddings(*paddings));
  auto kernel = AsExplicit(p, pads, ConvOnednnKernel);
  if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  return InTurn(p, *paddings, pads);
}

absl::StatusOr<std::unique_ptr<Kernel>> ReferencePadConv2D(PrepareContext& p) {
  const Tensor* paddings = p.value(p.num_inputs() - 1);
  if (paddings == nullptr) return PrepareLate(p, ReferencePadConv2D, {p.num_inputs() - 1});
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> pads, ReadPaddings(*paddings));
  return InTurn(p, *paddings, pads);
}

const OpRegistration pad_conv2d({
    .name = "_PadWithFusedConv2D",
    .inputs = "input: T, filter: T, args: num_args * T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; num_args: int; strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC; "
             "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; "
             "Tpaddings: type = int32; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
    .types = "T: half bfloat16 float double; Tpaddings: int32 int64",
    .shape = PadConvShape,
    .reference = ReferencePadConv2D,
    .accelerated = OnednnPadConv2D,
    .native = "_MklNativePadWithFusedConv2D",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Contraction,
    .error_bound = ErrorBound::kConvolution,
});

}  // namespace
}  // namespace tenon

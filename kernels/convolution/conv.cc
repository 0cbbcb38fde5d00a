#include "kernels/convolution/conv.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/convolution/conv_bfloat16.h"
#include "kernels/convolution/conv_bfloat16_tiles.h"
#include "kernels/convolution/conv_depthwise.h"
#include "kernels/convolution/conv_few_outputs.h"
#include "kernels/convolution/conv_flat_lines.h"
#include "kernels/convolution/conv_gather.h"
#include "kernels/convolution/conv_lines.h"
#include "kernels/convolution/conv_padded.h"
#include "kernels/convolution/conv_pixel_vectors.h"
#include "kernels/convolution/conv_pointwise.h"
#include "kernels/convolution/conv_product.h"
#include "kernels/convolution/conv_reference.h"
#include "kernels/convolution/conv_small_groups.h"
#include "kernels/convolution/conv_taps.h"
#include "kernels/convolution/conv_window_product.h"
#include "kernels/convolution/conv_winograd.h"
#include "kernels/convolution/depthwise_doubles.h"
#include "kernels/matmul/panel_layout.h"
#include "primitive_cache/convolution.h"

namespace tenon {
namespace {

absl::StatusOr<FusedOps> FusedOpsOf(const AttrReader& attrs, int num_inputs) {
  if (!attrs.node().attrs.contains("fused_ops")) return FusedOps();
  return ParseFusedOps(attrs, 2, num_inputs);
}

class ConvReferenceKernelImpl final : public Kernel {
 public:
  ConvReferenceKernelImpl(DType dtype, ConvGeometry g, FusedPass fused, int threads,
                          ProductCode code)
      : dtype_(dtype), g_(std::move(g)), fused_(std::move(fused)), threads_(threads), code_(code) {}
  absl::Status Run(RunContext& r) const override {
    TENON_RETURN_IF_ERROR(
        RunConvReference(dtype_, g_, r.input(0), r.input(1), r.output(0), threads_, code_));
    fused_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return code_ == ProductCode::kEigen ? Kernel::Implementation() : "vector";
  }
  double Flops() const override { return g_.flops(); }

 private:
  const DType dtype_;
  const ConvGeometry g_;
  const FusedPass fused_;
  const int threads_;
  const ProductCode code_;
};

// A window at a time is a row of a product.
absl::StatusOr<std::unique_ptr<Kernel>> UnfoldedConvKernel(PrepareContext& p, int spatial,
                                                           ConvKind kind, ProductCode code) {
  TENON_ASSIGN_OR_RETURN(ConvGeometry g,
                         ResolveConv(p.attrs(), spatial, kind, p.input_shape(0), p.input_shape(1)));
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, FusedOpsOf(p.attrs(), p.num_inputs()));
  const int channel_axis = g.attrs.channel_axis();
  return std::make_unique<ConvReferenceKernelImpl>(p.output_dtype(0), std::move(g),
                                                   FusedPass(p, fused, channel_axis),
                                                   p.services().threads, code);
}

// The filter in oneDNN's order. In TensorFlow's [spatial..., I, O], a group's outputs are adjacent;
// a depthwise filter [spatial..., C, M] has C groups of M outputs.
TensorDesc FilterDesc(const ConvGeometry& g, ElementType type) {
  const int64_t outputs = g.out_channels;
  const int64_t row = g.depthwise ? outputs : g.in_per_group() * outputs;
  TensorDesc d;
  d.type = type;
  Dims spatial_strides(g.window.size());
  int64_t stride = row;
  for (size_t i = g.window.size(); i-- > 0;) {
    spatial_strides[i] = stride;
    stride *= g.window[i];
  }
  if (g.groups > 1) {
    d.dims = {g.groups, g.out_per_group(), g.in_per_group()};
    // A group of a depthwise filter has one input, so its stride does not matter.
    d.strides = {g.out_per_group(), 1, outputs};
  } else {
    d.dims = {outputs, g.in_channels};
    d.strides = {1, outputs};
  }
  d.dims.insert(d.dims.end(), g.window.begin(), g.window.end());
  d.strides.insert(d.strides.end(), spatial_strides.begin(), spatial_strides.end());
  return d;
}

// An extra input with at most the output's rank, in oneDNN's order of dimensions, for
// AsOneImage(g).
absl::StatusOr<TensorDesc> OperandDesc(const ConvGeometry& g, const ConvGeometry& one_image,
                                       ElementType type, const FusedOp& op, const Shape& shape) {
  const int rank = g.attrs.rank();
  Dims dims(static_cast<size_t>(rank), 1);
  if (op.bias) {
    dims[static_cast<size_t>(g.attrs.channel_axis())] = g.out_channels;
  } else {
    for (int i = 0; i < shape.rank(); ++i) {
      dims[static_cast<size_t>(rank - shape.rank() + i)] = shape[i];
    }
  }
  Dims spatial;
  for (int i = 0; i < g.attrs.spatial; ++i) {
    spatial.push_back(dims[static_cast<size_t>(g.attrs.spatial_axis(i))]);
  }
  TensorDesc d = ImageDesc(type, g.attrs.channels_last, dims[0],
                           dims[static_cast<size_t>(g.attrs.channel_axis())], spatial);
  // oneDNN accepts other broadcasts, but its gemm convolution computes some of them wrongly (one
  // value per image and channel).
  Dims whole{g.batch, g.out_channels}, per_channel(d.dims.size(), 1), scalar = per_channel;
  whole.insert(whole.end(), g.out.begin(), g.out.end());
  per_channel[1] = g.out_channels;
  if (d.dims != whole && d.dims != per_channel && d.dims != scalar) {
    return Unimplemented("a broadcast that oneDNN may compute wrongly");
  }
  if (d.dims == whole) {
    return ImageDesc(type, g.attrs.channels_last, one_image.batch, g.out_channels, one_image.out);
  }
  return d;
}

// oneDNN's gemm convolution applies post-ops other than sums one element at a time.
bool HasSlowPostOps(const Primitive& convolution, const std::vector<PostOpSpec>& post_ops) {
  return ComputesByGemm(convolution) &&
         std::any_of(post_ops.begin(), post_ops.end(),
                     [](const PostOpSpec& op) { return op.kind != PostOpSpec::Kind::kSum; });
}

}  // namespace

bool ComputesByGemm(const Primitive& convolution) {
  return absl::StrContains(convolution.implementation(), ":gemm:");
}

bool HasConstantFilter(const PrepareContext& p, const ConvGeometry& g) {
  return p.constant(1) != nullptr && p.output_dtype(0) == DType::kFloat && g.attrs.channels_last &&
         g.attrs.spatial == 2 && g.groups == 1 && !g.depthwise;
}

std::shared_ptr<const PackedLayout> FilterPanels(const ConvGeometry& g, size_t width, int threads) {
  return ElementPanels({static_cast<size_t>(g.window_positions() * g.in_per_group()),
                        static_cast<size_t>(g.out_channels), /*transposed=*/false, width},
                       sizeof(float), threads);
}

ConvolutionProblem ConvProblem(const ConvGeometry& g, ElementType type, int threads) {
  ConvolutionProblem problem;
  problem.src = ImageDesc(type, g.attrs.channels_last, g.batch, g.in_channels, g.in);
  problem.weights = FilterDesc(g, type);
  problem.dst = ImageDesc(type, g.attrs.channels_last, g.batch, g.out_channels, g.out);
  problem.grouped = g.groups > 1;
  problem.strides = g.attrs.strides;
  problem.dilations = g.attrs.dilations;
  problem.pads_begin = g.pads_begin;
  problem.pads_end = g.pads_end;
  // A depthwise convolution takes several times as long for each operation. Each thread then also
  // finds its lines in its own cache, and leaves them there for the 1x1 convolution that follows.
  const double work = g.depthwise ? 6 * g.flops() : g.flops();
  problem.threads = ThreadsWorth(
      threads, work, static_cast<size_t>(problem.weights.num_elements()) * SizeOf(type));
  return problem;
}

Contraction ConvContraction(const PrepareContext& p, const ConvGeometry& g, ElementType type,
                            FusedOps fused) {
  const ConvGeometry one_image = AsOneImage(g);
  ConvolutionProblem problem = ConvProblem(one_image, type, p.services().threads);
  problem.allow_winograd = !g.attrs.channels_last && MayUseWinograd(p);
  Contraction c;
  c.get = [problem, cache = p.services().cache](bool has_bias,
                                                const std::vector<PostOpSpec>& post_ops) {
    ConvolutionProblem with = problem;
    with.has_bias = has_bias;
    with.post_ops = post_ops;
    auto convolution = GetConvolution(with, cache);
    if (convolution.ok() && HasSlowPostOps(**convolution, post_ops)) {
      return absl::StatusOr<std::shared_ptr<const Primitive>>(
          Unimplemented("its post-ops would take longer than a pass of our own"));
    }
    return convolution;
  };
  c.fused = std::move(fused);
  c.channel_axis = g.attrs.channel_axis();
  c.operand = [g, one_image, type](const FusedOp& op, const Shape& shape) {
    return OperandDesc(g, one_image, type, op, shape);
  };
  c.flops = g.flops();
  return c;
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvReferenceKernel(PrepareContext& p, int spatial,
                                                            ConvKind kind) {
  return UnfoldedConvKernel(p, spatial, kind, ProductCode::kEigen);
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvOnednnKernel(PrepareContext& p, int spatial,
                                                         ConvKind kind) {
  // oneDNN has no convolution of doubles.
  if (p.output_dtype(0) == DType::kDouble && kind == ConvKind::kDense) {
    return UnfoldedConvKernel(p, spatial, kind, ProductCode::kVectors);
  }
  TENON_ASSIGN_OR_RETURN(ConvGeometry g,
                         ResolveConv(p.attrs(), spatial, kind, p.input_shape(0), p.input_shape(1)));
  if (p.output_dtype(0) == DType::kDouble) {
    return DepthwiseOfDoubles(p, g, DepthwisePass::kForward);
  }
  TENON_ASSIGN_OR_RETURN(const ElementType type, ElementTypeOf(p.output_dtype(0)));
  g = WholeAxesAsChannels(std::move(g));
  TENON_ASSIGN_OR_RETURN(FusedOps fused, FusedOpsOf(p.attrs(), p.num_inputs()));
  const int channel_axis = g.attrs.channel_axis();
  if (p.output_shape(0).num_elements() == 0 || p.input_shape(0).num_elements() == 0 ||
      p.input_shape(1).num_elements() == 0) {
    return ZeroContraction(p, fused, channel_axis);
  }

  for (const auto& own :
       {ConvPixelVectorsKernel, ConvFewOutputsKernel, ConvRowsKernel, ConvSmallGroupsKernel,
        ConvDepthwiseKernel, ConvFlatLinesKernel, ConvLinesKernel, ConvWinogradKernel,
        ConvWindowProductKernel, ConvProductKernel, ConvGatherKernel, ConvTapsKernel,
        ConvPointwiseKernel, ConvPaddedKernel, ConvBfloat16TilesKernel, ConvBfloat16SwishKernel}) {
    auto kernel = own(p, g, fused);
    if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  }

  return PrepareContraction(p, ConvContraction(p, g, type, std::move(fused)));
}

}  // namespace tenon

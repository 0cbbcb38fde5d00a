#include "kernels/convolution/conv_gradient.h"

#include <cstring>
#include <utility>

#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/conv_gradient_reference.h"
#include "kernels/convolution/conv_transposed.h"
#include "kernels/convolution/depthwise_doubles.h"
#include "kernels/interface/late_kernel.h"
#include "primitive_cache/convolution_gradient.h"

namespace tenon {
namespace {

using Of = ConvolutionGradientProblem::Of;

// The shapes of a gradient, all known.
struct GradientShapes {
  Shape input, filter, out_backprop;
};

absl::StatusOr<ConvGeometry> Resolve(const PrepareContext& p, const ConvGradientOp& op,
                                     const GradientShapes& s) {
  TENON_ASSIGN_OR_RETURN(ConvGeometry g,
                         ResolveConv(p.attrs(), op.spatial, op.kind, s.input, s.filter));
  TENON_RETURN_IF_ERROR(CheckOutBackprop(g.attrs, op.kind, s.input, s.filter, s.out_backprop));
  return g;
}
absl::StatusOr<ConvGeometry> ResolveInputGradient(const PrepareContext& p,
                                                  const ConvGradientOp& op) {
  return Resolve(p, op, {p.output_shape(0), p.input_shape(1), p.input_shape(kOutBackprop)});
}
absl::StatusOr<ConvGeometry> ResolveFilterGradient(const PrepareContext& p,
                                                   const ConvGradientOp& op) {
  return Resolve(p, op, {p.input_shape(0), p.output_shape(0), p.input_shape(kOutBackprop)});
}

bool NothingToSum(const PrepareContext& p, int a, int b) {
  return p.output_shape(0).num_elements() == 0 || p.input_shape(a).num_elements() == 0 ||
         p.input_shape(b).num_elements() == 0;
}

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(DType dtype, ConvGeometry g, int threads, Of of, bool bias,
                  ProductCode code = ProductCode::kEigen)
      : dtype_(dtype), g_(std::move(g)), threads_(threads), of_(of), bias_(bias), code_(code) {}
  absl::Status Run(RunContext& r) const override {
    if (of_ == Of::kSource) {
      return RunInputGradient(dtype_, g_, r.input(1), r.input(kOutBackprop), r.output(0), threads_,
                              code_);
    }
    TENON_RETURN_IF_ERROR(RunFilterGradient(dtype_, g_, r.input(0), r.input(kOutBackprop),
                                            r.output(0), threads_, code_));
    if (!bias_) return absl::OkStatus();
    return RunBiasGradient(dtype_, g_, r.input(kOutBackprop), r.output(1));
  }
  std::string Implementation() const override {
    return code_ == ProductCode::kEigen ? Kernel::Implementation() : "vector";
  }
  double Flops() const override { return g_.flops(); }

 private:
  const DType dtype_;
  const ConvGeometry g_;
  const int threads_;
  const Of of_;
  const bool bias_;
  const ProductCode code_;
};

// oneDNN has no convolution of doubles.
absl::StatusOr<std::unique_ptr<Kernel>> GradientOfDoubles(PrepareContext& p, const ConvGeometry& g,
                                                          Of of) {
  if (g.depthwise) {
    return DepthwiseOfDoubles(
        p, g, of == Of::kSource ? DepthwisePass::kInputGradient : DepthwisePass::kFilterGradient);
  }
  return std::make_unique<ReferenceKernel>(p.output_dtype(0), g, p.services().threads, of,
                                           p.num_outputs() > 1, ProductCode::kVectors);
}

class FilterGradientKernel final : public Kernel {
 public:
  FilterGradientKernel(std::shared_ptr<const Primitive> primitive, bool bias, double flops)
      : primitive_(std::move(primitive)), bias_(bias), flops_(flops) {}
  absl::Status Run(RunContext& r) const override {
    absl::InlinedVector<void*, 4> pointers{const_cast<void*>(r.input(0)),
                                           const_cast<void*>(r.input(kOutBackprop)), r.output(0)};
    if (bias_) pointers.push_back(r.output(1));
    return primitive_->Execute(pointers, r.scratch());
  }
  std::string Implementation() const override { return primitive_->implementation(); }
  double Flops() const override { return flops_; }
  size_t HeldBytes() const override { return primitive_->bytes(); }

 private:
  const std::shared_ptr<const Primitive> primitive_;
  const bool bias_;
  const double flops_;
};

}  // namespace

absl::Status CheckOutBackprop(const WindowAttrs& a, ConvKind kind, const Shape& input,
                              const Shape& filter, const Shape& out_backprop) {
  for (const Shape* s : {&input, &filter}) {
    if (s->IsComplete()) TENON_RETURN_IF_ERROR(s->CheckedElements().status());
  }
  TENON_ASSIGN_OR_RETURN(const Shape output, ConvOutputShape(a, kind, input, filter));
  if (output.CompatibleWith(out_backprop)) return absl::OkStatus();
  return InvalidArgument("out_backprop must have the convolution's output shape ",
                         output.ToString(), ", but is ", out_backprop.ToString());
}

absl::StatusOr<std::unique_ptr<Kernel>> WithSizes(PrepareContext& p, const ConvGradientOp& op,
                                                  int sizes, PrepareConvGradient prepare,
                                                  KernelFactory again) {
  if (!p.output_shape(0).IsComplete()) {
    if (p.value(sizes) == nullptr) return PrepareLate(p, again, {sizes});
    return Internal("the sizes are known, but not the gradient's shape");
  }
  TENON_ASSIGN_OR_RETURN(auto kernel, prepare(p, op));
  // The output's shape is sufficient: the value is part of the kernel.
  if (op.sizes == ConvGradientOp::Sizes::kVector) p.value(sizes);
  p.InputNotRead(sizes);
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradientReference(PrepareContext& p,
                                                                   const ConvGradientOp& op) {
  TENON_ASSIGN_OR_RETURN(ConvGeometry g, ResolveInputGradient(p, op));
  return std::make_unique<ReferenceKernel>(p.output_dtype(0), std::move(g), p.services().threads,
                                           Of::kSource, false);
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradientOnednn(PrepareContext& p,
                                                                const ConvGradientOp& op) {
  TENON_ASSIGN_OR_RETURN(const ConvGeometry g, ResolveInputGradient(p, op));
  if (p.output_dtype(0) == DType::kDouble) return GradientOfDoubles(p, g, Of::kSource);
  TENON_ASSIGN_OR_RETURN(const ElementType type, ElementTypeOf(p.output_dtype(0)));
  if (NothingToSum(p, 1, kOutBackprop)) return ZeroContraction(p, {}, g.attrs.channel_axis());

  auto phases = ConvTransposedKernel(p, g);
  if (phases.ok() || !absl::IsUnimplemented(phases.status())) return phases;

  const ConvolutionGradientProblem problem{Of::kSource, ConvProblem(g, type, p.services().threads)};
  Contraction c;
  c.get = [problem, cache = p.services().cache](bool, const std::vector<PostOpSpec>&) {
    return GetConvolutionGradient(problem, cache);
  };
  c.src_input = kOutBackprop;
  c.channel_axis = g.attrs.channel_axis();
  c.flops = g.flops();
  return PrepareContraction(p, std::move(c));
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradientReference(PrepareContext& p,
                                                                    const ConvGradientOp& op) {
  TENON_ASSIGN_OR_RETURN(ConvGeometry g, ResolveFilterGradient(p, op));
  return std::make_unique<ReferenceKernel>(p.output_dtype(0), std::move(g), p.services().threads,
                                           Of::kWeights, p.num_outputs() > 1);
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradientOnednn(PrepareContext& p,
                                                                 const ConvGradientOp& op) {
  TENON_ASSIGN_OR_RETURN(const ConvGeometry g, ResolveFilterGradient(p, op));
  if (p.output_dtype(0) == DType::kDouble) return GradientOfDoubles(p, g, Of::kWeights);
  TENON_ASSIGN_OR_RETURN(const ElementType type, ElementTypeOf(p.output_dtype(0)));
  const bool bias = p.num_outputs() > 1;
  if (NothingToSum(p, 0, kOutBackprop)) {
    // The bias gradient may still be nonempty.
    if (bias) return Unimplemented("nothing to sum over");
    return ZeroContraction(p, {}, g.attrs.channel_axis());
  }
  ConvolutionGradientProblem problem{Of::kWeights, ConvProblem(g, type, p.services().threads)};
  problem.forward.has_bias = bias;
  TENON_ASSIGN_OR_RETURN(auto primitive, GetConvolutionGradient(problem, p.services().cache));
  if (primitive->scratch_bytes() > 0) p.RequestScratch(primitive->scratch_bytes());
  return std::make_unique<FilterGradientKernel>(std::move(primitive), bias, g.flops());
}

}  // namespace tenon

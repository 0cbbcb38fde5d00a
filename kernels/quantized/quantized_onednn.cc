// Scales are part of a oneDNN primitive, but ranges are inputs of the op: the kernel keeps the
// primitive for the ranges that it saw last, and asks the session's cache for another one when they
// change.
#include "kernels/quantized/quantized_onednn.h"

#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/post_op_spec.h"
#include "kernels/quantized/by_ranges.h"

namespace tenon {
namespace {

using Result = QuantizedFusion::Result;
using Sum = QuantizedFusion::Sum;

absl::StatusOr<ElementType> ElementOf(DType dtype) {
  switch (dtype) {
    case DType::kQint8:
      return ElementType::kS8;
    case DType::kQuint8:
      return ElementType::kU8;
    case DType::kQint32:
      return ElementType::kS32;
    case DType::kFloat:
      return ElementType::kF32;
    default:
      return Unimplemented("oneDNN does not contract to ", Name(dtype));
  }
}

// The values that follow from a set of ranges.
struct Variant {
  std::vector<float> bias;  // in units of the sums; empty if it may change from run to run
  std::vector<FloatRange> result_ranges;
  std::shared_ptr<const Primitive> primitive;
};

class OnednnKernel final : public Kernel {
 public:
  OnednnKernel(PrepareContext& p, QuantizedContraction c)
      : c_(std::move(c)),
        in_(InputsOf(c_.fusion)),
        values_(FusionValuesOf(p, c_.fusion)),
        cache_(p.services().cache),
        result_bytes_(static_cast<size_t>(p.output_shape(0).num_elements()) *
                      SizeOf(p.output_dtype(0))),
        constant_bias_(c_.fusion.bias && p.constant(in_.bias) != nullptr),
        variants_(in_, values_.weights_ranges) {
    values_.min_first = c_.min_first;
    values_.weight_sums = c_.weight_sums.data();
  }

  // Chooses implementation and layout (they do not depend on the ranges' values) and packs.
  absl::Status Prepare(PrepareContext& p) {
    const size_t scales = has_scales() ? static_cast<size_t>(values_.weights_ranges) : 0;
    TENON_ASSIGN_OR_RETURN(model_, Get(std::vector<float>(scales, 0.5f), 0.5f, 0.5f));
    primitive_scratch_ = RoundUp(model_->scratch_bytes(), kCacheLine);
    if (c_.fusion.bias && !constant_bias_) {
      bias_scratch_ = RoundUp(static_cast<size_t>(values_.channels) * sizeof(float), kCacheLine);
    }
    size_t scratch = primitive_scratch_ + bias_scratch_;
    if (auto layout = model_->weights_layout(); layout != nullptr) {
      if (Constant* weights = p.constant(in_.weights); weights != nullptr) {
        TENON_ASSIGN_OR_RETURN(packed_, PackConstant(*weights, std::move(layout)));
        p.InputNotRead(in_.weights);
      } else {
        scratch += layout->bytes();
        repack_ = std::move(layout);
      }
    }
    if (scratch > 0) p.RequestScratch(scratch);
    // The result may overlap the summand, but never the source.
    const auto& sources = p.node().inputs;
    const auto summand = static_cast<size_t>(in_.summand);
    if (in_.summand >= 0 && sources.size() > summand && sources[summand] != sources[0]) {
      p.AllowInPlace(in_.summand, 0);
    }
    return absl::OkStatus();
  }

  absl::Status Run(RunContext& r) const override {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Variant> variant,
                           variants_.Get(r, [&] { return VariantFor(r); }));
    char* const scratch = static_cast<char*>(r.scratch());
    void* weights = const_cast<void*>(packed_ != nullptr ? packed_->data() : r.input(in_.weights));
    if (repack_ != nullptr) {
      weights = scratch + primitive_scratch_ + bias_scratch_;
      TENON_RETURN_IF_ERROR(repack_->Pack(r.input(in_.weights), weights));
    }
    void* const result = r.output(0);
    if (in_.summand >= 0 && r.input(in_.summand) != result) {
      if (r.input(in_.data) == result)
        return Internal("a contraction's result overlaps its source");
      std::memcpy(result, r.input(in_.summand), result_bytes_);
    }
    absl::InlinedVector<void*, 4> pointers{const_cast<void*>(r.input(in_.data)), weights};
    if (constant_bias_) {
      pointers.push_back(const_cast<float*>(variant->bias.data()));
    } else if (c_.fusion.bias) {
      float* bias = reinterpret_cast<float*>(scratch + primitive_scratch_);
      const Epilogue e = MakeEpilogue(c_.fusion, ValuesOf(r));
      std::copy(e.bias.begin(), e.bias.end(), bias);
      pointers.push_back(bias);
    }
    pointers.push_back(result);
    TENON_RETURN_IF_ERROR(variant->primitive->Execute(pointers, scratch));
    for (size_t i = 0; i < variant->result_ranges.size(); ++i) {
      r.output<float>(1)[i] = variant->result_ranges[i].min;
      r.output<float>(2)[i] = variant->result_ranges[i].max;
    }
    return absl::OkStatus();
  }
  std::string Implementation() const override { return model_->implementation(); }
  double Flops() const override { return c_.flops; }
  size_t HeldBytes() const override { return model_->bytes(); }

 private:
  bool has_scales() const { return c_.fusion.result != Result::kInt32; }

  FusionValues ValuesOf(RunContext& r) const {
    FusionValues v = values_;
    GatherRanges(
        c_.fusion, [&r](int i) { return r.input<float>(i); }, v);
    if (in_.bias >= 0) v.bias = r.input(in_.bias);
    return v;
  }

  absl::StatusOr<std::shared_ptr<const Primitive>> Get(std::vector<float> scales, float sum_scale,
                                                       float swish_scale) const {
    ConvolutionProblem problem = c_.problem;
    problem.has_bias = c_.fusion.bias;
    problem.scales = std::move(scales);
    problem.src_zero = c_.fusion.data_zero;
    problem.dst_zero = c_.fusion.result_zero;
    if (in_.summand >= 0) {
      PostOpSpec sum;
      sum.kind = PostOpSpec::Kind::kSum;
      sum.scale = sum_scale;
      TENON_ASSIGN_OR_RETURN(const ElementType type, ElementOf(values_.summand_dtype));
      sum.operand = DenseDesc(type, {1});
      problem.post_ops.push_back(std::move(sum));
    }
    if (c_.fusion.relu) {
      problem.post_ops.push_back(*EltwiseSpec(ElementwiseOp::kRelu, 0));
    }
    if (c_.fusion.swish) {
      PostOpSpec swish = *EltwiseSpec(ElementwiseOp::kSwish, 0);
      swish.scale = swish_scale;
      problem.post_ops.push_back(std::move(swish));
    }
    return GetConvolution(problem, cache_);
  }

  absl::StatusOr<Variant> VariantFor(RunContext& r) const {
    Variant made;
    const FusionValues v = ValuesOf(r);
    Epilogue e = MakeEpilogue(c_.fusion, v);
    if (c_.fusion.result != Result::kDequantized) made.result_ranges = ResultRanges(c_.fusion, v);
    if (constant_bias_) made.bias = std::move(e.bias);
    if (!has_scales()) e.scale.clear();
    TENON_ASSIGN_OR_RETURN(
        made.primitive,
        Get(std::move(e.scale), e.sum_scale.empty() ? 0.0f : e.sum_scale[0], e.swish_scale));
    if (RoundUp(made.primitive->scratch_bytes(), kCacheLine) > primitive_scratch_ ||
        made.primitive->implementation() != model_->implementation()) {
      return Internal("different scales gave a different implementation");
    }
    return made;
  }

  const QuantizedContraction c_;
  const QuantizedInputs in_;
  FusionValues values_;
  PrimitiveCache* const cache_;
  const size_t result_bytes_;
  const bool constant_bias_;
  std::shared_ptr<const Primitive> model_;
  std::shared_ptr<const PackedWeights> packed_;
  std::shared_ptr<const PackedLayout> repack_;
  size_t primitive_scratch_ = 0, bias_scratch_ = 0;
  const ByRanges<Variant> variants_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> PrepareQuantizedContraction(PrepareContext& p,
                                                                    QuantizedContraction c) {
  if (!HasExactInt8()) return Unimplemented("8-bit products are not exact on this CPU");
  if (c.fusion.sum == Sum::kFloat) return Unimplemented("a float summand");
  if (p.input_dtype(1) != DType::kQint8) return Unimplemented("unsigned weights");
  if (p.input_shape(0).num_elements() == 0 || p.input_shape(1).num_elements() == 0 ||
      p.output_shape(0).num_elements() == 0) {
    return Unimplemented("empty");
  }
  TENON_ASSIGN_OR_RETURN(c.problem.src.type, ElementOf(p.input_dtype(0)));
  TENON_ASSIGN_OR_RETURN(c.problem.weights.type, ElementOf(p.input_dtype(1)));
  TENON_ASSIGN_OR_RETURN(c.problem.dst.type, ElementOf(p.output_dtype(0)));
  auto kernel = std::make_unique<OnednnKernel>(p, std::move(c));
  TENON_RETURN_IF_ERROR(kernel->Prepare(p));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon

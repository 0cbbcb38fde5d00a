// The accelerated kernel of quantized convolutions. Scales are part of a oneDNN primitive, but
// ranges are inputs of the op: the kernel keeps the primitive of the ranges that it saw last, and
// asks the session's cache for another one where they change.
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "ops/nn/conv.h"
#include "ops/nn/packed_weights.h"
#include "ops/quant/quantized_conv.h"
#include "ops/quant/range_inputs.h"
#include "primitive_cache/convolution.h"

namespace tenon {
namespace {

size_t Align64(size_t n) { return (n + 63) / 64 * 64; }

absl::StatusOr<ElementType> IntegerType(DType dtype) {
  switch (dtype) {
    case DType::kQint8:
      return ElementType::kS8;
    case DType::kQuint8:
      return ElementType::kU8;
    case DType::kQint32:
      return ElementType::kS32;
    default:
      return Unimplemented("oneDNN does not convolve ", Name(dtype));
  }
}

// One set of ranges, and what follows from it.
struct Variant {
  std::vector<float> ranges;
  Epilogue epilogue;
  std::vector<FloatRange> result_ranges;
  std::shared_ptr<const Primitive> primitive;
};

class OnednnKernel final : public Kernel {
 public:
  OnednnKernel(PrepareContext& p, const ConvGeometry& g, const QuantizedFusion& fusion,
               ConvolutionProblem problem)
      : fusion_(fusion),
        in_(InputsOf(fusion)),
        problem_(std::move(problem)),
        values_(FusionValuesOf(p, fusion)),
        cache_(p.services().cache),
        flops_(g.flops()),
        result_bytes_(static_cast<size_t>(p.output_shape(0).num_elements()) *
                      SizeOf(p.output_dtype(0))) {}

  // Chooses implementation and layout (they do not depend on the ranges' values) and packs.
  absl::Status Prepare(PrepareContext& p) {
    const std::vector<float> scales(fusion_.result == QuantizedFusion::Result::kInt32
                                        ? 0
                                        : static_cast<size_t>(values_.weights_ranges),
                                    0.5f);
    TENON_ASSIGN_OR_RETURN(model_, Get(scales, 0.5f));
    primitive_scratch_ = Align64(model_->scratch_bytes());
    bias_scratch_ =
        fusion_.bias ? Align64(static_cast<size_t>(values_.channels) * sizeof(float)) : 0;
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
    const auto& sources = p.node().inputs;
    if (in_.summand >= 0 && sources.size() > static_cast<size_t>(in_.summand) &&
        sources[static_cast<size_t>(in_.summand)] != sources[0]) {
      p.AllowInPlace(in_.summand, 0);
    }
    return absl::OkStatus();
  }

  absl::Status Run(RunContext& r) const override {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Variant> variant, VariantFor(r));
    char* const scratch = static_cast<char*>(r.scratch());
    void* weights = const_cast<void*>(packed_ != nullptr ? packed_->data() : r.input(in_.weights));
    if (repack_ != nullptr) {
      weights = scratch + primitive_scratch_ + bias_scratch_;
      TENON_RETURN_IF_ERROR(repack_->Pack(r.input(in_.weights), weights));
    }
    void* const result = r.output(0);
    if (in_.summand >= 0 && r.input(in_.summand) != result) {
      if (r.input(in_.data) == result) return Internal("a convolution's result over its source");
      std::memcpy(result, r.input(in_.summand), result_bytes_);
    }
    absl::InlinedVector<void*, 4> pointers{const_cast<void*>(r.input(in_.data)), weights};
    if (fusion_.bias) {
      // The bias may be another one at each run; in units of the sums it is quickly made.
      float* bias = reinterpret_cast<float*>(scratch + primitive_scratch_);
      FusionValues v = values_;
      GatherRanges(
          fusion_, [&r](int i) { return r.input<float>(i); }, v);
      v.bias = r.input(in_.bias);
      const Epilogue e = MakeEpilogue(fusion_, v);
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
  double Flops() const override { return flops_; }
  size_t HeldBytes() const override { return model_->bytes(); }

 private:
  absl::StatusOr<std::shared_ptr<const Primitive>> Get(const std::vector<float>& scales,
                                                       float sum_scale) const {
    ConvolutionProblem problem = problem_;
    problem.scales = scales;
    if (in_.summand >= 0) {
      PostOpSpec sum;
      sum.kind = PostOpSpec::Kind::kSum;
      sum.scale = sum_scale;
      TENON_ASSIGN_OR_RETURN(const ElementType type, IntegerType(values_.summand_dtype));
      sum.operand = DenseDesc(type, {1});
      problem.post_ops.push_back(std::move(sum));
    }
    if (fusion_.relu) {
      PostOpSpec relu;
      relu.eltwise = Eltwise::kRelu;
      problem.post_ops.push_back(std::move(relu));
    }
    return GetConvolution(problem, cache_);
  }

  absl::StatusOr<std::shared_ptr<const Variant>> VariantFor(RunContext& r) const {
    std::shared_ptr<const Variant> last = last_.load(std::memory_order_acquire);
    if (last != nullptr && HasRanges(*last, r)) return last;
    auto made = std::make_shared<Variant>();
    ForEachRange([&](int i, int64_t n) {
      made->ranges.insert(made->ranges.end(), r.input<float>(i), r.input<float>(i) + n);
    });
    FusionValues v = values_;
    GatherRanges(
        fusion_, [&r](int i) { return r.input<float>(i); }, v);
    QuantizedFusion without_bias = fusion_;
    without_bias.bias = false;
    made->epilogue = MakeEpilogue(without_bias, v);
    made->result_ranges = ResultRanges(fusion_, v);
    const Epilogue& e = made->epilogue;
    const bool whole = fusion_.result == QuantizedFusion::Result::kInt32;
    TENON_ASSIGN_OR_RETURN(made->primitive, Get(whole ? std::vector<float>() : e.scale,
                                                e.sum_scale.empty() ? 0.0f : e.sum_scale[0]));
    if (Align64(made->primitive->scratch_bytes()) > primitive_scratch_ ||
        made->primitive->implementation() != model_->implementation()) {
      return Internal("other scales gave another implementation");
    }
    std::shared_ptr<const Variant> shared = std::move(made);
    last_.store(shared, std::memory_order_release);
    return shared;
  }

  template <typename F>
  void ForEachRange(F&& f) const {
    for (int i : {in_.data_range, in_.result_range, in_.summand_range}) {
      if (i >= 0) f(i, 1), f(i + 1, 1);
    }
    f(in_.weights_range, values_.weights_ranges);
    f(in_.weights_range + 1, values_.weights_ranges);
  }

  bool HasRanges(const Variant& variant, RunContext& r) const {
    const float* known = variant.ranges.data();
    bool same = true;
    ForEachRange([&](int i, int64_t n) {
      same = same && std::memcmp(known, r.input(i), static_cast<size_t>(n) * sizeof(float)) == 0;
      known += n;
    });
    return same;
  }

  const QuantizedFusion fusion_;
  const QuantizedInputs in_;
  const ConvolutionProblem problem_;
  const FusionValues values_;
  PrimitiveCache* const cache_;
  const double flops_;
  const size_t result_bytes_;
  std::shared_ptr<const Primitive> model_;
  std::shared_ptr<const PackedWeights> packed_;
  std::shared_ptr<const PackedLayout> repack_;
  size_t primitive_scratch_ = 0, bias_scratch_ = 0;
  mutable std::atomic<std::shared_ptr<const Variant>> last_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConvOnednn(PrepareContext& p, ConvKind kind,
                                                            const QuantizedFusion& fusion) {
  if (!HasExactInt8()) return Unimplemented("8-bit products are not exact on this CPU");
  if (fusion.sum == QuantizedFusion::Sum::kFloat) return Unimplemented("a float summand");
  if (p.input_dtype(1) != DType::kQint8) return Unimplemented("unsigned filters");
  for (int i : {0, 1}) {
    if (p.input_shape(i).num_elements() == 0) return Unimplemented("empty");
  }
  if (p.output_shape(0).num_elements() == 0) return Unimplemented("empty");
  TENON_ASSIGN_OR_RETURN(const ConvGeometry g, ResolveQuantizedConv(p, kind));
  TENON_ASSIGN_OR_RETURN(const ElementType from, IntegerType(p.input_dtype(0)));
  TENON_ASSIGN_OR_RETURN(const ElementType to, IntegerType(p.output_dtype(0)));
  ConvolutionProblem problem = ConvProblem(g, ElementType::kS8, p.services().threads);
  problem.src.type = from;
  problem.dst.type = to;
  problem.has_bias = fusion.bias;
  auto kernel = std::make_unique<OnednnKernel>(p, g, fusion, std::move(problem));
  TENON_RETURN_IF_ERROR(kernel->Prepare(p));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon

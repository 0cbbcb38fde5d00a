#include "ops/quant/quantized_conv.h"

#include <utility>
#include <vector>

#include "env/status.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_reference.h"
#include "ops/quant/quantized_onednn.h"
#include "ops/quant/quantized_types.h"
#include "ops/quant/range_inputs.h"
#include "ops/types.h"

namespace tenon {
namespace {

// padding_list, where it is given, says what explicit_paddings does.
Node WithExplicitPadding(const Node& node) {
  Node copy = node;
  const auto* list = node.attr<std::vector<int64_t>>("padding_list");
  if (list != nullptr && !list->empty()) {
    copy.attrs["padding"] = "EXPLICIT";
    copy.attrs["explicit_paddings"] = *list;
  }
  return copy;
}

std::vector<int32_t> Widened(DType dtype, const void* data, int64_t n, int32_t zero) {
  std::vector<int32_t> wide(static_cast<size_t>(n));
  VisitQuantized(dtype, [&]<typename T>() {
    const T* q = static_cast<const T*>(data);
    for (size_t i = 0; i < wide.size(); ++i) wide[i] = WrapSub(static_cast<int32_t>(q[i]), zero);
  });
  return wide;
}

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(PrepareContext& p, ConvGeometry g, const QuantizedFusion& fusion)
      : g_(std::move(g)),
        fusion_(fusion),
        values_(FusionValuesOf(p, fusion)),
        weights_dtype_(p.input_dtype(1)),
        data_elements_(p.input_shape(0).num_elements()),
        weights_elements_(p.input_shape(1).num_elements()),
        rows_(g_.batch * g_.out_positions()),
        threads_(p.services().threads) {}

  absl::Status Run(RunContext& r) const override {
    const QuantizedInputs in = InputsOf(fusion_);
    FusionValues v = values_;
    GatherRanges(
        fusion_, [&r](int i) { return r.input<float>(i); }, v);
    if (fusion_.bias) v.bias = r.input(in.bias);
    // Unsigned weights are those of the op without oneDNN: both sides have a zero point.
    const bool zero_points = weights_dtype_ == DType::kQuint8;
    int32_t data_zero = 0, weights_zero = 0;
    FloatRange weights;
    if (zero_points) {
      weights = {v.weights_min[0], v.weights_max[0]};
      data_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, v.data));
      weights_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, weights));
    }
    const auto data = Widened(v.data_dtype, r.input(0), data_elements_, data_zero);
    const auto filter = Widened(weights_dtype_, r.input(1), weights_elements_, weights_zero);
    std::vector<int32_t> sums(static_cast<size_t>(rows_ * v.channels));
    if (!sums.empty()) {
      TENON_RETURN_IF_ERROR(
          RunConvReference(DType::kInt32, g_, data.data(), filter.data(), sums.data(), threads_));
    }
    ApplyEpilogue(fusion_, v, MakeEpilogue(fusion_, v), sums.data(),
                  in.summand < 0 ? nullptr : r.input(in.summand), rows_, r.output(0));
    if (zero_points) {
      SetRange(r, 1, ProductRange<uint8_t, uint8_t>(v.data, weights));
    } else if (fusion_.result != QuantizedFusion::Result::kDequantized) {
      SetRanges(r, ResultRanges(fusion_, v));
    }
    return absl::OkStatus();
  }
  double Flops() const override { return g_.flops(); }

 private:
  const ConvGeometry g_;
  const QuantizedFusion fusion_;
  const FusionValues values_;
  const DType weights_dtype_;
  const int64_t data_elements_, weights_elements_, rows_;
  const int threads_;
};

absl::StatusOr<ConvGeometry> Resolve(const PrepareContext& p, ConvKind kind) {
  const Node node = WithExplicitPadding(p.node());
  return ResolveConv(AttrReader(node), 2, kind, p.input_shape(0), p.input_shape(1));
}

}  // namespace

absl::Status QuantizedConvShape(ShapeContext& c, ConvKind kind, const QuantizedFusion& fusion) {
  const Node node = WithExplicitPadding(c.node());
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(AttrReader(node), 2));
  TENON_ASSIGN_OR_RETURN(Shape output, ConvOutputShape(attrs, kind, c.input(0), c.input(1)));
  if (c.dtype(1) == DType::kQuint8) TENON_RETURN_IF_ERROR(ExpectScalars(c, {4, 5}));
  return QuantizedFusionShape(c, fusion, std::move(output));
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConvReference(PrepareContext& p, ConvKind kind,
                                                               const QuantizedFusion& fusion) {
  if (p.input_dtype(1) == DType::kQuint8 && p.input_dtype(0) != DType::kQuint8) {
    return InvalidArgument("quint8 filters go with quint8 inputs");
  }
  TENON_ASSIGN_OR_RETURN(ConvGeometry g, Resolve(p, kind));
  return std::make_unique<ReferenceKernel>(p, std::move(g), fusion);
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConvOnednn(PrepareContext& p, ConvKind kind,
                                                            const QuantizedFusion& fusion) {
  TENON_ASSIGN_OR_RETURN(const ConvGeometry g, Resolve(p, kind));
  QuantizedContraction c;
  c.fusion = fusion;
  c.problem = ConvProblem(g, ElementType::kS8, p.services().threads);
  c.flops = g.flops();
  return PrepareQuantizedContraction(p, std::move(c));
}

}  // namespace tenon

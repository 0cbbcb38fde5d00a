#include "kernels/quantized/quantized_conv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/conv_pointwise.h"
#include "kernels/convolution/conv_reference.h"
#include "kernels/convolution/im2col.h"
#include "kernels/interface/types.h"
#include "kernels/matmul/panel_kernel.h"
#include "kernels/quantized/exact_product.h"
#include "kernels/quantized/integer_conv.h"
#include "kernels/quantized/quantized_onednn.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

std::vector<int32_t> Widened(DType dtype, const void* data, int64_t n, int32_t zero) {
  std::vector<int32_t> wide(static_cast<size_t>(n));
  VisitQuantized(dtype, [&]<typename T>() {
    const T* q = static_cast<const T*>(data);
    for (size_t i = 0; i < wide.size(); ++i) wide[i] = WrapSub(static_cast<int32_t>(q[i]), zero);
  });
  return wide;
}

// The sums of an 8-bit convolution without groups and zero points, by float products.
class ExactSums {
 public:
  static absl::StatusOr<ExactSums> Make(PrepareContext& p, const ConvGeometry& g) {
    const int64_t positions = g.out_positions(), window = g.window_positions();
    if (g.groups != 1 || g.depthwise || !g.attrs.channels_last ||
        p.input_dtype(1) != DType::kQint8 || p.input_shape(0).num_elements() == 0 ||
        window > kMostSources / std::max<int64_t>(positions, 1)) {
      return Unimplemented("a convolution of another form");
    }
    TENON_ASSIGN_OR_RETURN(ExactProduct product,
                           ExactProduct::Make(g.batch * positions, window * g.in_channels,
                                              g.out_channels, p.services()));
    ExactSums sums(std::move(product));
    sums.sources_ = WindowSources(g);
    sums.dtype_ = p.input_dtype(0);
    sums.image_ = p.input_shape(0).num_elements() / g.batch;
    sums.channels_ = g.in_channels;
    sums.window_ = window;
    sums.weights_ = p.input_shape(1).num_elements();
    p.RequestScratch(sums.weights_bytes() + sums.product_.scratch_bytes());
    return sums;
  }

  absl::Status Run(RunContext& r, int32_t* sums) const {
    char* const scratch = static_cast<char*>(r.scratch());
    float* const weights = reinterpret_cast<float*>(scratch);
    ToFloats(DType::kQint8, r.input(1), weights_, weights);
    const auto* data = r.input<uint8_t>(0);
    const int64_t positions = static_cast<int64_t>(sources_.size()) / window_;
    auto fill = [&](int64_t begin, int64_t end, float* left) {
      for (int64_t row = begin; row < end; ++row) {
        const uint8_t* const image = data + row / positions * image_;
        const int64_t* const from = sources_.data() + row % positions * window_;
        for (int64_t w = 0; w < window_; ++w, left += channels_) {
          if (from[w] < 0) {
            std::fill_n(left, channels_, 0.0f);
          } else {
            ToFloats(dtype_, image + from[w] * channels_, channels_, left);
          }
        }
      }
    };
    return product_.Run(fill, weights, sums, scratch + weights_bytes());
  }

 private:
  static constexpr int64_t kMostSources = int64_t{1} << 20;
  explicit ExactSums(ExactProduct product) : product_(std::move(product)) {}
  size_t weights_bytes() const {
    return RoundUp(static_cast<size_t>(weights_) * sizeof(float), kCacheLine);
  }

  ExactProduct product_;
  std::vector<int64_t> sources_;
  DType dtype_ = DType::kInvalid;
  int64_t image_ = 0, channels_ = 0, window_ = 0, weights_ = 0;
};

// The reference kernel; with `exact`, the same with different sums.
class SumsKernel final : public Kernel {
 public:
  SumsKernel(PrepareContext& p, ConvGeometry g, const QuantizedFusion& fusion,
             std::optional<ExactSums> exact)
      : g_(std::move(g)),
        fusion_(fusion),
        values_(FusionValuesOf(p, fusion)),
        weights_dtype_(p.input_dtype(1)),
        data_elements_(p.input_shape(0).num_elements()),
        weights_elements_(p.input_shape(1).num_elements()),
        rows_(g_.batch * g_.out_positions()),
        threads_(p.services().threads),
        exact_(std::move(exact)) {}

  absl::Status Run(RunContext& r) const override {
    const QuantizedInputs in = InputsOf(fusion_);
    FusionValues v = values_;
    GatherRanges(
        fusion_, [&r](int i) { return r.input<float>(i); }, v);
    if (fusion_.bias) v.bias = r.input(in.bias);
    // Unsigned weights belong to the op without oneDNN: both sides have a zero point.
    const bool zero_points = weights_dtype_ == DType::kQuint8;
    int32_t data_zero = fusion_.data_zero, weights_zero = 0;
    FloatRange weights;
    if (zero_points) {
      weights = {v.weights_min[0], v.weights_max[0]};
      data_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, v.data));
      weights_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, weights));
    }
    std::vector<int32_t> sums(static_cast<size_t>(rows_ * v.channels));
    if (exact_.has_value()) {
      TENON_RETURN_IF_ERROR(exact_->Run(r, sums.data()));
    } else if (!sums.empty()) {
      const auto data = Widened(v.data_dtype, r.input(0), data_elements_, data_zero);
      const auto filter = Widened(weights_dtype_, r.input(1), weights_elements_, weights_zero);
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
  std::string Implementation() const override { return exact_ ? "float products" : "reference"; }
  double Flops() const override { return g_.flops(); }

 private:
  const ConvGeometry g_;
  const QuantizedFusion fusion_;
  const FusionValues values_;
  const DType weights_dtype_;
  const int64_t data_elements_, weights_elements_, rows_;
  const int threads_;
  const std::optional<ExactSums> exact_;
};

// Where oneDNN's kernels of 8-bit integers are slower than ours, two threads of Zen 4,
// EfficientNet: swish takes 25 to 30 % of a pointwise convolution's time and its depthwise ones are
// not brdgmm; one pixel is read at the speed of memory. Without swish ours need up to 1.7 times as
// long where few channels are summed over, and gather windows.
bool FasterThanOnednn(const ConvGeometry& g, const QuantizedFusion& fusion) {
  if (g.depthwise) return fusion.swish;
  if (!ReadsEachPixelOnce(g) || !HasAvx512Vnni()) return false;
  return fusion.swish || g.batch * g.out_positions() <= kFewRows;
}

absl::StatusOr<ConvGeometry> Resolve(const PrepareContext& p, ConvKind kind) {
  const Node node = WithExplicitPadding(p.node());
  return ResolveConv(AttrReader(node), 2, kind, p.input_shape(0), p.input_shape(1));
}

}  // namespace

Node WithExplicitPadding(const Node& node) {
  Node copy = node;
  const auto* list = node.attr<std::vector<int64_t>>("padding_list");
  if (list != nullptr && !list->empty()) {
    copy.attrs["padding"] = "EXPLICIT";
    copy.attrs["explicit_paddings"] = *list;
  }
  return copy;
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConvReference(PrepareContext& p, ConvKind kind,
                                                               const QuantizedFusion& fusion) {
  if (p.input_dtype(1) == DType::kQuint8 && p.input_dtype(0) != DType::kQuint8) {
    return InvalidArgument("quint8 filters go with quint8 inputs");
  }
  TENON_ASSIGN_OR_RETURN(ConvGeometry g, Resolve(p, kind));
  return std::make_unique<SumsKernel>(p, std::move(g), fusion, std::nullopt);
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConvOnednn(PrepareContext& p, ConvKind kind,
                                                            const QuantizedFusion& fusion) {
  TENON_ASSIGN_OR_RETURN(const ConvGeometry g, Resolve(p, kind));
  const auto own = [&] {
    return g.depthwise ? IntegerDepthwiseConv(p, g, fusion) : IntegerConv(p, g, fusion);
  };
  const bool own_first = !HasExactInt8() || FasterThanOnednn(g, fusion);
  if (own_first) {
    auto kernel = own();
    if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  }
  QuantizedContraction c;
  c.fusion = fusion;
  c.problem = ConvProblem(AsOneImage(g), ElementType::kS8, p.services().threads);
  c.flops = g.flops();
  auto kernel = PrepareQuantizedContraction(p, std::move(c));
  if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  if (!own_first) {
    kernel = own();
    if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  }
  if (fusion.data_zero != 0) return Unimplemented("a zero point");
  TENON_ASSIGN_OR_RETURN(ExactSums exact, ExactSums::Make(p, g));
  return std::make_unique<SumsKernel>(p, g, fusion, std::move(exact));
}

}  // namespace tenon

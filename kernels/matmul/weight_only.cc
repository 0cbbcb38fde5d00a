#include "kernels/matmul/weight_only.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/panel_kernel.h"
#include "kernels/matmul/panel_layout.h"

namespace tenon {
namespace {

float ElementOf(DType dtype, const void* data, int64_t i) {
  switch (dtype) {
    case DType::kBfloat16:
      return static_cast<float>(static_cast<const bfloat16*>(data)[i]);
    case DType::kHalf:
      return static_cast<float>(static_cast<const half*>(data)[i]);
    case DType::kInt8:
      return static_cast<const int8_t*>(data)[i];
    case DType::kUint8:
      return static_cast<const uint8_t*>(data)[i];
    default:
      return static_cast<const float*>(data)[i];
  }
}

absl::StatusOr<WeightOnly> Describe(const PrepareContext& p) {
  const bool scaled = p.attrs().Int("num_scales", 0) > 0;
  return DescribeWeightOnly(p.attrs(), p.input_shape(1), scaled ? p.input_shape(2) : Shape());
}

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const PrepareContext& p, const WeightOnly& w, const FusedOps& fused)
      : w_(w),
        weights_type_(p.input_dtype(1)),
        scale_type_(w.scaled ? p.input_dtype(2) : DType::kFloat),
        fused_(p, fused, p.output_shape(0).rank() - 1),
        threads_(p.services().threads) {
    enum { kM, kN, kK };
    const Shape& a = p.input_shape(0);
    k_ = a[a.rank() - 1];
    const int64_t rows = k_ == 0 ? 0 : a.num_elements() / k_;
    product_.a = RowMajor({kM, kK}, Shape({rows, k_}));
    // A part of the stored rows may count.
    product_.b.dims.push_back({kK, k_, w.transposed ? 1 : w.columns});
    product_.b.dims.push_back({kN, w.columns, w.transposed ? w.rows : 1});
    product_.out = RowMajor({kM, kN}, Shape({rows, w.columns}));
  }

  absl::Status Run(RunContext& r) const override {
    std::vector<float> weights(static_cast<size_t>(w_.rows * w_.columns));
    ExpandWeights(w_, weights_type_, r.input(1), scale_type_, w_.scaled ? r.input(2) : nullptr,
                  w_.zeros ? r.input(3) : nullptr, weights.data());
    TENON_RETURN_IF_ERROR(RunProductReference(product_, DType::kFloat, DType::kFloat, DType::kFloat,
                                              r.input(0), weights.data(), r.output(0), threads_));
    fused_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  double Flops() const override { return product_.flops(); }

 private:
  const WeightOnly w_;
  const DType weights_type_, scale_type_;
  const FusedPass fused_;
  const int threads_;
  int64_t k_ = 0;
  LabeledProduct product_;
};

absl::StatusOr<PanelForm> FormOf(DType dtype, int bits) {
  if (bits == 4) return PanelForm::kNibbles;
  if (dtype == DType::kBfloat16) return PanelForm::kBfloat16;
  if (dtype == DType::kHalf) return PanelForm::kHalf;
  if (dtype == DType::kInt8) return PanelForm::kInt8;
  if (dtype == DType::kUint8) return PanelForm::kUint8;
  return Unimplemented("no panels of ", Name(dtype));
}

ScaleForm ScaleFormOf(DType dtype) {
  return dtype == DType::kBfloat16 ? ScaleForm::kBfloat16
         : dtype == DType::kHalf   ? ScaleForm::kHalf
                                   : ScaleForm::kFloat;
}

bool IsEmpty(const PrepareContext& p) {
  return p.output_shape(0).num_elements() == 0 || p.input_shape(0).num_elements() == 0;
}

}  // namespace

absl::StatusOr<WeightOnly> DescribeWeightOnly(const AttrReader& attrs, const Shape& weights,
                                              const Shape& scales) {
  WeightOnly w;
  w.bits = static_cast<int>(attrs.Int("bits", 8));
  w.transposed = attrs.Bool("transposed", false);
  w.scaled = attrs.Int("num_scales", 0) > 0;
  w.zeros = attrs.Int("num_zeros", 0) > 0;
  if (w.zeros && !w.scaled) return InvalidArgument("zeros without scales");
  if (weights.rank() != 2) return InvalidArgument("weights are a matrix, not ", weights.ToString());
  w.rows = weights[w.transposed ? 1 : 0] * (w.bits == 4 ? 2 : 1);
  w.columns = weights[w.transposed ? 0 : 1];
  w.group = attrs.Int("group", 0);
  if (w.group <= 0) w.group = std::max<int64_t>(w.rows, 1);
  if (w.bits == 4 && w.rows > 0 && (w.group % 2 != 0 || w.rows % w.group != 0)) {
    return InvalidArgument("groups of ", w.group, " of ", w.rows, " rows of 4-bit weights");
  }
  w.groups = (w.rows + w.group - 1) / w.group;
  const Shape expected = w.transposed ? Shape({w.columns, w.groups}) : Shape({w.groups, w.columns});
  if (w.scaled && scales != expected) {
    return InvalidArgument("scales have shape ", scales.ToString(), ", not ", expected.ToString());
  }
  return w;
}

void ExpandWeights(const WeightOnly& w, DType weights_type, const void* weights, DType scale_type,
                   const void* scales, const void* zeros, float* to) {
  const int64_t half = w.group / 2;
  for (int64_t k = 0; k < w.rows; ++k) {
    const int64_t g = k / w.group, in_group = k % w.group;
    for (int64_t n = 0; n < w.columns; ++n) {
      const int64_t at = w.transposed ? n * w.rows + k : k * w.columns + n;
      float x;
      if (w.bits == 4) {
        const bool high = in_group >= half;
        const int64_t row = g * half + in_group - (high ? half : 0);
        const int64_t byte = w.transposed ? n * (w.rows / 2) + row : row * w.columns + n;
        const uint8_t pair = static_cast<const uint8_t*>(weights)[byte];
        x = static_cast<float>((high ? pair >> 4 : pair & 15) - 8);
      } else {
        x = ElementOf(weights_type, weights, at);
      }
      const int64_t scale = w.transposed ? n * w.groups + g : g * w.columns + n;
      if (w.zeros) x -= ElementOf(scale_type, zeros, scale);
      if (w.scaled) x *= ElementOf(scale_type, scales, scale);
      to[at] = x;
    }
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> WeightOnlyReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const WeightOnly w, Describe(p));
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  if (IsEmpty(p)) return ZeroContraction(p, fused, p.output_shape(0).rank() - 1);
  return std::make_unique<ReferenceKernel>(p, w, fused);
}

absl::StatusOr<std::unique_ptr<Kernel>> WeightOnlyPanels(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const WeightOnly w, Describe(p));
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  if (IsEmpty(p)) return ZeroContraction(p, fused, p.output_shape(0).rank() - 1);
  const int parameters = 1 + (w.scaled ? 1 : 0) + (w.zeros ? 1 : 0);
  for (int i = 1; i <= parameters; ++i) {
    if (p.constant(i) == nullptr) return Unimplemented("weights that are not constant");
  }
  const PanelSizes sizes = FindPanelSizes();
  const Shape& a = p.input_shape(0);
  const int64_t k = a[a.rank() - 1];
  PanelProduct product;
  TENON_ASSIGN_OR_RETURN(product.form, FormOf(p.input_dtype(1), w.bits));
  product.m = static_cast<size_t>(a.num_elements() / k);
  product.n = static_cast<size_t>(w.columns);
  product.k = product.a_row = static_cast<size_t>(k);
  product.out_row = product.n;
  product.width = sizes.width;
  product.group = w.scaled ? static_cast<size_t>(w.group) : EqualTerms(product.k);
  if (w.scaled) product.scale = ScaleFormOf(p.input_dtype(2));
  product.zeros = w.zeros;
  const bool nibbles = product.form == PanelForm::kNibbles;
  if ((k + w.group - 1) / w.group != w.groups) return Unimplemented("groups that are not used");
  if (nibbles && !w.scaled) return Unimplemented("4-bit weights without scales");
  if (nibbles && w.groups > 1 && product.group % sizes.nibble_rows != 0) {
    return Unimplemented("groups of ", w.group, " 4-bit weights");
  }

  const int threads = p.services().threads;
  PanelMatrix matrix{static_cast<size_t>(w.rows), product.n, w.transposed, product.width};
  const auto layout = nibbles ? NibblePanels(matrix, product.group, sizes.nibble_rows, threads)
                              : ElementPanels(matrix, SizeOf(p.input_dtype(1)), threads);
  product.panel_bytes = layout->bytes() / ((product.n + product.width - 1) / product.width);
  matrix.rows = static_cast<size_t>(w.groups);
  PanelWeights packed;
  TENON_ASSIGN_OR_RETURN(packed.weights, PackConstant(*p.constant(1), layout));
  for (int i = 2; i <= parameters; ++i) {
    auto& to = i == 2 ? packed.scales : packed.zeros;
    TENON_ASSIGN_OR_RETURN(
        to, PackConstant(*p.constant(i), ElementPanels(matrix, SizeOf(p.input_dtype(i)), threads)));
  }
  auto kernel = PanelKernel(p, product, std::move(packed), fused);
  if (!kernel.ok()) return kernel;
  for (int i = 1; i <= parameters; ++i) p.InputNotRead(i);
  return kernel;
}

}  // namespace tenon

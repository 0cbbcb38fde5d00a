// QuantizedMatMul and, with a bias and what follows it, QuantizedMatMulWithBias…: [m, k] x [k, n],
// each side transposed on request.
#include <vector>

#include "ops/op.h"
#include "ops/parallel.h"
#include "ops/quant/quantized_fusion.h"
#include "ops/quant/quantized_types.h"
#include "ops/quant/range_inputs.h"
#include "ops/types.h"

namespace tenon {
namespace {

using Result = QuantizedFusion::Result;

// One side of the product: `outer` rows (or columns) of `inner` terms.
struct Side {
  int64_t outer = 0, inner = 0;
  int64_t outer_stride = 0, inner_stride = 0;
};

// `inner_first`: the matrix has its terms in dimension 0.
absl::StatusOr<Side> SideOf(const Shape& s, bool inner_first) {
  const int64_t rows = s.has_rank() ? s[0] : -1, columns = s.has_rank() ? s[1] : -1;
  if (inner_first) return Side{columns, rows, 1, columns};
  return Side{rows, columns, columns, 1};
}

absl::Status ProductShape(ShapeContext& c, Shape& product) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  TENON_ASSIGN_OR_RETURN(const Side a, SideOf(c.input(0), c.attrs().Bool("transpose_a", false)));
  TENON_ASSIGN_OR_RETURN(const Side b, SideOf(c.input(1), !c.attrs().Bool("transpose_b", false)));
  if (a.inner >= 0 && b.inner >= 0 && a.inner != b.inner) {
    return InvalidArgument("cannot multiply ", c.input(0).ToString(), " and ",
                           c.input(1).ToString());
  }
  product = Shape({a.outer, b.outer});
  return absl::OkStatus();
}

// sums[m, n] of (a - a_zero) (b - b_zero).
template <typename A, typename B>
void Sums(const Side& a, const A* x, int32_t x_zero, const Side& b, const B* y, int32_t y_zero,
          int threads, int32_t* sums) {
  const double ns = static_cast<double>(a.inner * b.outer);
  ParallelFor(threads, a.outer, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int32_t* row = sums + i * b.outer;
      std::fill_n(row, b.outer, 0);
      for (int64_t k = 0; k < a.inner; ++k) {
        const int32_t left = int32_t{x[i * a.outer_stride + k * a.inner_stride]} - x_zero;
        const B* right = y + k * b.inner_stride;
        for (int64_t j = 0; j < b.outer; ++j) {
          row[j] = WrapAdd(row[j], WrapMul(left, int32_t{right[j * b.outer_stride]} - y_zero));
        }
      }
    }
  });
}

struct Sides {
  Side a, b;
};
absl::StatusOr<Sides> SidesOf(const PrepareContext& p) {
  Sides s;
  TENON_ASSIGN_OR_RETURN(s.a, SideOf(p.input_shape(0), p.attrs().Bool("transpose_a", false)));
  TENON_ASSIGN_OR_RETURN(s.b, SideOf(p.input_shape(1), !p.attrs().Bool("transpose_b", false)));
  return s;
}

// ---- QuantizedMatMul: both sides unsigned, with zero points ----

absl::Status PlainShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3, 4, 5}));
  Shape product;
  TENON_RETURN_IF_ERROR(ProductShape(c, product));
  c.set_output(0, std::move(product));
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Plain(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Sides s, SidesOf(p));
  const int threads = p.services().threads;
  return MakeKernel([s, threads](RunContext& r) -> absl::Status {
    const FloatRange a = ScalarRange(r, 2), b = ScalarRange(r, 4);
    if (!(a.max > a.min)) return InvalidArgument("max_a must be above min_a");
    if (!(b.max > b.min)) return InvalidArgument("max_b must be above min_b");
    Sums(s.a, r.input<uint8_t>(0), static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0, a)), s.b,
         r.input<uint8_t>(1), static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0, b)), threads,
         r.output<int32_t>(0));
    SetRange(r, 1, ProductRange<uint8_t, uint8_t>(a, b));
    return absl::OkStatus();
  });
}

// ---- with bias: signed weights around 0 ----

constexpr QuantizedFusion kBias{.bias = true};
constexpr QuantizedFusion kBiasRelu{.bias = true, .relu = true};
constexpr QuantizedFusion kBiasRequantize{.bias = true, .result = Result::kRequantized};
constexpr QuantizedFusion kBiasReluRequantize{
    .bias = true, .relu = true, .result = Result::kRequantized};
constexpr QuantizedFusion kBiasDequantize{.bias = true, .result = Result::kDequantized};

absl::StatusOr<bool> MinFirst(const AttrReader& attrs) {
  const std::string mode = attrs.String("input_quant_mode", "MIN_FIRST");
  if (mode != "MIN_FIRST" && mode != "SCALED") {
    return InvalidArgument("input_quant_mode must be MIN_FIRST or SCALED, is ", mode);
  }
  return mode == "MIN_FIRST";
}

template <const QuantizedFusion& kFusion>
absl::Status FusedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(MinFirst(c.attrs()).status());
  Shape product;
  TENON_RETURN_IF_ERROR(ProductShape(c, product));
  const int weights_range = InputsOf(kFusion).weights_range;
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {weights_range, weights_range + 1}));
  return QuantizedFusionShape(c, kFusion, std::move(product));
}

class FusedKernel final : public Kernel {
 public:
  FusedKernel(PrepareContext& p, const QuantizedFusion& fusion, const Sides& s, bool min_first)
      : fusion_(fusion), s_(s), values_(FusionValuesOf(p, fusion)), threads_(p.services().threads) {
    values_.min_first = min_first;
  }
  absl::Status Run(RunContext& r) const override {
    const QuantizedInputs in = InputsOf(fusion_);
    FusionValues v = values_;
    GatherRanges(
        fusion_, [&r](int i) { return r.input<float>(i); }, v);
    v.bias = r.input(in.bias);
    const int8_t* weights = r.input<int8_t>(1);
    std::vector<int32_t> column_sums(static_cast<size_t>(s_.b.outer), 0);
    for (int64_t j = 0; j < s_.b.outer; ++j) {
      for (int64_t k = 0; k < s_.b.inner; ++k) {
        column_sums[static_cast<size_t>(j)] +=
            weights[j * s_.b.outer_stride + k * s_.b.inner_stride];
      }
    }
    v.weight_sums = column_sums.data();
    std::vector<int32_t> sums(static_cast<size_t>(s_.a.outer * s_.b.outer));
    if (v.data_dtype == DType::kQuint8) {
      Sums(s_.a, r.input<uint8_t>(0), 0, s_.b, weights, 0, threads_, sums.data());
    } else {
      Sums(s_.a, r.input<int8_t>(0), 0, s_.b, weights, 0, threads_, sums.data());
    }
    ApplyEpilogue(fusion_, v, MakeEpilogue(fusion_, v), sums.data(), nullptr, s_.a.outer,
                  r.output(0));
    if (fusion_.result != Result::kDequantized) SetRange(r, 1, ResultRanges(fusion_, v)[0]);
    return absl::OkStatus();
  }

 private:
  const QuantizedFusion fusion_;
  const Sides s_;
  FusionValues values_;
  const int threads_;
};

template <const QuantizedFusion& kFusion>
absl::StatusOr<std::unique_ptr<Kernel>> Fused(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Sides s, SidesOf(p));
  TENON_ASSIGN_OR_RETURN(const bool min_first, MinFirst(p.attrs()));
  return std::make_unique<FusedKernel>(p, kFusion, s, min_first);
}

constexpr char kInputs[] =
    "a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float";
constexpr char kFrozenInputs[] =
    "a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, "
    "min_freezed_output: float, max_freezed_output: float";
constexpr char kOutputs[] = "out: Toutput, min_out: float, max_out: float";
constexpr char kFrozenAttrs[] =
    "T1: type; T2: type; Tbias: type; Toutput: type = quint8; transpose_a: bool = false; "
    "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST";
constexpr char kFrozenTypes[] =
    "T1: quint8 qint8; T2: qint8; Tbias: float qint32; Toutput: quint8 qint8";

const OpRegistration plain({
    .name = "QuantizedMatMul",
    .inputs = "a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float",
    .outputs = kOutputs,
    .attrs = "T1: type; T2: type; Toutput: type = qint32; transpose_a: bool = false; "
             "transpose_b: bool = false; Tactivation: type = quint8",
    .types = "T1: quint8; T2: quint8; Toutput: qint32",
    .shape = PlainShape,
    .reference = Plain,
});
const OpRegistration bias({
    .name = "QuantizedMatMulWithBias",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = "T1: type; T2: type; Tbias: type; Toutput: type = qint32; transpose_a: bool = false; "
             "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST",
    .types = "T1: quint8 qint8; T2: qint8; Tbias: float qint32; Toutput: qint32",
    .shape = FusedShape<kBias>,
    .reference = Fused<kBias>,
});
const OpRegistration bias_relu({
    .name = "QuantizedMatMulWithBiasAndRelu",
    .inputs = "a: T1, b: T2, bias: float, min_a: float, max_a: float, min_b: float, max_b: float",
    .outputs = kOutputs,
    .attrs = "T1: type; T2: type; Toutput: type = qint32; transpose_a: bool = false; "
             "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST",
    .types = "T1: quint8 qint8; T2: qint8; Toutput: qint32",
    .shape = FusedShape<kBiasRelu>,
    .reference = Fused<kBiasRelu>,
});
const OpRegistration bias_requantize({
    .name = "QuantizedMatMulWithBiasAndRequantize",
    .inputs = kFrozenInputs,
    .outputs = kOutputs,
    .attrs = kFrozenAttrs,
    .types = kFrozenTypes,
    .shape = FusedShape<kBiasRequantize>,
    .reference = Fused<kBiasRequantize>,
});
const OpRegistration bias_relu_requantize({
    .name = "QuantizedMatMulWithBiasAndReluAndRequantize",
    .inputs = kFrozenInputs,
    .outputs = kOutputs,
    .attrs = kFrozenAttrs,
    .types = kFrozenTypes,
    .shape = FusedShape<kBiasReluRequantize>,
    .reference = Fused<kBiasReluRequantize>,
});
const OpRegistration bias_dequantize({
    .name = "QuantizedMatMulWithBiasAndDequantize",
    .inputs = kFrozenInputs,
    .outputs = "out: Toutput",
    .attrs = "T1: type; T2: type; Tbias: type; Toutput: type; transpose_a: bool = false; "
             "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST",
    .types = "T1: quint8 qint8; T2: qint8; Tbias: float qint32; Toutput: float",
    .shape = FusedShape<kBiasDequantize>,
    .reference = Fused<kBiasDequantize>,
});

}  // namespace
}  // namespace tenon

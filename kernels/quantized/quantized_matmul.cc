#include "kernels/quantized/quantized_matmul.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/matmul/panel_kernel.h"
#include "kernels/quantized/exact_product.h"
#include "kernels/quantized/integer_product.h"
#include "kernels/quantized/quantized_onednn.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

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
        const int32_t left = WrapSub(int32_t{x[i * a.outer_stride + k * a.inner_stride]}, x_zero);
        const B* right = y + k * b.inner_stride;
        for (int64_t j = 0; j < b.outer; ++j) {
          row[j] =
              WrapAdd(row[j], WrapMul(left, WrapSub(int32_t{right[j * b.outer_stride]}, y_zero)));
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

std::vector<int32_t> ColumnSums(const Side& b, const int8_t* weights) {
  std::vector<int32_t> sums(static_cast<size_t>(b.outer), 0);
  for (int64_t j = 0; j < b.outer; ++j) {
    for (int64_t k = 0; k < b.inner; ++k) {
      sums[static_cast<size_t>(j)] += weights[j * b.outer_stride + k * b.inner_stride];
    }
  }
  return sums;
}

// The reference kernel; with `exact`, the same by float products.
class FusedKernel final : public Kernel {
 public:
  FusedKernel(PrepareContext& p, const QuantizedFusion& fusion, const Sides& s, bool min_first,
              std::optional<ExactProduct> exact)
      : fusion_(fusion),
        s_(s),
        values_(FusionValuesOf(p, fusion)),
        threads_(p.services().threads),
        exact_(std::move(exact)) {
    if (exact_) p.RequestScratch(weights_bytes() + exact_->scratch_bytes());
    values_.min_first = min_first;
  }
  absl::Status Run(RunContext& r) const override {
    const QuantizedInputs in = InputsOf(fusion_);
    FusionValues v = values_;
    GatherRanges(
        fusion_, [&r](int i) { return r.input<float>(i); }, v);
    if (fusion_.bias) v.bias = r.input(in.bias);
    const int8_t* weights = r.input<int8_t>(1);
    const std::vector<int32_t> column_sums = ColumnSums(s_.b, weights);
    v.weight_sums = column_sums.data();
    std::vector<int32_t> sums(static_cast<size_t>(s_.a.outer * s_.b.outer));
    if (exact_.has_value()) {
      TENON_RETURN_IF_ERROR(RunExact(r, v.data_dtype, sums.data()));
    } else if (v.data_dtype == DType::kQuint8) {
      Sums(s_.a, r.input<uint8_t>(0), 0, s_.b, weights, 0, threads_, sums.data());
    } else {
      Sums(s_.a, r.input<int8_t>(0), 0, s_.b, weights, 0, threads_, sums.data());
    }
    ApplyEpilogue(fusion_, v, MakeEpilogue(fusion_, v), sums.data(),
                  in.summand < 0 ? nullptr : r.input(in.summand), s_.a.outer, r.output(0));
    if (fusion_.result != QuantizedFusion::Result::kDequantized) {
      SetRanges(r, ResultRanges(fusion_, v));
    }
    return absl::OkStatus();
  }
  std::string Implementation() const override { return exact_ ? "float products" : "reference"; }

 private:
  size_t weights_bytes() const {
    return RoundUp(static_cast<size_t>(s_.b.inner * s_.b.outer) * sizeof(float), kCacheLine);
  }

  absl::Status RunExact(RunContext& r, DType dtype, int32_t* sums) const {
    const auto [a, b] = s_;
    char* const scratch = static_cast<char*>(r.scratch());
    float* const right = reinterpret_cast<float*>(scratch);
    const int8_t* const weights = r.input<int8_t>(1);
    for (int64_t k = 0; k < b.inner; ++k) {
      for (int64_t j = 0; j < b.outer; ++j) {
        right[k * b.outer + j] = weights[j * b.outer_stride + k * b.inner_stride];
      }
    }
    const auto* data = r.input<uint8_t>(0);
    auto fill = [&, a = a](int64_t begin, int64_t end, float* left) {
      for (int64_t i = begin; i < end; ++i, left += a.inner) {
        const uint8_t* const row = data + i * a.outer_stride;
        if (a.inner_stride == 1) {
          ToFloats(dtype, row, a.inner, left);
          continue;
        }
        for (int64_t k = 0; k < a.inner; ++k) {
          ToFloats(dtype, row + k * a.inner_stride, 1, left + k);
        }
      }
    };
    return exact_->Run(fill, right, sums, scratch + weights_bytes());
  }

  const QuantizedFusion fusion_;
  const Sides s_;
  FusionValues values_;
  const int threads_;
  const std::optional<ExactProduct> exact_;
};

// A product as a convolution of one row of m pixels with 1x1 filters.
ConvolutionProblem AsConvolution(const Sides& s, int threads) {
  const int64_t m = s.a.outer, k = s.a.inner, n = s.b.outer;
  ConvolutionProblem problem;
  problem.src = {
      ElementType::kU8, {1, k, 1, m}, {m * k, s.a.inner_stride, m * k, s.a.outer_stride}};
  problem.weights = {
      ElementType::kS8, {n, k, 1, 1}, {s.b.outer_stride, s.b.inner_stride, k * n, k * n}};
  problem.dst = {ElementType::kS32, {1, n, 1, m}, {m * n, 1, m * n, n}};
  problem.strides = problem.dilations = {1, 1};
  problem.pads_begin = problem.pads_end = {0, 0};
  problem.threads = threads;
  return problem;
}

}  // namespace

absl::StatusOr<bool> MinFirst(const AttrReader& attrs) {
  const std::string mode = attrs.String("input_quant_mode", "MIN_FIRST");
  if (mode != "MIN_FIRST" && mode != "SCALED") {
    return InvalidArgument("input_quant_mode must be MIN_FIRST or SCALED, is ", mode);
  }
  return mode == "MIN_FIRST";
}

absl::StatusOr<std::unique_ptr<Kernel>> UnsignedMatMulReference(PrepareContext& p) {
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

namespace {

// to[outer, inner] = x - zero as floats, or [inner, outer].
void SideAsFloats(const Side& side, const uint8_t* x, int32_t zero, bool inner_first, float* to) {
  const int64_t rows = inner_first ? side.inner : side.outer;
  const int64_t columns = inner_first ? side.outer : side.inner;
  const int64_t row_stride = inner_first ? side.inner_stride : side.outer_stride;
  const int64_t stride = inner_first ? side.outer_stride : side.inner_stride;
  for (int64_t i = 0; i < rows; ++i, to += columns) {
    const uint8_t* const row = x + i * row_stride;
    if (stride == 1) {
      for (int64_t j = 0; j < columns; ++j) to[j] = static_cast<float>(row[j] - zero);
    } else {
      for (int64_t j = 0; j < columns; ++j) to[j] = static_cast<float>(row[j * stride] - zero);
    }
  }
}

// The sums of the outer dimension's terms, minus `zero` each, times `factor`.
std::vector<int32_t> ScaledSums(const Side& side, const uint8_t* x, int32_t zero, int32_t factor) {
  std::vector<int32_t> sums(static_cast<size_t>(side.outer), 0);
  for (int64_t j = 0; j < side.outer; ++j) {
    int32_t sum = 0;
    for (int64_t k = 0; k < side.inner; ++k) {
      sum = WrapAdd(sum, x[j * side.outer_stride + k * side.inner_stride] - zero);
    }
    sums[static_cast<size_t>(j)] = WrapMul(sum, factor);
  }
  return sums;
}

}  // namespace

// Exact float products of a and b - 128, which fits 8 signed bits:
// (a - z) (b - y) = a (b - 128) + a (128 - y) - z (b - 128) - z (128 - y).
absl::StatusOr<std::unique_ptr<Kernel>> UnsignedMatMulVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Sides s, SidesOf(p));
  TENON_ASSIGN_OR_RETURN(ExactProduct exact,
                         ExactProduct::Make(s.a.outer, s.a.inner, s.b.outer, p.services()));
  const size_t right_bytes =
      RoundUp(static_cast<size_t>(s.b.inner * s.b.outer) * sizeof(float), kCacheLine);
  p.RequestScratch(right_bytes + exact.scratch_bytes());
  return MakeKernel(
      [s, right_bytes, exact = std::move(exact)](RunContext& r) -> absl::Status {
        const FloatRange a = ScalarRange(r, 2), b = ScalarRange(r, 4);
        if (!(a.max > a.min)) return InvalidArgument("max_a must be above min_a");
        if (!(b.max > b.min)) return InvalidArgument("max_b must be above min_b");
        constexpr int32_t kMiddle = 128;
        const auto a_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0, a));
        const auto b_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0, b));
        const auto* const x = r.input<uint8_t>(0);
        const auto* const y = r.input<uint8_t>(1);
        char* const scratch = static_cast<char*>(r.scratch());
        float* const right = reinterpret_cast<float*>(scratch);
        SideAsFloats(s.b, y, kMiddle, /*inner_first=*/true, right);
        auto fill = [&](int64_t begin, int64_t end, float* left) {
          Side rows = s.a;
          rows.outer = end - begin;
          SideAsFloats(rows, x + begin * s.a.outer_stride, 0, /*inner_first=*/false, left);
        };
        int32_t* const sums = r.output<int32_t>(0);
        TENON_RETURN_IF_ERROR(exact.Run(fill, right, sums, scratch + right_bytes));
        const int32_t rest = WrapSub(kMiddle, b_zero);
        const std::vector<int32_t> of_rows = ScaledSums(s.a, x, 0, rest);
        std::vector<int32_t> of_columns = ScaledSums(s.b, y, kMiddle, WrapSub(0, a_zero));
        const int32_t both =
            WrapMul(WrapMul(static_cast<int32_t>(s.a.inner), WrapSub(0, a_zero)), rest);
        for (int32_t& v : of_columns) v = WrapAdd(v, both);
        for (int64_t i = 0; i < s.a.outer; ++i) {
          int32_t* const row = sums + i * s.b.outer;
          const int32_t of_row = of_rows[static_cast<size_t>(i)];
          for (int64_t j = 0; j < s.b.outer; ++j) {
            row[j] = WrapAdd(row[j], WrapAdd(of_row, of_columns[static_cast<size_t>(j)]));
          }
        }
        SetRange(r, 1, ProductRange<uint8_t, uint8_t>(a, b));
        return absl::OkStatus();
      },
      "float products");
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMatMulReference(PrepareContext& p,
                                                                 const QuantizedFusion& fusion) {
  TENON_ASSIGN_OR_RETURN(const Sides s, SidesOf(p));
  TENON_ASSIGN_OR_RETURN(const bool min_first, MinFirst(p.attrs()));
  return std::make_unique<FusedKernel>(p, fusion, s, min_first, std::nullopt);
}

namespace {

absl::StatusOr<std::unique_ptr<Kernel>> OnIntegers(PrepareContext& p, const QuantizedFusion& fusion,
                                                   const Sides& s) {
  TENON_ASSIGN_OR_RETURN(const bool min_first, MinFirst(p.attrs()));
  if (s.a.inner_stride != 1) return Unimplemented("a transposed left side");
  const double flops = 2.0 * static_cast<double>(s.a.outer) * static_cast<double>(s.a.inner) *
                       static_cast<double>(s.b.outer);
  std::vector<int32_t> weight_sums;
  if (min_first && fusion.bias && p.input_dtype(InputsOf(fusion).bias) == DType::kFloat) {
    Constant* weights = p.constant(1);
    if (weights == nullptr) return Unimplemented("weights that change, and a zero point");
    TENON_ASSIGN_OR_RETURN(const Tensor plain, weights->Plain());
    weight_sums = ColumnSums(s.b, plain.data<int8_t>());
  }
  // With VNNI, oneDNN's product of many rows is 4 to 9 % faster (BERT with 128 tokens, Zen 4).
  if (!HasExactInt8() || fusion.swish || s.a.outer <= kFewRows) {
    IntegerProduct product;
    product.fusion = fusion;
    product.matrix.terms = static_cast<size_t>(s.b.inner);
    product.matrix.columns = static_cast<size_t>(s.b.outer);
    product.matrix.term_stride = static_cast<size_t>(s.b.inner_stride);
    product.matrix.column_stride = static_cast<size_t>(s.b.outer_stride);
    product.rows = static_cast<size_t>(s.a.outer);
    product.flops = flops;
    product.min_first = min_first;
    product.weight_sums = weight_sums;
    auto own = PrepareIntegerProduct(p, std::move(product));
    if (own.ok() || !absl::IsUnimplemented(own.status())) return own;
  }
  QuantizedContraction c;
  c.fusion = fusion;
  c.problem = AsConvolution(s, p.services().threads);
  c.flops = flops;
  c.min_first = min_first;
  c.weight_sums = std::move(weight_sums);
  return PrepareQuantizedContraction(p, std::move(c));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMatMulOnednn(PrepareContext& p,
                                                              const QuantizedFusion& fusion) {
  TENON_ASSIGN_OR_RETURN(const Sides s, SidesOf(p));
  auto kernel = OnIntegers(p, fusion, s);
  if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  TENON_ASSIGN_OR_RETURN(const bool min_first, MinFirst(p.attrs()));
  TENON_ASSIGN_OR_RETURN(ExactProduct exact,
                         ExactProduct::Make(s.a.outer, s.a.inner, s.b.outer, p.services()));
  return std::make_unique<FusedKernel>(p, fusion, s, min_first, std::move(exact));
}

}  // namespace tenon

#include "kernels/quantized/uniform_products.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "env/status.h"
#include "kernels/quantized/range_inputs.h"
#include "kernels/quantized/uniform_math.h"
#include "kernels/xla/conv_loops.h"

namespace tenon {
namespace {

constexpr int64_t kMostPadding = int64_t{1} << 30;  // so that sizes do not overflow

int64_t SizeAt(const Shape& shape, int64_t dim) { return shape.dim(static_cast<int>(dim)); }

int64_t DilatedSize(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

ConvNumbers DefaultNumbers(int rank) {
  ConvNumbers n;
  for (ConvNumbers::Layout* layout : {&n.input, &n.kernel, &n.output}) {
    layout->batch = 0;
    layout->feature = 1;
    for (int i = 2; i < rank; ++i) layout->spatial.push_back(i);
  }
  return n;
}

// An attribute with a number for each spatial dimension; none: all are 1.
absl::StatusOr<DimList> PerDimension(const AttrReader& attrs, const char* name, size_t rank) {
  TENON_ASSIGN_OR_RETURN(DimList values, attrs.Ints(name));
  if (values.empty()) values.assign(rank, 1);
  if (values.size() != rank) {
    return InvalidArgument(name, " must have ", rank, " elements, has ", values.size());
  }
  for (int64_t v : values) {
    if (v < 1 || v > kMostPadding) return InvalidArgument(name, " has an element of ", v);
  }
  return values;
}

absl::Status SetPadding(const AttrReader& attrs, const Shape& lhs, const Shape& rhs,
                        ConvSpec& spec) {
  TENON_ASSIGN_OR_RETURN(const std::string padding, attrs.String("padding"));
  TENON_ASSIGN_OR_RETURN(const DimList sizes, attrs.Ints("explicit_padding"));
  if (padding == "EXPLICIT") {
    if (sizes.size() != 2 * spec.windows.size()) {
      return InvalidArgument("explicit_padding must have ", 2 * spec.windows.size(),
                             " elements, has ", sizes.size());
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 0 || sizes[i] > kMostPadding) {
        return InvalidArgument("explicit_padding has an element of ", sizes[i]);
      }
      (i % 2 == 0 ? spec.windows[i / 2].low : spec.windows[i / 2].high) = sizes[i];
    }
    return absl::OkStatus();
  }
  if (padding != "SAME" && padding != "VALID") {
    return InvalidArgument("padding must be EXPLICIT, SAME or VALID, is ", padding);
  }
  if (!sizes.empty()) {
    return InvalidArgument("explicit_padding must be empty with padding ", padding);
  }
  for (size_t i = 0; padding == "SAME" && i < spec.windows.size(); ++i) {
    ConvWindow& w = spec.windows[i];
    const int64_t in = SizeAt(lhs, spec.numbers.input.spatial[i]);
    const int64_t kernel = SizeAt(rhs, spec.numbers.kernel.spatial[i]);
    if (in < 0 || kernel < 0) continue;
    if (in > kMostPadding || kernel > kMostPadding) {
      return InvalidArgument("a window that is too large");
    }
    const int64_t from = DilatedSize(in, w.lhs_dilation);
    const int64_t positions = (from + w.stride - 1) / w.stride;
    const int64_t span = (positions - 1) * w.stride + DilatedSize(kernel, w.rhs_dilation);
    const int64_t missing = std::max<int64_t>(0, span - from);
    w.low = missing / 2;
    w.high = missing - w.low;
  }
  return absl::OkStatus();
}

// Scales and zero points of rhs, one for all or one for each feature.
struct Weights {
  Slices slices;  // along the features
  bool vector = false;
  int scales = 0;  // the input

  float Scale(const RunContext& r, int64_t feature) const {
    return r.input<float>(scales)[vector ? feature : 0];
  }
  absl::Status Check(const RunContext& r) const {
    return ExpectPositive(
        absl::MakeConstSpan(r.input<float>(scales), static_cast<size_t>(vector ? slices.count : 1)),
        "rhs_scales");
  }
  // rhs without its zero points.
  std::vector<uint32_t> Centered(const RunContext& r) const {
    const int8_t* const x = r.input<int8_t>(1);
    const int32_t* const zeros = r.input<int32_t>(scales + 1);
    std::vector<uint32_t> y(static_cast<size_t>(slices.outer * slices.count * slices.inner));
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t feature = static_cast<int64_t>(i) / slices.inner % slices.count;
      y[i] = static_cast<uint32_t>(WrapSub(int32_t{x[i]}, zeros[vector ? feature : 0]));
    }
    return y;
  }
};

// The slices of lhs along its rows (or images), quantized to [-128, 127] and without their zero
// points; sets each one's scale.
std::vector<uint32_t> QuantizeRows(const Slices& s, const float* x, std::vector<float>& scales) {
  constexpr double kLow = -128, kHigh = 127;
  std::vector<uint32_t> y(static_cast<size_t>(s.outer * s.count * s.inner), 0);
  scales.assign(static_cast<size_t>(s.count), 1.0f);
  for (int64_t k = 0; k < s.count; ++k) {
    const auto for_each = [&](const auto& visit) {
      for (int64_t o = 0; o < s.outer; ++o) {
        const int64_t first = (o * s.count + k) * s.inner;
        for (int64_t i = first; i < first + s.inner; ++i) visit(i);
      }
    };
    float least = 0, most = 0;
    for_each([&](int64_t i) {
      least = std::min(least, x[i]);
      most = std::max(most, x[i]);
    });
    const double min = least, max = most;
    const float scale = static_cast<float>((max - min) / (kHigh - kLow));
    const float inverse = max == min ? 0.0f : static_cast<float>((kHigh - kLow) / (max - min));
    if (scale == 0 || !std::isfinite(inverse)) continue;
    // The zero point of the end of the range that has the smaller error.
    const double from_min = kLow - min / scale, from_max = kHigh - max / scale;
    const double min_error = std::fabs(kLow) + std::fabs(min / scale);
    const double max_error = std::fabs(kHigh) + std::fabs(max / scale);
    const double zero =
        std::round(std::clamp(min_error < max_error ? from_min : from_max, kLow, kHigh));
    const int32_t zero_point = std::isnan(zero) ? 0 : static_cast<int32_t>(zero);
    scales[static_cast<size_t>(k)] = scale;
    for_each([&](int64_t i) {
      const int32_t q = std::clamp(QuantizeUniformly(x[i], inverse, zero_point),
                                   static_cast<int32_t>(kLow), static_cast<int32_t>(kHigh));
      y[static_cast<size_t>(i)] = static_cast<uint32_t>(q - zero_point);
    });
  }
  return y;
}

// Sums of products become quantized results, by feature.
struct Requantizer {
  IntegerRange range;
  std::vector<FixedPointFactor> factors;
  const int32_t* zeros = nullptr;
  bool vector = false;

  static absl::StatusOr<Requantizer> Of(const RunContext& r, const IntegerRange& range,
                                        const Weights& weights, bool vector) {
    const size_t features = static_cast<size_t>(weights.slices.count);
    TENON_RETURN_IF_ERROR(ExpectPositive(absl::MakeConstSpan(r.input<float>(2), 1), "lhs_scales"));
    TENON_RETURN_IF_ERROR(weights.Check(r));
    TENON_RETURN_IF_ERROR(ExpectPositive(
        absl::MakeConstSpan(r.input<float>(6), vector ? features : 1), "output_scales"));
    Requantizer result{range, {}, r.input<int32_t>(7), vector};
    // A scale of rhs for all features must do even where there are none.
    for (size_t f = 0; f < (weights.vector ? features : std::max<size_t>(features, 1)); ++f) {
      const double scale = static_cast<double>(r.input<float>(2)[0]) *
                           weights.Scale(r, static_cast<int64_t>(f)) /
                           r.input<float>(6)[vector ? f : 0];
      TENON_ASSIGN_OR_RETURN(const FixedPointFactor factor, FixedPointFactor::Of(scale));
      result.factors.push_back(factor);
    }
    return result;
  }
  int32_t operator()(uint32_t sum, int64_t, int64_t feature) const {
    const int32_t scaled = factors[static_cast<size_t>(feature)](static_cast<int32_t>(sum));
    return range.Clamp(WrapAdd(scaled, zeros[vector ? feature : 0]));
  }
};

// lhs, which has one scale, without its zero point.
std::vector<uint32_t> CenteredLhs(const RunContext& r, int64_t count) {
  const int8_t* const x = r.input<int8_t>(0);
  const int32_t zero = r.input<int32_t>(3)[0];
  std::vector<uint32_t> y(static_cast<size_t>(count));
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<uint32_t>(WrapSub(int32_t{x[i]}, zero));
  }
  return y;
}

// Runs a product of quantized operands. `multiply(run, lhs, rhs, y, finish)` is the loop.
template <typename Multiply>
absl::StatusOr<std::unique_ptr<Kernel>> MakeQuantized(PrepareContext& p, const Weights& weights,
                                                      const Multiply& multiply) {
  TENON_ASSIGN_OR_RETURN(const IntegerRange range, IntegerRange::Of(p.attrs(), "output_"));
  const bool vector = p.input_shape(6).rank() > 0;
  const int64_t count = p.input_shape(0).num_elements();
  return MakeKernel([=](RunContext& r) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Requantizer finish, Requantizer::Of(r, range, weights, vector));
    multiply(CenteredLhs(r, count), weights.Centered(r), r.output<int32_t>(0), finish);
    return absl::OkStatus();
  });
}

template <typename Multiply>
absl::StatusOr<std::unique_ptr<Kernel>> MakeHybrid(const Weights& weights, const Slices& rows,
                                                   const Multiply& multiply) {
  return MakeKernel([=](RunContext& r) -> absl::Status {
    TENON_RETURN_IF_ERROR(weights.Check(r));
    std::vector<float> scales;
    const std::vector<uint32_t> x = QuantizeRows(rows, r.input<float>(0), scales);
    multiply(x, weights.Centered(r), r.output<float>(0),
             [&](uint32_t sum, int64_t row, int64_t feature) {
               return static_cast<float>(static_cast<int32_t>(sum)) *
                      scales[static_cast<size_t>(row)] * weights.Scale(r, feature);
             });
    return absl::OkStatus();
  });
}

Weights WeightsOf(const PrepareContext& p, int64_t feature_dim, int scales) {
  return {SlicesOf(p.input_shape(1), feature_dim), p.input_shape(scales).rank() > 0, scales};
}

auto DotLoop(const PrepareContext& p) {
  const int64_t rows = p.input_shape(0).dim(0), depth = p.input_shape(0).dim(1);
  const int64_t features = p.input_shape(1).dim(1);
  const double cost = static_cast<double>(depth + 4) * static_cast<double>(features + 1);
  const int threads = p.services().threads;
  return [=](const std::vector<uint32_t>& x, const std::vector<uint32_t>& w, auto* y,
             const auto& finish) {
    ParallelFor(threads, rows, ParallelGrain(cost), [&](int64_t begin, int64_t end) {
      std::vector<uint32_t> sums(static_cast<size_t>(features));
      for (int64_t row = begin; row < end; ++row) {
        std::fill(sums.begin(), sums.end(), 0);
        for (int64_t d = 0; d < depth; ++d) {
          const uint32_t a = x[static_cast<size_t>(row * depth + d)];
          const uint32_t* const b = w.data() + d * features;
          for (size_t f = 0; f < sums.size(); ++f) sums[f] += a * b[f];
        }
        for (int64_t f = 0; f < features; ++f) {
          y[row * features + f] = finish(sums[static_cast<size_t>(f)], row, f);
        }
      }
    });
  };
}

auto ConvLoop(const PrepareContext& p, const ConvSpec& spec) {
  const Shape& out = p.output_shape(0);
  const bool empty = out.num_elements() == 0;
  const int threads = p.services().threads;
  return [=, loops = MakeConvLoops(spec, p.input_shape(0), p.input_shape(1), out)](
             const std::vector<uint32_t>& x, const std::vector<uint32_t>& w, auto* y,
             const auto& finish) {
    if (!empty) RunConvLoops(loops, x.data(), w.data(), y, threads, finish);
  };
}

}  // namespace

absl::StatusOr<ConvSpec> UniformConvSpec(const AttrReader& attrs, const Shape& lhs,
                                         const Shape& rhs) {
  if (lhs.rank() != rhs.rank() || lhs.rank() < 3) {
    return InvalidArgument("lhs and rhs must have the same rank, at least 3, have shapes ",
                           lhs.ToString(), " and ", rhs.ToString());
  }
  ConvSpec spec;
  TENON_ASSIGN_OR_RETURN(const std::string bytes, attrs.String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(spec.numbers, ParseUniformConvNumbers(bytes));
  if (spec.numbers.input.spatial.empty()) spec.numbers = DefaultNumbers(lhs.rank());
  for (const ConvNumbers::Layout& layout :
       {spec.numbers.input, spec.numbers.kernel, spec.numbers.output}) {
    if (!layout.Covers(lhs.rank())) {
      return InvalidArgument("dimension numbers that do not fit operands of shapes ",
                             lhs.ToString(), " and ", rhs.ToString());
    }
  }
  spec.feature_groups = attrs.Int("feature_group_count", 1);
  spec.batch_groups = attrs.Int("batch_group_count", 1);
  if (spec.feature_groups < 1 || spec.batch_groups < 1) {
    return InvalidArgument(spec.feature_groups, " feature groups and ", spec.batch_groups,
                           " batch groups");
  }
  spec.windows.resize(spec.numbers.input.spatial.size());
  const size_t rank = spec.windows.size();
  TENON_ASSIGN_OR_RETURN(const DimList strides, PerDimension(attrs, "window_strides", rank));
  TENON_ASSIGN_OR_RETURN(const DimList l, PerDimension(attrs, "lhs_dilation", rank));
  TENON_ASSIGN_OR_RETURN(const DimList r, PerDimension(attrs, "rhs_dilation", rank));
  for (size_t i = 0; i < rank; ++i) spec.windows[i] = {strides[i], 0, 0, l[i], r[i]};
  TENON_RETURN_IF_ERROR(SetPadding(attrs, lhs, rhs, spec));
  return spec;
}

absl::StatusOr<Shape> UniformConvOutput(const ConvSpec& spec, const Shape& lhs, const Shape& rhs) {
  TENON_ASSIGN_OR_RETURN(Shape out, ConvOutput(spec, lhs, rhs));
  for (size_t i = 0; i < spec.windows.size(); ++i) {
    const ConvWindow& w = spec.windows[i];
    const int64_t in = SizeAt(lhs, spec.numbers.input.spatial[i]);
    const int64_t kernel = SizeAt(rhs, spec.numbers.kernel.spatial[i]);
    if (in < 0 || kernel < 0) continue;
    const int64_t span = DilatedSize(kernel, w.rhs_dilation);
    const int64_t padded = DilatedSize(in, w.lhs_dilation) + w.low + w.high;
    const int64_t positions = (padded - span + w.stride) / w.stride;
    if (positions < 0) {
      return InvalidArgument("a window of ", span, " elements does not fit ", padded);
    }
    out.set_dim(static_cast<int>(spec.numbers.output.spatial[i]), positions);
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformDotKernel(PrepareContext& p) {
  return MakeQuantized(p, WeightsOf(p, 1, 4), DotLoop(p));
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformDotHybridKernel(PrepareContext& p) {
  return MakeHybrid(WeightsOf(p, 1, 2), SlicesOf(p.input_shape(0), 0), DotLoop(p));
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformConvKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const ConvSpec spec,
                         UniformConvSpec(p.attrs(), p.input_shape(0), p.input_shape(1)));
  return MakeQuantized(p, WeightsOf(p, spec.numbers.kernel.batch, 4), ConvLoop(p, spec));
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformConvHybridKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const ConvSpec spec,
                         UniformConvSpec(p.attrs(), p.input_shape(0), p.input_shape(1)));
  return MakeHybrid(WeightsOf(p, spec.numbers.kernel.batch, 2),
                    SlicesOf(p.input_shape(0), spec.numbers.input.batch), ConvLoop(p, spec));
}

}  // namespace tenon

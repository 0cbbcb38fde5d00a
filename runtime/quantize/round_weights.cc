#include "runtime/quantize/round_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// w = (q - zero) * scale with low <= q <= high.
struct Grid {
  float scale = 1, zero = 0;
};
struct Levels {
  float low, high;
};

Levels LevelsOf(const RoundingOptions& o) {
  if (o.format == WeightFormat::kInt4) return {-8, 7};
  return o.zero_points ? Levels{-128, 127} : Levels{-127, 127};
}

float AsStored(float scale, DType dtype) {
  if (dtype == DType::kHalf) return static_cast<float>(half(scale));
  if (dtype == DType::kBfloat16) return static_cast<float>(bfloat16(scale));
  return scale;
}

float Rounded(float w, const Grid& g, const Levels& levels) {
  if (g.scale == 0) return g.zero;  // it will be rounded again, with wider scales
  return std::clamp(std::nearbyint(w / g.scale) + g.zero, levels.low, levels.high);
}

double SquaredError(const std::vector<float>& w, const Grid& g, const Levels& levels) {
  double sum = 0;
  for (const float x : w) {
    const double d = static_cast<double>((Rounded(x, g, levels) - g.zero) * g.scale - x);
    sum += d * d;
  }
  return sum;
}

// With few levels it pays to clip the largest weight a little, and to give it the end of the range
// that has one level more: the grid with the least squared error of some.
Grid Symmetric(const std::vector<float>& w, const Levels& levels, DType scales) {
  float low = 0, high = 0;
  for (const float x : w) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  const float top = std::max(high, -low);
  if (top == 0) return {};
  if (levels.high > 7) return {AsStored(top / levels.high, scales), 0};
  Grid best;
  double least = -1;
  const float sign = high > -low ? -1.0f : 1.0f;
  for (int i = 0; i < 8; ++i) {
    for (const float s : {1.0f, sign}) {
      const Grid g{s * AsStored(top / (6.5f + 0.25f * static_cast<float>(i)), scales), 0};
      const double error = SquaredError(w, g, levels);
      if (least >= 0 && error >= least) continue;
      least = error;
      best = g;
    }
  }
  return best;
}

Grid WithZeroPoint(const std::vector<float>& w, const Levels& levels, DType scales) {
  float low = 0, high = 0;  // 0 is represented exactly
  for (const float x : w) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (high == low) return {};
  const float scale = AsStored((high - low) / (levels.high - levels.low), scales);
  if (scale == 0) return {0, 0};
  const float zero = std::clamp(std::nearbyint(levels.low - low / scale), levels.low, levels.high);
  return {scale, zero};
}

// Positions in a matrix of weights and in what it becomes.
struct Layout {
  int64_t terms, columns, group, groups;
  bool transposed;

  int64_t matrix(int64_t k, int64_t n) const {
    return transposed ? n * terms + k : k * columns + n;
  }
  // Of the i-th of `rows` rows in group g.
  int64_t element(int64_t g, int64_t i, int64_t n, int64_t rows) const {
    return transposed ? (n * groups + g) * rows + i : (g * rows + i) * columns + n;
  }
  int64_t parameter(int64_t g, int64_t n) const {
    return transposed ? n * groups + g : g * columns + n;
  }
  Shape shape(int64_t rows) const {
    return transposed ? Shape({columns, groups, rows}) : Shape({groups, rows, columns});
  }
};

absl::StatusOr<RoundedWeights> ToBfloat16(const Tensor& matrix) {
  RoundedWeights out;
  TENON_ASSIGN_OR_RETURN(out.elements, Tensor::Allocate(DType::kBfloat16, matrix.shape()));
  const float* w = matrix.data<float>();
  bfloat16* to = out.elements.data<bfloat16>();
  for (int64_t i = 0; i < matrix.num_elements(); ++i) {
    to[i] = bfloat16(w[i]);
    const double d = static_cast<double>(static_cast<float>(to[i]) - w[i]);
    out.error.largest = std::max(out.error.largest, std::abs(d));
    out.error.squares += d * d;
    out.error.of_exact += static_cast<double>(w[i]) * static_cast<double>(w[i]);
  }
  return out;
}

// Whether halves hold the scales to 11 bits: none is infinite, and none is subnormal.
bool HoldsScales(const Tensor& scales) {
  if (scales.dtype() != DType::kHalf) return true;
  const auto all = scales.flat<half>();
  return std::all_of(all.begin(), all.end(), [](half s) {
    const float size = std::abs(static_cast<float>(s));
    return size >= 6.1035156e-5f && size <= 65504.0f;
  });
}

absl::StatusOr<RoundedWeights> Round(const Tensor& matrix, bool transposed,
                                     const RoundingOptions& options) {
  const bool nibbles = options.format == WeightFormat::kInt4;
  const Levels levels = LevelsOf(options);
  const DType scale_type = options.scales;
  Layout l;
  l.transposed = transposed;
  l.terms = matrix.shape()[transposed ? 1 : 0];
  l.columns = matrix.shape()[transposed ? 0 : 1];
  l.group = GroupSize(l.terms, options);
  l.groups = (l.terms + l.group - 1) / l.group;
  const int64_t rows = nibbles ? l.group / 2 : l.group;

  RoundedWeights out;
  TENON_ASSIGN_OR_RETURN(out.elements,
                         Tensor::Allocate(nibbles ? DType::kUint8 : DType::kInt8, l.shape(rows)));
  TENON_ASSIGN_OR_RETURN(out.scales, Tensor::Allocate(scale_type, l.shape(1)));
  if (options.zero_points) {
    TENON_ASSIGN_OR_RETURN(out.zeros,
                           Tensor::Allocate(nibbles ? DType::kUint8 : DType::kInt8, l.shape(1)));
  }
  const float* const w = matrix.data<float>();
  std::vector<RoundingError> errors(static_cast<size_t>(l.columns));
  const auto round_column = [&](int64_t n) {
    std::vector<float> in_group;
    RoundingError& error = errors[static_cast<size_t>(n)];
    for (int64_t g = 0; g < l.groups; ++g) {
      const int64_t first = g * l.group, count = std::min(l.group, l.terms - first);
      in_group.clear();
      for (int64_t i = 0; i < count; ++i) in_group.push_back(w[l.matrix(first + i, n)]);
      const Grid grid = options.zero_points ? WithZeroPoint(in_group, levels, scale_type)
                                            : Symmetric(in_group, levels, scale_type);
      const int64_t at = l.parameter(g, n);
      if (scale_type == DType::kHalf) {
        out.scales->data<half>()[at] = half(grid.scale);
      } else if (scale_type == DType::kBfloat16) {
        out.scales->data<bfloat16>()[at] = bfloat16(grid.scale);
      } else {
        out.scales->data<float>()[at] = grid.scale;
      }
      const int zero = static_cast<int>(grid.zero);
      if (out.zeros.has_value()) {
        static_cast<uint8_t*>(out.zeros->raw())[at] =
            static_cast<uint8_t>(nibbles ? zero + 8 : zero);
      }
      for (int64_t i = 0; i < l.group; ++i) {
        const float x = i < count ? in_group[static_cast<size_t>(i)] : 0;
        const float q = Rounded(x, grid, levels);
        const double d = static_cast<double>((q - grid.zero) * grid.scale - x);
        error.largest = std::max(error.largest, std::abs(d));
        error.squares += d * d;
        error.of_exact += static_cast<double>(x) * static_cast<double>(x);
        auto* const bytes = static_cast<uint8_t*>(out.elements.raw());
        const auto number = static_cast<int>(q);
        if (!nibbles) {
          bytes[l.element(g, i, n, rows)] = static_cast<uint8_t>(number);
        } else if (i < rows) {  // the low half comes first, and initializes the byte
          bytes[l.element(g, i, n, rows)] = static_cast<uint8_t>(number + 8);
        } else {
          uint8_t& byte = bytes[l.element(g, i - rows, n, rows)];
          byte = static_cast<uint8_t>(byte | (number + 8) << 4);
        }
      }
    }
  };
  ParallelFor(options.threads, l.columns, ParallelGrain(20.0 * static_cast<double>(l.terms)),
              [&](int64_t begin, int64_t end) {
                for (int64_t n = begin; n < end; ++n) round_column(n);
              });
  for (const RoundingError& e : errors) {
    out.error.largest = std::max(out.error.largest, e.largest);
    out.error.squares += e.squares;
    out.error.of_exact += e.of_exact;
  }
  return out;
}

}  // namespace

int64_t GroupSize(int64_t terms, const RoundingOptions& options) {
  const int64_t most = std::max<int64_t>(terms, 1);
  const int64_t group = options.group <= 0 ? most : std::min(options.group, most);
  // Kernels read several 4-bit rows at a time.
  return options.format == WeightFormat::kInt4 ? (group + 7) / 8 * 8 : group;
}

absl::StatusOr<RoundedWeights> RoundWeights(const Tensor& matrix, bool transposed,
                                            const RoundingOptions& options) {
  if (matrix.dtype() != DType::kFloat || matrix.shape().rank() != 2) {
    return InvalidArgument("weights to round are a matrix of floats");
  }
  for (const float x : matrix.flat<float>()) {
    if (!std::isfinite(x)) return InvalidArgument("the weights hold NaN or infinite elements");
  }
  if (options.format == WeightFormat::kBfloat16) return ToBfloat16(matrix);
  TENON_ASSIGN_OR_RETURN(RoundedWeights rounded, Round(matrix, transposed, options));
  if (HoldsScales(*rounded.scales)) return rounded;
  RoundingOptions wider = options;
  wider.scales = DType::kFloat;
  return Round(matrix, transposed, wider);
}

}  // namespace tenon

#include "kernels/image/glimpse.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace tenon {
namespace {

enum class Noise { kZero, kUniform, kGaussian };

// The window's start along one axis.
int64_t Begin(float offset, int64_t image, int64_t window, GlimpseOffset of, bool normalized,
              bool centered) {
  const float size = static_cast<float>(image), half = static_cast<float>(window) / 2;
  if (normalized) offset *= size;
  if (of == GlimpseOffset::kCorner) {
    if (normalized && centered) offset = offset / 2 + size / 2 - half;
    if (!normalized && centered) offset += size / 2;
  } else {
    if (centered) offset = offset / 2 + size / 2;
    offset -= half;
  }
  // Beyond these the window is outside the image in any case; NaN stays outside.
  const float limit = size + static_cast<float>(window) + 1;
  if (!(offset > -limit)) return -static_cast<int64_t>(limit);
  return static_cast<int64_t>(std::min(offset, limit));
}

// Fast random bits for noise that no seed repeats (Steele et al., "SplitMix").
class SplitMix {
 public:
  using result_type = uint64_t;
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// A generator with a seed of its own. The device's seed, which takes long, is read once.
SplitMix NewGenerator() {
  static std::atomic<uint64_t> next = [] {
    std::random_device device;
    return (uint64_t{device()} << 32) + device();
  }();
  return SplitMix(SplitMix(next.fetch_add(1, std::memory_order_relaxed))());
}

// The least and the largest of n > 0 numbers.
std::pair<float, float> RangeOf(const float* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  float low[kLanes], high[kLanes];
  std::fill_n(low, kLanes, x[0]);
  std::fill_n(high, kLanes, x[0]);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      low[k] = x[i + k] < low[k] ? x[i + k] : low[k];
      high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
    }
  }
  for (; i < n; ++i) {
    low[0] = std::min(low[0], x[i]);
    high[0] = std::max(high[0], x[i]);
  }
  return {*std::min_element(low, low + kLanes), *std::max_element(high, high + kLanes)};
}

// Fills a window with noise that resembles the image.
void FillNoise(Noise noise, const float* image, int64_t pixels, int64_t channels, float* out,
               int64_t count) {
  std::fill_n(out, count * channels, 0.0f);
  if (noise == Noise::kZero || pixels * channels == 0) return;
  SplitMix generator = NewGenerator();
  if (noise == Noise::kUniform) {
    const auto [low, high] = RangeOf(image, pixels * channels);
    const float scale = (high - low) * 0x1p-24f;
    const int64_t n = count * channels;
    for (int64_t i = 0; i < n; i += 2) {
      const uint64_t bits = generator();  // 24 of them are a number
      out[i] = low + static_cast<float>(static_cast<int32_t>(bits >> 40)) * scale;
      if (i + 1 == n) break;
      out[i + 1] = low + static_cast<float>(static_cast<int32_t>(bits & 0xffffff)) * scale;
    }
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    float low = image[c], high = image[c];
    for (int64_t i = 0; i < pixels; ++i) {
      const float v = image[i * channels + c];
      sum += v;
      squares += double{v} * v;
      low = std::min(low, v);
      high = std::max(high, v);
    }
    const double mean = sum / static_cast<double>(pixels);
    const double variance = std::max(0.0, squares / static_cast<double>(pixels) - mean * mean);
    std::normal_distribution<double> normal(0, 1);
    for (int64_t i = 0; i < count; ++i) {
      const double v = mean + normal(generator) * std::sqrt(variance);
      out[i * channels + c] = std::clamp(static_cast<float>(v), std::min(low, high), high);
    }
  }
}

absl::StatusOr<Noise> NoiseOf(const AttrReader& attrs) {
  const bool uniform = attrs.Bool("uniform_noise", true);
  const std::string noise = attrs.String("noise", "uniform");
  if (uniform && !noise.empty() && noise != "uniform") {
    return InvalidArgument("uniform_noise and noise='", noise, "' contradict each other");
  }
  if (noise.empty()) return uniform ? Noise::kUniform : Noise::kGaussian;
  if (noise == "uniform") return Noise::kUniform;
  if (noise == "gaussian") return Noise::kGaussian;
  if (noise == "zero") return Noise::kZero;
  return InvalidArgument("noise must be uniform, gaussian or zero, but is '", noise, "'");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Glimpse(PrepareContext& p, GlimpseOffset of) {
  TENON_ASSIGN_OR_RETURN(const Noise noise, NoiseOf(p.attrs()));
  p.InputNotRead(1);
  const bool normalized = p.attrs().Bool("normalized", true);
  const bool centered = p.attrs().Bool("centered", true);
  const Shape in = p.input_shape(0), out_shape = p.output_shape(0);
  return MakeKernel([=](RunContext& run) {
    const int64_t height = in.dim(1), width = in.dim(2), channels = in.dim(3);
    const int64_t rows = out_shape.dim(1), columns = out_shape.dim(2);
    for (int64_t b = 0; b < in.dim(0); ++b) {
      const float* offsets = run.input<float>(2) + 2 * b;
      const float* image = run.input<float>(0) + b * height * width * channels;
      float* out = run.output<float>(0) + b * rows * columns * channels;
      const int64_t y = Begin(offsets[0], height, rows, of, normalized, centered);
      const int64_t x = Begin(offsets[1], width, columns, of, normalized, centered);
      if (y < 0 || x < 0 || y + rows > height || x + columns > width) {
        FillNoise(noise, image, height * width, channels, out, rows * columns);
      }
      const int64_t left = std::max<int64_t>(0, -x), right = std::min(columns, width - x);
      if (left >= right) continue;
      for (int64_t r = std::max<int64_t>(0, -y); r < std::min(rows, height - y); ++r) {
        std::copy_n(image + ((y + r) * width + x + left) * channels, (right - left) * channels,
                    out + (r * columns + left) * channels);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon

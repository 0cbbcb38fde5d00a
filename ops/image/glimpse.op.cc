// ExtractGlimpse, ExtractGlimpseV2: a window of each image around an offset. What lies outside of
// the image is filled with noise, or zeros. Offsets are of the window's middle; in the second form,
// unless they are normalized and centered, of its corner.
#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GlimpseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  const Shape &images = c.input(0), &offsets = c.input(2);
  const int64_t batch = images.has_rank() ? images.dim(0) : -1;
  if (!c.input(1).CompatibleWith(Shape({2}))) {
    return InvalidArgument("size must have 2 elements, but has shape ", c.input(1).ToString());
  }
  if (!offsets.CompatibleWith(Shape({batch, 2}))) {
    return InvalidArgument("offsets must be two for each of ", batch, " images, but have shape ",
                           offsets.ToString());
  }
  int64_t height = -1, width = -1;
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(1)));
    height = size[0];
    width = size[1];
    if (height < 0 || width < 0) {
      return InvalidArgument("size must not be negative, but is ", height, "x", width);
    }
  }
  Shape out({batch, height, width, images.has_rank() ? images.dim(3) : -1});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

enum class Version { kFirst, kSecond };
enum class Noise { kZero, kUniform, kGaussian };

// Where along one axis the window begins.
int64_t Begin(float offset, int64_t image, int64_t window, Version version, bool normalized,
              bool centered) {
  const float size = static_cast<float>(image), half = static_cast<float>(window) / 2;
  if (normalized) offset *= size;
  if (version == Version::kSecond) {
    if (normalized && centered) offset = offset / 2 + size / 2 - half;
    if (!normalized && centered) offset += size / 2;
  } else {
    if (centered) offset = offset / 2 + size / 2;
    offset -= half;
  }
  // Beyond these the window is outside of the image anyway; NaN stays nowhere.
  const float limit = size + static_cast<float>(window) + 1;
  if (!(offset > -limit)) return -static_cast<int64_t>(limit);
  return static_cast<int64_t>(std::min(offset, limit));
}

// Fills a window with noise of the image's kind.
void FillNoise(Noise noise, const float* image, int64_t pixels, int64_t channels, float* out,
               int64_t count) {
  std::fill_n(out, count * channels, 0.0f);
  if (noise == Noise::kZero || pixels * channels == 0) return;
  std::mt19937_64 generator(std::random_device{}());
  if (noise == Noise::kUniform) {
    const auto [low, high] = std::minmax_element(image, image + pixels * channels);
    std::uniform_real_distribution<float> uniform(0, 1);
    for (int64_t i = 0; i < count * channels; ++i) {
      out[i] = *low + uniform(generator) * (*high - *low);
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

template <Version version>
absl::StatusOr<std::unique_ptr<Kernel>> Glimpse(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Noise noise, NoiseOf(p.attrs()));
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, Glimpse<version>, {1});
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
      const int64_t y = Begin(offsets[0], height, rows, version, normalized, centered);
      const int64_t x = Begin(offsets[1], width, columns, version, normalized, centered);
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

constexpr char kInputs[] = "input: float, size: int32, offsets: float";
constexpr char kAttrs[] =
    "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; "
    "noise: string = uniform";

const OpRegistration extract_glimpse_op({
    .name = "ExtractGlimpse",
    .inputs = kInputs,
    .outputs = "glimpse: float",
    .attrs = kAttrs,
    .shape = GlimpseShape,
    .reference = Glimpse<Version::kFirst>,
});

const OpRegistration extract_glimpse_v2_op({
    .name = "ExtractGlimpseV2",
    .inputs = kInputs,
    .outputs = "glimpse: float",
    .attrs = kAttrs,
    .shape = GlimpseShape,
    .reference = Glimpse<Version::kSecond>,
});

}  // namespace
}  // namespace tenon

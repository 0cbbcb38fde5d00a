#include "kernels/image/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

template <typename C>
using Pixel = std::array<C, 3>;

template <typename C>
C Least(const Pixel<C>& rgb) {
  return std::min({rgb[0], rgb[1], rgb[2]});
}

template <typename C>
C Largest(const Pixel<C>& rgb) {
  return std::max({rgb[0], rgb[1], rgb[2]});
}

// From 0, red, by way of green and blue to 1; 0 for gray.
template <typename C>
C Hue(const Pixel<C>& rgb) {
  const auto [r, g, b] = rgb;
  const C value = Largest(rgb), range = value - Least(rgb);
  if (!(range > 0)) return 0;
  const C norm = C(1) / (C(6) * range);
  const C hue = r == value   ? norm * (g - b)
                : g == value ? norm * (b - r) + C(2) / C(6)
                             : norm * (r - g) + C(4) / C(6);
  return hue < 0 ? hue + 1 : hue;
}

// The pixel of that hue whose channels reach from 0 to 1.
template <typename C>
Pixel<C> PureColor(C hue) {
  auto ramp = [](C x) { return std::min(std::max(x, C(0)), C(1)); };
  const C h6 = hue * C(6);
  return {ramp(std::abs(h6 - C(3)) - C(1)), ramp(C(2) - std::abs(h6 - C(2))),
          ramp(C(2) - std::abs(h6 - C(4)))};
}

template <typename C>
Pixel<C> ToHsv(const Pixel<C>& rgb) {
  const C value = Largest(rgb);
  const C saturation = value > 0 ? (value - Least(rgb)) / value : C(0);
  return {Hue(rgb), saturation, value};
}

template <typename C>
Pixel<C> ToRgb(const Pixel<C>& hsv) {
  const auto [h, s, v] = hsv;
  const auto [red, green, blue] = PureColor(h);
  return {(C(1) - s + s * red) * v, (C(1) - s + s * green) * v, (C(1) - s + s * blue) * v};
}

// Calls f(pixel, amount); amount is the scalar input 1, if present.
template <auto f>
absl::StatusOr<std::unique_ptr<Kernel>> PerPixel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements() / 3;
  const bool scaled = p.num_inputs() > 1;
  p.AllowInPlace(0, 0);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([n, scaled](RunContext& run) {
      using C = ComputeType<T>;
      const C amount = scaled ? static_cast<C>(*run.input<float>(1)) : C(0);
      const T* in = run.input<T>(0);
      T* out = run.output<T>(0);
      for (int64_t i = 0; i < n; ++i, in += 3, out += 3) {
        const Pixel<C> result =
            f(Pixel<C>{ToCompute(in[0]), ToCompute(in[1]), ToCompute(in[2])}, amount);
        for (size_t k = 0; k < 3; ++k) out[k] = static_cast<T>(result[k]);
      }
      return absl::OkStatus();
    });
  });
}

constexpr auto kToHsv = [](const auto& pixel, auto) { return ToHsv(pixel); };
constexpr auto kToRgb = [](const auto& pixel, auto) { return ToRgb(pixel); };
// Keeps the least and the largest channel, which may be negative.
constexpr auto kHue = [](const auto& pixel, auto delta) {
  const auto low = Least(pixel), range = Largest(pixel) - low;
  const auto hue = Hue(pixel) + delta;
  auto result = PureColor(hue - std::floor(hue));
  for (auto& channel : result) channel = low + channel * range;
  return result;
};
constexpr auto kSaturation = [](const auto& pixel, auto scale) {
  auto hsv = ToHsv(pixel);
  using C = decltype(scale);
  hsv[1] = std::min(std::max(hsv[1] * scale, C(0)), C(1));
  return ToRgb(hsv);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RgbToHsv(PrepareContext& p) { return PerPixel<kToHsv>(p); }
absl::StatusOr<std::unique_ptr<Kernel>> HsvToRgb(PrepareContext& p) { return PerPixel<kToRgb>(p); }
absl::StatusOr<std::unique_ptr<Kernel>> AdjustHue(PrepareContext& p) { return PerPixel<kHue>(p); }
absl::StatusOr<std::unique_ptr<Kernel>> AdjustSaturation(PrepareContext& p) {
  return PerPixel<kSaturation>(p);
}

absl::StatusOr<std::unique_ptr<Kernel>> AdjustContrast(PrepareContext& p) {
  const Shape& in = p.input_shape(0);
  const int64_t images = Product(in, 0, in.rank() - 3), channels = in.dim(in.rank() - 1);
  const int64_t pixels = in.dim(in.rank() - 3) * in.dim(in.rank() - 2);
  const bool clamped = p.num_inputs() > 2;
  const auto make = [=]<typename T, typename Y>() {
    return MakeKernel([=](RunContext& run) {
      const float factor = *run.input<float>(1);
      std::vector<double> means(static_cast<size_t>(channels));
      for (int64_t b = 0; b < images; ++b) {
        const T* x = run.input<T>(0) + b * pixels * channels;
        Y* y = run.output<Y>(0) + b * pixels * channels;
        std::fill(means.begin(), means.end(), 0);
        for (int64_t i = 0; i < pixels * channels; ++i) {
          means[static_cast<size_t>(i % channels)] += static_cast<float>(x[i]);
        }
        for (double& m : means) m /= static_cast<double>(pixels);
        for (int64_t i = 0; i < pixels * channels; ++i) {
          const float mean = static_cast<float>(means[static_cast<size_t>(i % channels)]);
          float v = (static_cast<float>(x[i]) - mean) * factor + mean;
          if (clamped) v = std::max(std::min(v, *run.input<float>(3)), *run.input<float>(2));
          y[i] = static_cast<Y>(v);
        }
      }
      return absl::OkStatus();
    });
  };
  if (!clamped) {
    return DispatchType(TypeList<float, half>{}, p.input_dtype(0),
                        [&]<typename T>() { return make.template operator()<T, T>(); });
  }
  using Types = TypeList<float, double, uint8_t, int8_t, int16_t, int32_t>;
  return DispatchType(Types{}, p.input_dtype(0),
                      [&]<typename T>() { return make.template operator()<T, float>(); });
}

}  // namespace tenon

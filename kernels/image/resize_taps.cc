#include "kernels/image/resize_taps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

float ResizeAxis::Scale() const {
  return align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                  : static_cast<float>(in) / static_cast<float>(out);
}

ResizeAxis AxisOf(PrepareContext& p, int i) {
  // Without an element of the output, its size is any number; no tap is needed.
  const int64_t out = p.output_shape(0).num_elements() == 0 ? 0 : p.output_shape(0).dim(i);
  return {p.input_shape(0).dim(i), out, p.attrs().Bool("align_corners", false),
          p.attrs().Bool("half_pixel_centers", false)};
}

std::vector<BilinearTap> BilinearTaps(const ResizeAxis& axis) {
  std::vector<BilinearTap> taps;
  const float scale = axis.Scale();
  for (int64_t i = 0; i < axis.out; ++i) {
    const float x = axis.half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale - 0.5f
                                            : static_cast<float>(i) * scale;
    const float floor = std::floor(x);
    const int64_t lower = std::max<int64_t>(static_cast<int64_t>(floor), 0);
    const int64_t upper = std::min<int64_t>(static_cast<int64_t>(std::ceil(x)), axis.in - 1);
    taps.push_back({std::min(lower, axis.in - 1), std::max<int64_t>(upper, 0), x - floor});
  }
  return taps;
}

std::vector<int64_t> NearestTaps(const ResizeAxis& axis) {
  std::vector<int64_t> taps;
  const float scale = axis.Scale();
  for (int64_t i = 0; i < axis.out; ++i) {
    float x = static_cast<float>(i);
    if (axis.half_pixel_centers) x += 0.5f;
    x *= scale;
    const float k = axis.align_corners ? std::round(x) : std::floor(x);
    taps.push_back(std::max<int64_t>(0, std::min(static_cast<int64_t>(k), axis.in - 1)));
  }
  return taps;
}

std::vector<ResizeWeights> BicubicWeights(const ResizeAxis& axis) {
  constexpr int kSteps = 1024;
  const float scale = axis.Scale();
  const double a = axis.half_pixel_centers ? -0.5 : -0.75;
  auto near = [a](double x) { return static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1); };
  auto far = [a](double x) {
    return static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
  };
  std::vector<ResizeWeights> all;
  for (int64_t i = 0; i < axis.out; ++i) {
    const float x = axis.half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale - 0.5f
                                            : static_cast<float>(i) * scale;
    const int64_t base = static_cast<int64_t>(std::floor(x));
    const double t = std::lrint((x - static_cast<float>(base)) * kSteps) / double{kSteps};
    ResizeWeights w{{base - 1, base, base + 1, base + 2},
                    {far(t + 1), near(t), near(1 - t), far(2 - t)}};
    float sum = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int64_t inside = std::min(std::max<int64_t>(w.at[k], 0), axis.in - 1);
      if (axis.half_pixel_centers && inside != w.at[k]) w.weight[k] = 0;
      w.at[k] = inside;
      sum += w.weight[k];
    }
    if (axis.half_pixel_centers && std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
      const float normalize = 1 / sum;
      for (float& v : w.weight) v *= normalize;
    }
    all.push_back(std::move(w));
  }
  return all;
}

std::vector<ResizeWeights> AreaWeights(const ResizeAxis& axis) {
  const float scale = axis.Scale();
  std::vector<ResizeWeights> all;
  for (int64_t i = 0; i < axis.out; ++i) {
    const float from = static_cast<float>(i) * scale, to = static_cast<float>(i + 1) * scale;
    ResizeWeights w;
    for (int64_t k = static_cast<int64_t>(std::floor(from)); static_cast<float>(k) < std::ceil(to);
         ++k) {
      const float begin = static_cast<float>(k), end = static_cast<float>(k + 1);
      const float covered =
          begin < from ? (end > to ? scale : end - from) : (end > to ? to - begin : 1.0f);
      w.at.push_back(std::min(std::max<int64_t>(k, 0), axis.in - 1));
      w.weight.push_back(covered / scale);
    }
    all.push_back(std::move(w));
  }
  return all;
}

}  // namespace tenon

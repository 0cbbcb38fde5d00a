#include "kernels/quantized/instance_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/status.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {

absl::StatusOr<InstanceNormAttrs> ReadInstanceNormAttrs(const AttrReader& attrs) {
  InstanceNormAttrs a;
  a.range_given = attrs.Bool("output_range_given", false);
  a.given = {attrs.Float("given_y_min", 0), attrs.Float("given_y_max", 0)};
  a.epsilon = attrs.Float("variance_epsilon", 1e-5f);
  a.separation = attrs.Float("min_separation", 1e-3f);
  if (a.range_given && !(a.given.min < a.given.max)) {
    return InvalidArgument("given_y_min must be below given_y_max, they are ", a.given.min, " and ",
                           a.given.max);
  }
  return a;
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedInstanceNormKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const InstanceNormAttrs a, ReadInstanceNormAttrs(p.attrs()));
  const Shape& in = p.input_shape(0);
  const int64_t images = in[0], positions = in[1] * in[2], channels = in[3];
  return MakeKernel([=](RunContext& r) -> absl::Status {
    const FloatRange from = ScalarRange(r, 1);
    if (!(from.min < from.max)) return InvalidArgument("x_min must be below x_max");
    const float step = (from.max - from.min) / 255.0f;
    const uint8_t* x = r.input<uint8_t>(0);
    std::vector<float> normed(static_cast<size_t>(images * positions * channels));
    FloatRange to{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
    const auto all = static_cast<size_t>(channels);
    std::vector<uint64_t> sums(all);
    std::vector<double> squares(all);
    std::vector<float> means(all), factors(all), lows(all, to.min), highs(all, to.max);
    for (int64_t n = 0; n < images; ++n) {
      const int64_t first = n * positions * channels;
      // Calls f(element, channel) for the image's elements.
      auto each = [&](auto&& f) {
        for (int64_t i = 0; i < positions; ++i) {
          const int64_t at = first + i * channels;
          for (size_t c = 0; c < all; ++c) f(at + static_cast<int64_t>(c), c);
        }
      };
      std::fill(sums.begin(), sums.end(), 0);
      std::fill(squares.begin(), squares.end(), 0);
      each([&](int64_t i, size_t c) { sums[c] += x[i]; });
      for (size_t c = 0; c < all; ++c) {
        means[c] =
            static_cast<float>(static_cast<double>(sums[c]) / static_cast<double>(positions));
      }
      each([&](int64_t i, size_t c) {
        const float d = step * (static_cast<float>(x[i]) - means[c]);
        squares[c] += static_cast<double>(d) * d;
      });
      for (size_t c = 0; c < all; ++c) {
        const auto variance = static_cast<float>(squares[c] / static_cast<double>(positions));
        factors[c] = 1.0f / std::sqrt(variance + a.epsilon);
      }
      each([&](int64_t i, size_t c) {
        const float v = step * (static_cast<float>(x[i]) - means[c]) * factors[c];
        normed[static_cast<size_t>(i)] = v;
        lows[c] = std::min(lows[c], v);
        highs[c] = std::max(highs[c], v);
      });
    }
    for (size_t c = 0; c < all; ++c) to = {std::min(to.min, lows[c]), std::max(to.max, highs[c])};
    if (a.range_given) to = a.given;
    if (to.max - to.min < a.separation) to.max = to.min + a.separation;
    const Quantizer<uint8_t> quantize(to);
    for (size_t i = 0; i < normed.size(); ++i) r.output<uint8_t>(0)[i] = quantize(normed[i]);
    SetRange(r, 1, to);
    return absl::OkStatus();
  });
}

}  // namespace tenon

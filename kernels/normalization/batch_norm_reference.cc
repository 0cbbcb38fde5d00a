// Reference kernels of batch normalization: the definition, with statistics in double.
#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "kernels/interface/types.h"
#include "kernels/normalization/batch_norm.h"

namespace tenon {
namespace {

// Calls f(channel, element) for every element, in memory order.
template <typename F>
void ForChannels(const BatchNormSpec& s, F f) {
  int64_t i = 0;
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t c = 0; c < s.channels; ++c) {
      for (int64_t k = 0; k < s.inner; ++k, ++i) f(static_cast<size_t>(c), i);
    }
  }
}

template <typename T>
void Forward(const BatchNormSpec& s, RunContext& r) {
  const T* const x = r.input<T>(0);
  const auto value = [x](int64_t i) { return static_cast<double>(x[i]); };
  const size_t channels = static_cast<size_t>(s.channels);
  const double n = static_cast<double>(s.count());
  std::vector<double> mean(channels), variance(channels), scale(channels);
  if (s.training && s.count() > 0) {
    ForChannels(s, [&](size_t c, int64_t i) { mean[c] += value(i); });
    for (double& m : mean) m /= n;
    ForChannels(s, [&](size_t c, int64_t i) {
      variance[c] += (value(i) - mean[c]) * (value(i) - mean[c]);
    });
    for (double& v : variance) v /= n;
  } else if (!s.training) {
    for (size_t c = 0; c < channels; ++c) {
      mean[c] = r.input<float>(3)[c];
      variance[c] = r.input<float>(4)[c];
    }
  }
  for (size_t c = 0; c < channels; ++c) {
    scale[c] = r.input<float>(1)[c] / std::sqrt(variance[c] + s.epsilon);
  }
  const T* const side = s.has_side ? r.input<T>(5) : nullptr;
  T* const y = r.output<T>(0);
  ForChannels(s, [&](size_t c, int64_t i) {
    double v = (value(i) - mean[c]) * scale[c] + r.input<float>(2)[c];
    if (side != nullptr) v += static_cast<double>(side[i]);
    if (s.relu) v = v < 0 ? 0 : v > s.relu_limit ? s.relu_limit : v;
    y[i] = static_cast<T>(v);
  });
  StoreBatchNormStatistics(s, mean.data(), variance.data(), r);
}

template <typename T>
void Gradient(const BatchNormSpec& s, RunContext& r) {
  const T* const x = r.input<T>(1);
  const float* const mean = r.input<float>(3);
  const T* const gate = s.relu ? r.input<T>(7) : nullptr;
  const auto dy = [&](int64_t i) {
    const double g = static_cast<double>(r.input<T>(0)[i]);
    if (gate == nullptr) return g;
    const float y = static_cast<float>(gate[i]);
    return g * (y > 0 && y <= s.gate_limit() ? 1 : 0);
  };
  const auto centered = [&](size_t c, int64_t i) { return static_cast<double>(x[i]) - mean[c]; };
  const size_t channels = static_cast<size_t>(s.channels);
  std::vector<double> sum(channels), product(channels), root(channels);
  ForChannels(s, [&](size_t c, int64_t i) {
    sum[c] += dy(i);
    product[c] += dy(i) * centered(c, i);
  });
  for (size_t c = 0; c < channels; ++c) {
    root[c] = 1 / std::sqrt(static_cast<double>(r.input<float>(4)[c]) + s.epsilon);
    // Without elements 0, also if the root is not a number.
    r.output<float>(1)[c] = s.count() == 0 ? 0 : static_cast<float>(product[c] * root[c]);
    r.output<float>(2)[c] = static_cast<float>(sum[c]);
    sum[c] /= static_cast<double>(s.count());
    product[c] *= root[c] * root[c] / static_cast<double>(s.count());
  }
  T* const side = s.has_side ? r.output<T>(5) : nullptr;
  ForChannels(s, [&](size_t c, int64_t i) {
    const double g = dy(i);
    const double bend = s.training ? sum[c] + centered(c, i) * product[c] : 0;
    r.output<T>(0)[i] = static_cast<T>(r.input<float>(2)[c] * root[c] * (g - bend));
    if (side != nullptr) side[i] = static_cast<T>(g);
  });
}

enum class Direction { kForward, kGradient };

template <Direction kDirection>
absl::StatusOr<std::unique_ptr<Kernel>> MakeReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const BatchNormSpec s,
                         BatchNormSpecOf(p, kDirection == Direction::kForward ? 0 : 1));
  p.AllowInPlace(0, 0);
  return DispatchType(TypeList<float, half, bfloat16>{}, s.dtype, [&]<typename T>() {
    return MakeKernel([s](RunContext& r) {
      kDirection == Direction::kForward ? Forward<T>(s, r) : Gradient<T>(s, r);
      return absl::OkStatus();
    });
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> BatchNormReference(PrepareContext& p) {
  return MakeReference<Direction::kForward>(p);
}
absl::StatusOr<std::unique_ptr<Kernel>> BatchNormGradReference(PrepareContext& p) {
  return MakeReference<Direction::kGradient>(p);
}

}  // namespace tenon

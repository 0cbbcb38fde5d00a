#include <algorithm>
#include <array>

#include "env/round_up.h"
#include "kernels/image/color.h"
#include "kernels/image/color_simd.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Pixels of 2 bytes a channel that are converted together.
constexpr int64_t kPixelsTogether = 256;

template <typename T>
void ChangeRange(ColorLoop loop, const T* in, float amount, int64_t pixels, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    loop(in, amount, static_cast<size_t>(pixels), out);
  } else {
    std::array<float, 3 * kPixelsTogether> values;
    for (int64_t i = 0; i < pixels; i += kPixelsTogether) {
      const int64_t count = std::min(kPixelsTogether, pixels - i);
      for (int64_t k = 0; k < 3 * count; ++k) {
        values[static_cast<size_t>(k)] = static_cast<float>(in[3 * i + k]);
      }
      loop(values.data(), amount, static_cast<size_t>(count), values.data());
      for (int64_t k = 0; k < 3 * count; ++k) {
        out[3 * i + k] = static_cast<T>(values[static_cast<size_t>(k)]);
      }
    }
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorPerPixel(PrepareContext& p, ColorChange change) {
  const int64_t pixels = p.input_shape(0).num_elements() / 3;
  const bool has_amount = p.num_inputs() > 1;
  const ColorLoop loop = FindColorLoop(change);
  const int threads = p.services().threads;
  p.AllowInPlace(0, 0);
  return DispatchType(TypeList<float, half, bfloat16>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel(
        [=](RunContext& run) {
          const float amount = has_amount ? *run.input<float>(1) : 0;
          const T* const in = run.input<T>(0);
          T* const out = run.output<T>(0);
          const double ns = std::is_same_v<T, float> ? 2 : 10;
          ParallelFor(threads, pixels, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
            ChangeRange(loop, in + 3 * begin, amount, end - begin, out + 3 * begin);
          });
          return absl::OkStatus();
        },
        "vector");
  });
}

// Images are summed and scaled in blocks of pixels. These do not depend on the number of threads,
// so the sums have the same bits.
class VectorContrast {
 public:
  explicit VectorContrast(PrepareContext& p)
      : images_(Product(p.input_shape(0), 0, p.input_shape(0).rank() - 3)),
        channels_(p.input_shape(0).dim(-1 + p.input_shape(0).rank())),
        pixels_(p.input_shape(0).dim(p.input_shape(0).rank() - 3) *
                p.input_shape(0).dim(p.input_shape(0).rank() - 2)),
        period_(channels_ * (channels_ <= 64 ? kPixelsOfPeriod : 1)),
        block_(std::max(kLeastBlock, 16 * kLeastBlock / std::max<int64_t>(channels_, 1))),
        blocks_(CeilDiv(pixels_, block_)),
        threads_(p.services().threads),
        loops_(FindContrastLoops()) {}

  size_t scratch_bytes() const {
    const int64_t sums = images_ * blocks_ * channels_, means = images_ * channels_;
    return static_cast<size_t>(sums + threads_ * period_) * sizeof(double) +
           static_cast<size_t>(means + threads_ * (period_ + Together())) * sizeof(float);
  }

  template <typename T>
  void Run(const T* x, float factor, T* y, void* scratch) const {
    double* const sums = static_cast<double*>(scratch);
    double* const own_sums = sums + images_ * blocks_ * channels_;
    float* const means = reinterpret_cast<float*>(own_sums + threads_ * period_);
    float* const own_floats = means + images_ * channels_;
    ForBlocks<T>([&](int range, int64_t block, int64_t first, int64_t n) {
      SumBlock(x + first, n, own_sums + range * period_, Own(own_floats, range) + period_,
               sums + block * channels_);
    });
    FindMeans(sums, means);
    ForBlocks<T>([&](int range, int64_t block, int64_t first, int64_t n) {
      float* const mean = Own(own_floats, range);
      const float* const of_image = means + block / blocks_ * channels_;
      for (int64_t i = 0; i < period_; i += channels_) std::copy_n(of_image, channels_, mean + i);
      ScaleBlock(x + first, n, mean, factor, mean + period_, y + first);
    });
  }

 private:
  static constexpr int64_t kPixelsOfPeriod = 16;  // a whole number of vectors of any length
  static constexpr int64_t kLeastBlock = 1024;

  // Elements that are converted to float together: whole periods.
  int64_t Together() const {
    return period_ * std::max<int64_t>(1, 2048 / std::max<int64_t>(period_, 1));
  }
  float* Own(float* floats, int range) const { return floats + range * (period_ + Together()); }

  // f(range, block, its first element, its elements)
  template <typename T, typename F>
  void ForBlocks(F f) const {
    const double ns =
        static_cast<double>(channels_ * std::min(block_, pixels_)) * (sizeof(T) == 4 ? 0.15 : 1.5);
    ParallelForRanges(threads_, images_ * blocks_, ParallelGrain(ns),
                      [&](int range, int64_t begin, int64_t end) {
                        for (int64_t b = begin; b < end; ++b) {
                          const int64_t pixel = b % blocks_ * block_;
                          const int64_t n = std::min(block_, pixels_ - pixel) * channels_;
                          f(range, b, (b / blocks_ * pixels_ + pixel) * channels_, n);
                        }
                      });
  }

  // Calls f(floats, first, n) for parts of x that begin with channel 0.
  template <typename T, typename F>
  void ForFloats(const T* x, int64_t n, float* buffer, F f) const {
    if constexpr (std::is_same_v<T, float>) {
      f(x, 0, n);
    } else {
      for (int64_t i = 0; i < n; i += Together()) {
        const int64_t count = std::min(Together(), n - i);
        for (int64_t k = 0; k < count; ++k) buffer[k] = static_cast<float>(x[i + k]);
        f(buffer, i, count);
      }
    }
  }

  template <typename T>
  void SumBlock(const T* x, int64_t n, double* by_place, float* buffer, double* sums) const {
    std::fill_n(by_place, period_, 0);
    ForFloats(x, n, buffer, [&](const float* v, int64_t, int64_t count) {
      loops_.add(v, static_cast<size_t>(count), static_cast<size_t>(period_), by_place);
    });
    std::copy_n(by_place, channels_, sums);
    for (int64_t i = channels_; i < period_; i += channels_) {
      for (int64_t c = 0; c < channels_; ++c) sums[c] += by_place[i + c];
    }
  }

  void FindMeans(const double* sums, float* means) const {
    for (int64_t image = 0; image < images_; ++image, means += channels_) {
      const double* const first = sums + image * blocks_ * channels_;
      for (int64_t c = 0; c < channels_; ++c) {
        double sum = 0;
        for (int64_t b = 0; b < blocks_; ++b) sum += first[b * channels_ + c];
        means[c] = static_cast<float>(sum / static_cast<double>(pixels_));
      }
    }
  }

  template <typename T>
  void ScaleBlock(const T* x, int64_t n, const float* mean, float factor, float* buffer,
                  T* y) const {
    const size_t period = static_cast<size_t>(period_);
    if constexpr (std::is_same_v<T, float>) {
      loops_.scale(x, static_cast<size_t>(n), period, mean, factor, y);
    } else {
      ForFloats(x, n, buffer, [&](float* v, int64_t first, int64_t count) {
        loops_.scale(v, static_cast<size_t>(count), period, mean, factor, v);
        for (int64_t k = 0; k < count; ++k) y[first + k] = static_cast<T>(v[k]);
      });
    }
  }

  const int64_t images_, channels_, pixels_;
  const int64_t period_;  // elements
  const int64_t block_;   // pixels
  const int64_t blocks_;  // of an image
  const int threads_;
  const ContrastLoops loops_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorRgbToHsv(PrepareContext& p) {
  return VectorPerPixel(p, ColorChange::kToHsv);
}
absl::StatusOr<std::unique_ptr<Kernel>> VectorHsvToRgb(PrepareContext& p) {
  return VectorPerPixel(p, ColorChange::kToRgb);
}
absl::StatusOr<std::unique_ptr<Kernel>> VectorAdjustHue(PrepareContext& p) {
  return VectorPerPixel(p, ColorChange::kHue);
}
absl::StatusOr<std::unique_ptr<Kernel>> VectorAdjustSaturation(PrepareContext& p) {
  return VectorPerPixel(p, ColorChange::kSaturation);
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorAdjustContrast(PrepareContext& p) {
  const VectorContrast contrast(p);
  p.RequestScratch(contrast.scratch_bytes());
  p.AllowInPlace(0, 0);
  return DispatchType(TypeList<float, half>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel(
        [contrast](RunContext& run) {
          contrast.Run(run.input<T>(0), *run.input<float>(1), run.output<T>(0), run.scratch());
          return absl::OkStatus();
        },
        "vector");
  });
}

}  // namespace tenon

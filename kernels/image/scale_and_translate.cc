#include "kernels/image/scale_and_translate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/image/resize_simd.h"
#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// A sampling kernel: symmetric, zero beyond its radius.
struct Sampler {
  const char* name;
  float radius;
  float (*weight)(float x, float radius);  // x >= 0
};

float Lanczos(float x, float radius) {
  constexpr float kPi = 3.14159265359f;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;  // the limit of sin(x) / x
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

// Standard deviation: a third of the radius.
float Gaussian(float x, float radius) {
  const double sigma = radius / 3.0f;
  return x >= radius ? 0 : static_cast<float>(std::exp(-x * x / (2 * sigma * sigma)));
}

float Box(float x, float) { return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f; }
float Triangle(float x, float) { return x < 1 ? 1 - x : 0; }

float KeysCubic(float x, float) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return (1.5f * x - 2.5f) * x * x + 1;
}

float MitchellCubic(float x, float) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
}

constexpr Sampler kSamplers[] = {
    {"lanczos1", 1, Lanczos},
    {"lanczos3", 3, Lanczos},
    {"lanczos5", 5, Lanczos},
    {"gaussian", 1.5f, Gaussian},
    {"box", 1, Box},
    {"triangle", 1, Triangle},
    {"keyscubic", 2, KeysCubic},
    {"mitchellcubic", 2, MitchellCubic},
};

absl::StatusOr<Sampler> SamplerOf(const AttrReader& attrs) {
  const std::string name = attrs.String("kernel_type", "lanczos3");
  for (const Sampler& sampler : kSamplers) {
    if (name == sampler.name) return sampler;
  }
  return InvalidArgument("kernel_type '", name, "'");
}

// The input positions start .. start + weights.size() - 1 from which an output position is
// computed.
struct Span {
  int64_t start = 0;
  std::vector<float> weights;
};

absl::StatusOr<std::vector<Span>> SpansOf(const Sampler& sampler, bool antialias, int64_t out,
                                          int64_t in, float scale, float shift) {
  if (!(scale > 0)) return InvalidArgument("scale must be positive, but is ", scale);
  // From output to input. The kernel widens when the image shrinks, but not when it grows.
  const float inverse = 1 / scale, inverse_shift = -inverse * shift;
  const float widening = antialias ? std::max(inverse, 1.0f) : 1.0f;
  const float reach = sampler.radius * widening, last = static_cast<float>(in - 1);
  constexpr size_t kMostWeights = size_t{1} << 30;
  size_t total = 0;
  std::vector<Span> spans(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    Span& span = spans[static_cast<size_t>(i)];
    const float center = (static_cast<float>(i) + 0.5f) * inverse + inverse_shift;
    if (!(center >= 0 && center <= static_cast<float>(in))) continue;
    const auto inside = [last](float x) {
      return static_cast<int64_t>(std::min(std::max(x, 0.0f), last));
    };
    span.start = inside(std::ceil(center - reach - 0.5f));
    const int64_t end = std::min(inside(std::floor(center + reach - 0.5f)) + 1, in);
    float sum = 0;
    for (int64_t k = span.start; k < end; ++k) {
      const float x = std::abs((static_cast<float>(k) + 0.5f - center) * (1 / widening));
      span.weights.push_back(sampler.weight(x, sampler.radius));
      sum += span.weights.back();
    }
    total += span.weights.size();
    if (total > kMostWeights) return InvalidArgument("a kernel that is too wide");
    if (!(std::abs(sum) >= 1000 * std::numeric_limits<float>::min())) {
      span.weights.clear();
      continue;
    }
    const float normalize = 1 / sum;
    for (float& w : span.weights) w *= normalize;
  }
  return spans;
}

// The same weights from the input's view: the outputs to which each input position contributes.
std::vector<Span> Transposed(const std::vector<Span>& spans, int64_t in) {
  std::vector<Span> back(static_cast<size_t>(in));
  for (size_t i = 0; i < spans.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i);
    for (size_t k = 0; k < spans[i].weights.size(); ++k) {
      if (spans[i].weights[k] == 0) continue;
      Span& span = back[static_cast<size_t>(spans[i].start) + k];
      if (span.weights.empty()) span.start = at;
      span.weights.resize(static_cast<size_t>(at - span.start), 0.0f);
      span.weights.push_back(spans[i].weights[k]);
    }
  }
  return back;
}

// `shape` is the shape of `image`; rows and then columns are resampled as in `rows` and `cols`.
template <typename T>
void Resample(const T* image, const Shape& shape, const std::vector<Span>& rows,
              const std::vector<Span>& cols, int threads, float* out) {
  const int64_t c = shape.dim(3), width = shape.dim(2) * c;
  const auto height = static_cast<int64_t>(rows.size());
  const int64_t out_width = static_cast<int64_t>(cols.size()) * c;
  std::vector<int64_t> first = {0}, offsets;
  std::vector<float> weights;
  for (const Span& k : cols) {
    for (size_t i = 0; i < k.weights.size(); ++i) {
      offsets.push_back((k.start + static_cast<int64_t>(i)) * c);
    }
    weights.insert(weights.end(), k.weights.begin(), k.weights.end());
    first.push_back(static_cast<int64_t>(offsets.size()));
  }
  const ResizeRowTaps taps = {cols.size(), first.data(), offsets.data(), weights.data()};
  const ResizeLoops loops = FindResizeLoops();
  const double ns = 0.5 * static_cast<double>(width + out_width) * 8;
  ParallelFor(threads, shape.dim(0) * height, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
    std::vector<float> row(static_cast<size_t>(width) + kResizePadding);
    std::vector<float> resized(static_cast<size_t>(out_width) + kResizePadding);
    for (int64_t i = begin; i < end; ++i) {
      const Span& r = rows[static_cast<size_t>(i % height)];
      const T* from = image + (i / height * shape.dim(1) + r.start) * width;
      float* const line = row.data();
      std::fill_n(line, width, 0.0f);
      for (float w : r.weights) {
        for (int64_t k = 0; k < width; ++k) line[k] += w * static_cast<float>(ToCompute(from[k]));
        from += width;
      }
      loops.along(line, taps, static_cast<size_t>(c), resized.data());
      std::copy_n(resized.data(), out_width, out + i * out_width);
    }
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ScaleAndTranslate(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Sampler sampler, SamplerOf(p.attrs()));
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ScaleAndTranslate, {1});
  p.InputNotRead(1);
  const bool antialias = p.attrs().Bool("antialias", true);
  const int threads = p.services().threads;
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  return DispatchType(ImageNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const float *scale = run.input<float>(2), *shift = run.input<float>(3);
      TENON_ASSIGN_OR_RETURN(const std::vector<Span> rows, SpansOf(sampler, antialias, out.dim(1),
                                                                   in.dim(1), scale[0], shift[0]));
      TENON_ASSIGN_OR_RETURN(const std::vector<Span> cols, SpansOf(sampler, antialias, out.dim(2),
                                                                   in.dim(2), scale[1], shift[1]));
      Resample(run.input<T>(0), in, rows, cols, threads, run.output<float>(0));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ScaleAndTranslateGrad(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Sampler sampler, SamplerOf(p.attrs()));
  const bool antialias = p.attrs().Bool("antialias", true);
  const int threads = p.services().threads;
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  p.InputNotRead(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const float *scale = run.input<float>(2), *shift = run.input<float>(3);
    TENON_ASSIGN_OR_RETURN(const std::vector<Span> rows, SpansOf(sampler, antialias, grads.dim(1),
                                                                 image.dim(1), scale[0], shift[0]));
    TENON_ASSIGN_OR_RETURN(const std::vector<Span> cols, SpansOf(sampler, antialias, grads.dim(2),
                                                                 image.dim(2), scale[1], shift[1]));
    Resample(run.input<float>(0), grads, Transposed(rows, image.dim(1)),
             Transposed(cols, image.dim(2)), threads, run.output<float>(0));
    return absl::OkStatus();
  });
}

}  // namespace tenon

#include "kernels/image/projective_transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

enum class Fill { kReflect, kWrap, kConstant, kNearest };

// A position mapped into 0 .. size - 1. NaN and, with kConstant, positions outside are unchanged.
float Inside(Fill fill, float at, int64_t size) {
  if (fill == Fill::kConstant || std::isnan(at)) return at;
  const float n = static_cast<float>(size), last = n - 1;
  const bool outside = at < 0 || at > last;
  if (outside && size <= 1) return 0;
  if (outside && fill == Fill::kReflect) {  // dcba|abcd|dcba
    if (at < 0) {
      at += 2 * n * std::trunc(-at / (2 * n));
      at = at < -n ? at + 2 * n : -at - 1;
    } else {
      at -= 2 * n * std::trunc(at / (2 * n));
      if (at >= n) at = 2 * n - at - 1;
    }
  } else if (outside && fill == Fill::kWrap) {  // abcd|abcd|abcd
    at += at < 0 ? n * (std::trunc(-at / last) + 1) : -n * std::trunc(at / last);
  }
  return std::min(std::max(at, 0.0f), last);
}

// Numbers outside an integer dtype's range are clamped to it.
template <typename T>
T Converted(float v) {
  if constexpr (kIsInt<T>) {
    using Limits = std::numeric_limits<T>;
    if (!(v >= static_cast<float>(Limits::min()))) return std::isnan(v) ? T(0) : Limits::min();
    if (v >= static_cast<float>(Limits::max())) return Limits::max();
  }
  return static_cast<T>(v);
}

template <typename T>
struct Image {
  const T* data;
  int64_t rows, cols, channels;
  T fill;

  float at(int64_t y, int64_t x, int64_t c) const {
    const bool inside = y >= 0 && y < rows && x >= 0 && x < cols;
    return static_cast<float>(ToCompute(inside ? data[(y * cols + x) * channels + c] : fill));
  }
};

template <typename T>
void InterpolateBilinear(const Image<T>& image, float y, float x, T* out) {
  const float top = std::floor(y), left = std::floor(x), bottom = top + 1, right = left + 1;
  const int64_t r = static_cast<int64_t>(top), k = static_cast<int64_t>(left);
  if (r >= 0 && r + 1 < image.rows && k >= 0 && k + 1 < image.cols) {
    const int64_t row = image.cols * image.channels;
    const T* const a = image.data + r * row + k * image.channels;
    for (int64_t c = 0; c < image.channels; ++c) {
      const auto value = [&](int64_t at) { return static_cast<float>(ToCompute(a[at + c])); };
      const float upper = (right - x) * value(0) + (x - left) * value(image.channels);
      const float lower = (right - x) * value(row) + (x - left) * value(row + image.channels);
      out[c] = Converted<T>((bottom - y) * upper + (y - top) * lower);
    }
    return;
  }
  for (int64_t c = 0; c < image.channels; ++c) {
    const float upper = (right - x) * image.at(r, k, c) + (x - left) * image.at(r, k + 1, c);
    const float lower =
        (right - x) * image.at(r + 1, k, c) + (x - left) * image.at(r + 1, k + 1, c);
    out[c] = Converted<T>((bottom - y) * upper + (y - top) * lower);
  }
}

struct Sampling {
  Fill mode;
  bool nearest;
};

// `out`: row r of the transformed image. t: the transform.
template <typename T>
void TransformRow(const Image<T>& image, const float* t, const Sampling& sampling, int64_t r,
                  int64_t width, T* out) {
  const int64_t rows = image.rows, cols = image.cols, channels = image.channels;
  for (int64_t k = 0; k < width; ++k, out += channels) {
    const float y = static_cast<float>(r), x = static_cast<float>(k);
    const float depth = t[6] * x + t[7] * y + 1;
    const float in_x = Inside(sampling.mode, (t[0] * x + t[1] * y + t[2]) / depth, cols);
    const float in_y = Inside(sampling.mode, (t[3] * x + t[4] * y + t[5]) / depth, rows);
    // A pixel beyond the border counts as the fill value, also in interpolation.
    if (depth == 0 || !(in_x >= -1 && in_x <= static_cast<float>(cols) && in_y >= -1 &&
                        in_y <= static_cast<float>(rows))) {
      std::fill_n(out, channels, image.fill);
    } else if (sampling.nearest) {
      const int64_t at_y = static_cast<int64_t>(std::round(in_y));
      const int64_t at_x = static_cast<int64_t>(std::round(in_x));
      if (at_y < 0 || at_y >= rows || at_x < 0 || at_x >= cols) {
        std::fill_n(out, channels, image.fill);
      } else {
        std::copy_n(image.data + (at_y * cols + at_x) * channels, channels, out);
      }
    } else {
      InterpolateBilinear(image, in_y, in_x, out);
    }
  }
}

absl::StatusOr<Fill> FillOf(const std::string& name) {
  if (name == "REFLECT") return Fill::kReflect;
  if (name == "WRAP") return Fill::kWrap;
  if (name == "CONSTANT") return Fill::kConstant;
  if (name == "NEAREST") return Fill::kNearest;
  return InvalidArgument("fill_mode '", name, "'");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ProjectiveTransform(PrepareContext& p) {
  const std::string interpolation = p.attrs().String("interpolation", "");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR") {
    return InvalidArgument("interpolation '", interpolation, "'");
  }
  TENON_ASSIGN_OR_RETURN(const Fill mode, FillOf(p.attrs().String("fill_mode", "CONSTANT")));
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ProjectiveTransform, {2});
  p.InputNotRead(2);
  const Sampling sampling{mode, interpolation == "NEAREST"};
  const bool filled = p.num_inputs() > 3;
  const bool one = p.input_shape(1).dim(0) == 1;
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  const int64_t out_row = out.dim(2) * out.dim(3);
  const int threads = p.services().threads;
  const int64_t grain = ParallelGrain(5.0 * static_cast<double>(out_row));
  return DispatchType(
      Joined<Floats, TypeList<uint8_t, int32_t, int64_t>>{}, p.input_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          const int64_t rows = in.dim(1), cols = in.dim(2), channels = in.dim(3);
          const T fill = Converted<T>(filled ? *run.input<float>(3) : 0.0f);
          ParallelFor(threads, out.dim(0) * out.dim(1), grain, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const int64_t b = i / out.dim(1);
              const Image<T> image = {run.input<T>(0) + b * rows * cols * channels, rows, cols,
                                      channels, fill};
              TransformRow(image, run.input<float>(1) + (one ? 0 : 8 * b), sampling, i % out.dim(1),
                           out.dim(2), run.output<T>(0) + i * out_row);
            }
          });
          return absl::OkStatus();
        });
      });
}

}  // namespace tenon

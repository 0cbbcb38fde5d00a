#include "kernels/image/crop_and_resize_grad.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kernels/image/crop.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// The position along an axis that a crop's pixel was sampled from.
struct Place {
  bool inside;
  float at;
  int64_t lower, upper;
  float fraction;  // of upper
};

Place PlaceOf(float from, float to, int64_t i, int64_t crop, int64_t size) {
  const float at = CropPosition(from, to, i, crop, size);
  if (!(at >= 0 && at <= static_cast<float>(size - 1))) return {false, 0, 0, 0, 0};
  const int64_t lower = static_cast<int64_t>(std::floor(at));
  return {true, at, lower, std::min(static_cast<int64_t>(std::ceil(at)), size - 1),
          at - static_cast<float>(lower)};
}

// Calls visit(crop, image, row, column, gradients) for each pixel of a crop that is inside its
// image.
template <typename Visit>
absl::Status ForEachPixel(const float* from, const Shape& grads, const Shape& image,
                          const float* boxes, const int32_t* indices, Visit visit) {
  for (int64_t b = 0; b < grads.dim(0); ++b) {
    if (indices[b] < 0 || indices[b] >= image.dim(0)) {
      return InvalidArgument("box_ind[", b, "] = ", indices[b], " is not in [0, ", image.dim(0),
                             ")");
    }
    const float* box = boxes + 4 * b;
    for (int64_t r = 0; r < grads.dim(1); ++r) {
      const Place y = PlaceOf(box[0], box[2], r, grads.dim(1), image.dim(1));
      for (int64_t k = 0; k < grads.dim(2); ++k, from += grads.dim(3)) {
        const Place x = PlaceOf(box[1], box[3], k, grads.dim(2), image.dim(2));
        if (y.inside && x.inside) visit(b, r, k, indices[b], y, x, from);
      }
    }
  }
  return absl::OkStatus();
}

// d position / d (begin of the box, end of the box) at pixel i of a crop.
std::pair<float, float> Slopes(int64_t i, int64_t crop, int64_t size) {
  const float last = static_cast<float>(size - 1);
  if (crop <= 1) return {0.5f * last, 0.5f * last};
  const float end = static_cast<float>(i) * (last / static_cast<float>(crop - 1));
  return {last - end, end};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CropAndResizeImageGrad(PrepareContext& p) {
  const std::string method = p.attrs().String("method", "bilinear");
  if (method != "bilinear" && method != "nearest") return InvalidArgument("method '", method, "'");
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, CropAndResizeImageGrad, {3});
  p.InputNotRead(3);
  const bool nearest = method == "nearest";
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  return DispatchType(TypeList<float, half, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      T* out = run.output<T>(0);
      std::fill_n(out, image.num_elements(), T(0));
      const int64_t channels = image.dim(3);
      auto add = [&](int64_t n, int64_t y, int64_t x, float wx, float wy, const float* from) {
        T* to = out + ((n * image.dim(1) + y) * image.dim(2) + x) * channels;
        for (int64_t i = 0; i < channels; ++i) to[i] += static_cast<T>(wx * (wy * from[i]));
      };
      return ForEachPixel(run.input<float>(0), grads, image, run.input<float>(1),
                          run.input<int32_t>(2),
                          [&](int64_t, int64_t, int64_t, int64_t n, const Place& y, const Place& x,
                              const float* from) {
                            if (nearest) {
                              add(n, static_cast<int64_t>(std::round(y.at)),
                                  static_cast<int64_t>(std::round(x.at)), 1, 1, from);
                              return;
                            }
                            add(n, y.lower, x.lower, 1 - x.fraction, 1 - y.fraction, from);
                            add(n, y.lower, x.upper, x.fraction, 1 - y.fraction, from);
                            add(n, y.upper, x.lower, 1 - x.fraction, y.fraction, from);
                            add(n, y.upper, x.upper, x.fraction, y.fraction, from);
                          });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CropAndResizeBoxesGrad(PrepareContext& p) {
  const std::string method = p.attrs().String("method", "bilinear");
  if (method != "bilinear") return InvalidArgument("method '", method, "'");
  const Shape grads = p.input_shape(0), image = p.input_shape(1);
  return DispatchType(
      TypeList<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t, half, float, double>{},
      p.input_dtype(1), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          float* out = run.output<float>(0);
          std::fill_n(out, grads.dim(0) * 4, 0.0f);
          const int64_t channels = image.dim(3);
          return ForEachPixel(
              run.input<float>(0), grads, image, run.input<float>(2), run.input<int32_t>(3),
              [&](int64_t b, int64_t r, int64_t k, int64_t n, const Place& y, const Place& x,
                  const float* from) {
                auto row = [&](int64_t at) {
                  return run.input<T>(1) + (n * image.dim(1) + at) * image.dim(2) * channels;
                };
                const T *top = row(y.lower), *bottom = row(y.upper);
                const auto [y_begin, y_end] = Slopes(r, grads.dim(1), image.dim(1));
                const auto [x_begin, x_end] = Slopes(k, grads.dim(2), image.dim(2));
                for (int64_t i = 0; i < channels; ++i) {
                  auto value = [i, channels](const T* line, int64_t at) {
                    return static_cast<float>(ToCompute(line[at * channels + i]));
                  };
                  const float a = value(top, x.lower), e = value(top, x.upper);
                  const float f = value(bottom, x.lower), g = value(bottom, x.upper);
                  const float dy = ((1 - x.fraction) * (f - a) + x.fraction * (g - e)) * from[i];
                  const float dx = ((1 - y.fraction) * (e - a) + y.fraction * (g - f)) * from[i];
                  out[4 * b] += dy * y_begin;
                  out[4 * b + 1] += dx * x_begin;
                  out[4 * b + 2] += dy * y_end;
                  out[4 * b + 3] += dx * x_end;
                }
              });
        });
      });
}

}  // namespace tenon

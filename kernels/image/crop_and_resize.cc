#include "kernels/image/crop_and_resize.h"

#include <cmath>
#include <string>
#include <vector>

#include "kernels/image/crop.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

absl::Status CheckBoxes(const float* boxes, const int32_t* images, int64_t count, int64_t batch) {
  for (int64_t b = 0; b < count; ++b) {
    for (int k = 0; k < 4; ++k) {
      if (!std::isfinite(boxes[4 * b + k])) {
        return InvalidArgument("box ", b, " is not finite");
      }
    }
    if (images[b] < 0 || images[b] >= batch) {
      return InvalidArgument("box_ind[", b, "] = ", images[b], " is not in [0, ", batch, ")");
    }
  }
  return absl::OkStatus();
}

// One row of a crop: `top` and `bottom` are the image's rows at y.lower and y.upper.
template <typename T>
void BlendRow(const T* top, const T* bottom, float y, const std::vector<CropPlace>& columns,
              int64_t channels, float outside, float* __restrict to) {
  for (const CropPlace& x : columns) {
    if (x.inside) {
      const T *const a = top + x.lower * channels, *const e = top + x.upper * channels;
      const T *const f = bottom + x.lower * channels, *const g = bottom + x.upper * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const float left = ToCompute(a[c]), right = ToCompute(e[c]);
        const float lower_left = ToCompute(f[c]), lower_right = ToCompute(g[c]);
        const float upper = left + (right - left) * x.fraction;
        const float lower = lower_left + (lower_right - lower_left) * x.fraction;
        to[c] = upper + (lower - upper) * y;
      }
    } else {
      std::fill_n(to, channels, outside);
    }
    to += channels;
  }
}

template <typename T>
void NearestRow(const T* row, const std::vector<CropPlace>& columns, int64_t channels,
                float outside, float* to) {
  for (const CropPlace& x : columns) {
    const T* const from = row + x.nearest() * channels;
    for (int64_t c = 0; c < channels; ++c) {
      to[c] = x.inside ? static_cast<float>(ToCompute(from[c])) : outside;
    }
    to += channels;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CropAndResize(PrepareContext& p) {
  if (p.value(3) == nullptr) return PrepareLate(p, CropAndResize, {3});
  p.InputNotRead(3);
  const std::string method = p.attrs().String("method", "bilinear");
  if (method != "bilinear" && method != "nearest") return InvalidArgument("method '", method, "'");
  const bool nearest = method == "nearest";
  const float outside = p.attrs().Float("extrapolation_value", 0);
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  const int threads = p.services().threads;
  using Types = Joined<TypeList<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t>,
                       TypeList<half, float, double>>;
  return DispatchType(Types{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const float* const boxes = run.input<float>(1);
      const int32_t* const images = run.input<int32_t>(2);
      TENON_RETURN_IF_ERROR(CheckBoxes(boxes, images, out.dim(0), in.dim(0)));
      const int64_t rows = in.dim(1), columns = in.dim(2), channels = in.dim(3);
      const int64_t crop_rows = out.dim(1), crop_row = out.dim(2) * channels;
      const double ns = 20 + static_cast<double>(out.dim(2)) * (2 + static_cast<double>(channels));
      // Rows of all crops.
      const auto resize = [&](int64_t begin, int64_t end) {
        std::vector<CropPlace> places;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t b = i / crop_rows;
          const float* const box = boxes + 4 * b;
          if (i == begin || i % crop_rows == 0) {
            places = CropPlacesOf(box[1], box[3], out.dim(2), columns);
          }
          const CropPlace y = CropPlaceOf(box[0], box[2], i % crop_rows, crop_rows, rows);
          float* const to = run.output<float>(0) + i * crop_row;
          if (!y.inside) {
            std::fill_n(to, crop_row, outside);
            continue;
          }
          const auto row = [&](int64_t at) {
            return run.input<T>(0) + (images[b] * rows + at) * columns * channels;
          };
          if (nearest) {
            NearestRow(row(y.nearest()), places, channels, outside, to);
          } else {
            BlendRow(row(y.lower), row(y.upper), y.fraction, places, channels, outside, to);
          }
        }
      };
      ParallelFor(threads, out.dim(0) * crop_rows, ParallelGrain(ns), resize);
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon

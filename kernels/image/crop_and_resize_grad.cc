#include "kernels/image/crop_and_resize_grad.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/image/crop.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

absl::Status CheckImages(const int32_t* images, int64_t boxes, int64_t batch) {
  for (int64_t b = 0; b < boxes; ++b) {
    if (images[b] >= 0 && images[b] < batch) continue;
    return InvalidArgument("box_ind[", b, "] = ", images[b], " is not in [0, ", batch, ")");
  }
  return absl::OkStatus();
}

// Calls visit(crop, image, row, column, gradients) for each pixel of a crop that is inside its
// image.
template <typename Visit>
absl::Status ForEachPixel(const float* from, const Shape& grads, const Shape& image,
                          const float* boxes, const int32_t* indices, Visit visit) {
  TENON_RETURN_IF_ERROR(CheckImages(indices, grads.dim(0), image.dim(0)));
  for (int64_t b = 0; b < grads.dim(0); ++b) {
    const float* box = boxes + 4 * b;
    for (int64_t r = 0; r < grads.dim(1); ++r) {
      const CropPlace y = CropPlaceOf(box[0], box[2], r, grads.dim(1), image.dim(1));
      for (int64_t k = 0; k < grads.dim(2); ++k, from += grads.dim(3)) {
        const CropPlace x = CropPlaceOf(box[1], box[3], k, grads.dim(2), image.dim(2));
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

// The gradients of the images' rows begin … end, counted over all images: other ranges of rows are
// other threads', each of which looks through all boxes.
template <typename T>
class RowsOfImages {
 public:
  RowsOfImages(const Shape& grads, const Shape& image, bool nearest, int64_t begin, int64_t end,
               T* out)
      : grads_(grads), image_(image), nearest_(nearest), begin_(begin), end_(end), out_(out) {}

  void Sum(const float* from, const float* boxes, const int32_t* indices) const {
    const int64_t row = grads_.dim(2) * grads_.dim(3);
    std::fill_n(Row(begin_), (end_ - begin_) * image_.dim(2) * image_.dim(3), T(0));
    for (int64_t b = 0; b < grads_.dim(0); ++b, boxes += 4) {
      const int64_t first = indices[b] * image_.dim(1);
      if (first >= end_ || first + image_.dim(1) <= begin_) continue;
      const auto columns = CropPlacesOf(boxes[1], boxes[3], grads_.dim(2), image_.dim(2));
      for (int64_t r = 0; r < grads_.dim(1); ++r) {
        const CropPlace y = CropPlaceOf(boxes[0], boxes[2], r, grads_.dim(1), image_.dim(1));
        if (!y.inside) continue;
        const float* const line = from + (b * grads_.dim(1) + r) * row;
        if (nearest_) {
          AddRow(line, columns, 1, first + y.nearest());
        } else {
          AddRow(line, columns, 1 - y.fraction, first + y.lower);
          AddRow(line, columns, y.fraction, first + y.upper);
        }
      }
    }
  }

 private:
  T* Row(int64_t row) const { return out_ + row * image_.dim(2) * image_.dim(3); }

  void AddRow(const float* from, const std::vector<CropPlace>& columns, float y,
              int64_t row) const {
    if (row < begin_ || row >= end_) return;
    const int64_t channels = image_.dim(3);
    T* const line = Row(row);
    for (const CropPlace& x : columns) {
      const auto add = [&](int64_t at, float weight) {
        T* const to = line + at * channels;
        for (int64_t i = 0; i < channels; ++i) to[i] += static_cast<T>(weight * (y * from[i]));
      };
      if (x.inside && nearest_) add(x.nearest(), 1);
      if (x.inside && !nearest_) {
        add(x.lower, 1 - x.fraction);
        add(x.upper, x.fraction);
      }
      from += channels;
    }
  }

  const Shape &grads_, &image_;
  const bool nearest_;
  const int64_t begin_, end_;
  T* const out_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CropAndResizeImageGrad(PrepareContext& p) {
  const std::string method = p.attrs().String("method", "bilinear");
  if (method != "bilinear" && method != "nearest") return InvalidArgument("method '", method, "'");
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, CropAndResizeImageGrad, {3});
  p.InputNotRead(3);
  const bool nearest = method == "nearest";
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const int threads = p.services().threads;
  const int64_t rows = image.dim(0) * image.dim(1);
  const double ns = static_cast<double>(grads.num_elements() + image.num_elements()) /
                    static_cast<double>(std::max<int64_t>(rows, 1));
  return DispatchType(TypeList<float, half, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int32_t* const indices = run.input<int32_t>(2);
      TENON_RETURN_IF_ERROR(CheckImages(indices, grads.dim(0), image.dim(0)));
      ParallelFor(threads, rows, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
        const RowsOfImages<T> part(grads, image, nearest, begin, end, run.output<T>(0));
        part.Sum(run.input<float>(0), run.input<float>(1), indices);
      });
      return absl::OkStatus();
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
              [&](int64_t b, int64_t r, int64_t k, int64_t n, const CropPlace& y,
                  const CropPlace& x, const float* from) {
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

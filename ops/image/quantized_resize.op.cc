// QuantizedResizeBilinear: ResizeBilinear of quantized images [N, H, W, C], whose range stays.
#include <vector>

#include "kernels/image/resize.h"
#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/quantized/range_inputs.h"
#include "ops/image/image_shape.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

// Unlike the other resizes, this one allows align_corners together with half_pixel_centers.
absl::Status QuantizedResizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3}));
  TENON_RETURN_IF_ERROR(CheckPixels(c.input(0)));
  if (c.input(0).has_rank() && c.input(0).dim(3) == 0) {
    return InvalidArgument("an image without channels");
  }
  for (int i : {1, 2}) c.set_output(i, Shape());
  return SetResized(c, c.input(0));
}

// Interpolates in fixed point, as TensorFlow does; weights have `kBits` bits.
template <typename T, int kBits>
class FixedPointBilinear {
 public:
  explicit FixedPointBilinear(PrepareContext& p)
      : in_(p.input_shape(0)),
        rows_(BilinearTaps(AxisOf(p, 1))),
        columns_(BilinearTaps(AxisOf(p, 2))) {}

  void Run(const T* image, T* out) const {
    const int64_t channels = in_.dim(3), width = in_.dim(2) * channels;
    for (int64_t n = 0; n < in_.dim(0); ++n, image += in_.dim(1) * width) {
      for (const BilinearTap& row : rows_) {
        const T *const top = image + row.lower * width, *const bottom = image + row.upper * width;
        for (const BilinearTap& column : columns_) {
          const int64_t left = column.lower * channels, right = column.upper * channels;
          const int64_t x = Fixed(column.weight), y = Fixed(row.weight);
          for (int64_t c = 0; c < channels; ++c) {
            const int64_t above = Between(top[left + c], top[right + c], x);
            const int64_t below = Between(bottom[left + c], bottom[right + c], x);
            *out++ = static_cast<T>((above + (below - above) / kOne * y + kOne / 2) / kOne);
          }
        }
      }
    }
  }

 private:
  static constexpr int64_t kOne = int64_t{1} << kBits;

  static int64_t Fixed(float weight) {
    return static_cast<int64_t>(weight * static_cast<float>(kOne));
  }
  // TensorFlow takes 32-bit quantized integers to 64 bits by way of float.
  static int64_t Wide(T v) { return static_cast<int64_t>(static_cast<float>(v)); }
  static int64_t Between(T a, T b, int64_t weight) {
    return Wide(a) * kOne + (Wide(b) - Wide(a)) * weight;
  }

  const Shape in_;
  const std::vector<BilinearTap> rows_, columns_;
};

absl::Status CopyRange(RunContext& run) {
  SetRange(run, 1, ScalarRange(run, 2));
  return absl::OkStatus();
}

template <typename T, int kBits>
absl::StatusOr<std::unique_ptr<Kernel>> FixedPointResize(PrepareContext& p) {
  const FixedPointBilinear<T, kBits> bilinear(p);
  // An image that keeps its size is copied, whatever the positions of its pixels' centers.
  const bool copies = p.input_shape(0) == p.output_shape(0);
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([=](RunContext& run) {
    if (copies) {
      std::copy_n(run.input<T>(0), n, run.output<T>(0));
    } else {
      bilinear.Run(run.input<T>(0), run.output<T>(0));
    }
    return CopyRange(run);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedResize(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, QuantizedResize, {1});
  if (p.input_dtype(0) == DType::kFloat) {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> resize, ResizeBilinear(p));
    return MakeKernel([resize = std::move(resize)](RunContext& run) -> absl::Status {
      TENON_RETURN_IF_ERROR(resize->Run(run));
      return CopyRange(run);
    });
  }
  p.InputNotRead(1);
  return p.input_dtype(0) == DType::kQuint8 ? FixedPointResize<uint8_t, 7>(p)
                                            : FixedPointResize<int32_t, 30>(p);
}

const OpRegistration quantized_resize_bilinear({
    .name = "QuantizedResizeBilinear",
    .inputs = "images: T, size: int32, min: float, max: float",
    .outputs = "resized_images: T, out_min: float, out_max: float",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: quint8 qint32 float",
    .shape = QuantizedResizeShape,
    .reference = QuantizedResize,
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kBilinear,
});

}  // namespace
}  // namespace tenon

// ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic and ResizeArea of NHWC images, with
// align_corners and half_pixel_centers.
#include "kernels/image/resize.h"

#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kImageTypes[] = "int8 uint8 int16 uint16 int32 int64 half float double bfloat16";

absl::Status ResizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(CheckResizeFlags(c));
  TENON_RETURN_IF_ERROR(CheckPixels(c.input(0)));
  return SetResized(c, c.input(0));
}

const OpRegistration resize_bilinear({
    .name = "ResizeBilinear",
    .inputs = "images: T, size: int32",
    .outputs = "resized_images: float",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: int8 uint8 int16 uint16 int32 int64 bfloat16 half float double",
    .shape = ResizeShape,
    .reference = ResizeBilinear,
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kBilinear,
});

const OpRegistration resize_nearest_neighbor({
    .name = "ResizeNearestNeighbor",
    .inputs = "images: T, size: int32",
    .outputs = "resized_images: T",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: int8 uint8 int16 uint16 int32 int64 half float double bfloat16",
    .shape = ResizeShape,
    .reference = ResizeNearest,
    .moves_elements = true,
    .batch_axis = batch_axis::FirstInput,
});

const OpRegistration resize_bicubic({
    .name = "ResizeBicubic",
    .inputs = "images: T, size: int32",
    .outputs = "resized_images: float",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: int8 uint8 int16 uint16 int32 int64 half float double bfloat16",
    .shape = ResizeShape,
    .reference = ResizeBicubic,
    .accelerated = VectorResizeBicubic,
    .native = "_MklNativeResizeBicubic",
    .native_types = kImageTypes,
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kImagePositions,
});

const OpRegistration resize_area({
    .name = "ResizeArea",
    .inputs = "images: T, size: int32",
    .outputs = "resized_images: float",
    .attrs = "T: type; align_corners: bool = false",
    .types = "T: int8 uint8 int16 uint16 int32 int64 half float double bfloat16",
    .shape = ResizeShape,
    .reference = ResizeArea,
    .accelerated = VectorResizeArea,
    .native = "_MklNativeResizeArea",
    .native_types = kImageTypes,
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kImagePositions,
});

}  // namespace
}  // namespace tenon

// DecodeImage, DecodeJpeg, DecodeAndCropJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeWebP: the
// pixels of an image file. The file's first bytes determine its format: most of these ops read more
// formats than their name says.
#include "kernels/image/decode.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <ImageFile kind>
absl::Status DecodedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  if (kind == ImageFile::kAny || kind == ImageFile::kWebP) return absl::OkStatus();
  if (kind == ImageFile::kGif) {
    c.set_output(0, Shape({-1, -1, -1, 3}));
    return absl::OkStatus();
  }
  if (kind == ImageFile::kJpegCrop && !c.input(1).CompatibleWith(Shape({4}))) {
    return InvalidArgument("crop_window must have 4 elements, but has shape ",
                           c.input(1).ToString());
  }
  const int64_t channels = c.attrs().Int("channels", 0);
  c.set_output(0, Shape({-1, -1, channels > 0 ? channels : -1}));
  return absl::OkStatus();
}

absl::Status JpegShapeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  c.set_output(0, Shape({3}));
  return absl::OkStatus();
}

const OpRegistration decode_image_op({
    .name = "DecodeImage",
    .inputs = "contents: string",
    .outputs = "image: dtype",
    .attrs = "channels: int = 0; dtype: type = uint8; expand_animations: bool = true",
    .types = "dtype: uint8 uint16 float",
    .shape = DecodedShape<ImageFile::kAny>,
    .reference = DecodeImage<ImageFile::kAny>,
});

const OpRegistration decode_jpeg_op({
    .name = "DecodeJpeg",
    .inputs = "contents: string",
    .outputs = "image: uint8",
    .attrs = "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; "
             "try_recover_truncated: bool = false; acceptable_fraction: float = 1; "
             "dct_method: string = ",
    .shape = DecodedShape<ImageFile::kJpeg>,
    .reference = DecodeImage<ImageFile::kJpeg>,
});

const OpRegistration decode_and_crop_jpeg_op({
    .name = "DecodeAndCropJpeg",
    .inputs = "contents: string, crop_window: int32",
    .outputs = "image: uint8",
    .attrs = "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; "
             "try_recover_truncated: bool = false; acceptable_fraction: float = 1; "
             "dct_method: string = ",
    .shape = DecodedShape<ImageFile::kJpegCrop>,
    .reference = DecodeImage<ImageFile::kJpegCrop>,
});

const OpRegistration decode_png_op({
    .name = "DecodePng",
    .inputs = "contents: string",
    .outputs = "image: dtype",
    .attrs = "channels: int = 0; dtype: type = uint8",
    .types = "dtype: uint8 uint16",
    .shape = DecodedShape<ImageFile::kPng>,
    .reference = DecodeImage<ImageFile::kPng>,
});

const OpRegistration decode_gif_op({
    .name = "DecodeGif",
    .inputs = "contents: string",
    .outputs = "image: uint8",
    .shape = DecodedShape<ImageFile::kGif>,
    .reference = DecodeImage<ImageFile::kGif>,
});

const OpRegistration decode_bmp_op({
    .name = "DecodeBmp",
    .inputs = "contents: string",
    .outputs = "image: uint8",
    .attrs = "channels: int = 0",
    .shape = DecodedShape<ImageFile::kBmp>,
    .reference = DecodeImage<ImageFile::kBmp>,
});

const OpRegistration decode_webp_op({
    .name = "DecodeWebP",
    .inputs = "contents: string",
    .outputs = "image: dtype",
    .attrs = "channels: int = 0; dtype: type = uint8",
    .types = "dtype: uint8",
    .shape = DecodedShape<ImageFile::kWebP>,
    .reference = DecodeImage<ImageFile::kWebP>,
});

const OpRegistration extract_jpeg_shape_op({
    .name = "ExtractJpegShape",
    .inputs = "contents: string",
    .outputs = "image_shape: output_type",
    .attrs = "output_type: type = int32",
    .types = "output_type: int32 int64",
    .shape = JpegShapeShape,
    .reference = JpegShape,
});

}  // namespace
}  // namespace tenon

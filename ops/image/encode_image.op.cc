// EncodePng, EncodeJpeg, EncodeJpegVariableQuality: image files from pixels.
#include "kernels/image/codecs/jpeg.h"
#include "kernels/image/codecs/png.h"
#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status PngShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (in.rank() < 3) return InvalidArgument("image must have at least 3 dimensions");
  Shape out;
  for (int d = 0; d < in.rank() - 3; ++d) out.push_back(in.dim(d));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

ImageSize SizeOfLast(const Shape& shape) {
  const int r = shape.rank();
  return {shape.dim(r - 3), shape.dim(r - 2), shape.dim(r - 1)};
}

absl::StatusOr<std::unique_ptr<Kernel>> Png(PrepareContext& p) {
  const int64_t compression = p.attrs().Int("compression", -1);
  if (compression < -1 || compression > 9) {
    return InvalidArgument("compression must be -1 to 9, but is ", compression);
  }
  const ImageSize size = SizeOfLast(p.input_shape(0));
  if (size.channels < 1 || size.channels > 4) {
    return InvalidArgument("image must have 1 to 4 channels, but has ", size.channels);
  }
  const int64_t images = p.output_shape(0).num_elements();
  const int64_t bytes = size.elements() * static_cast<int64_t>(SizeOf(p.input_dtype(0)));
  const PngDepth depth = p.input_dtype(0) == DType::kUint8 ? PngDepth::k8 : PngDepth::k16;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    for (int64_t i = 0; i < images; ++i) {
      TENON_ASSIGN_OR_RETURN(run.output<std::string>(0)[i],
                             EncodePng(run.input<char>(0) + i * bytes, size, depth, compression));
    }
    return absl::OkStatus();
  });
}

absl::Status JpegShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 3));
  if (c.num_inputs() > 1) TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  c.set_output(0, Shape());
  return absl::OkStatus();
}

absl::Status CheckQuality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return absl::OkStatus();
  return InvalidArgument("quality must be 0 to 100, but is ", quality);
}

absl::StatusOr<JpegEncoding> EncodingOf(const AttrReader& attrs) {
  JpegEncoding how;
  how.quality = attrs.Int("quality", 95);
  TENON_RETURN_IF_ERROR(CheckQuality(how.quality));
  how.progressive = attrs.Bool("progressive", false);
  how.optimize_size = attrs.Bool("optimize_size", false);
  how.subsample_chroma = attrs.Bool("chroma_downsampling", true);
  const std::string unit = attrs.String("density_unit", "in");
  if (unit != "in" && unit != "cm") {
    return InvalidArgument("density_unit must be 'in' or 'cm', but is '", unit, "'");
  }
  how.dots_per_inch = unit == "in";
  how.x_density = attrs.Int("x_density", 300);
  how.y_density = attrs.Int("y_density", 300);
  how.xmp = attrs.String("xmp_metadata", "");
  return how;
}

absl::StatusOr<std::unique_ptr<Kernel>> Jpeg(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const JpegEncoding encoding, EncodingOf(p.attrs()));
  const ImageSize size = SizeOfLast(p.input_shape(0));
  const std::string format = p.attrs().String("format", "");
  if (!format.empty() && format != "grayscale" && format != "rgb") {
    return InvalidArgument("format must be '', grayscale or rgb, but is '", format, "'");
  }
  const bool fits = format.empty() ? size.channels == 1 || size.channels == 3
                                   : size.channels == (format == "rgb" ? 3 : 1);
  if (!fits)
    return InvalidArgument("image has ", size.channels, " channels, format '", format, "'");
  const bool quality_given = p.num_inputs() > 1;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    JpegEncoding how = encoding;
    if (quality_given) how.quality = *run.input<int32_t>(1);
    TENON_RETURN_IF_ERROR(CheckQuality(how.quality));
    TENON_ASSIGN_OR_RETURN(*run.output<std::string>(0),
                           EncodeJpeg(run.input<uint8_t>(0), size, how));
    return absl::OkStatus();
  });
}

const OpRegistration encode_png_op({
    .name = "EncodePng",
    .inputs = "image: T",
    .outputs = "contents: string",
    .attrs = "compression: int = -1; T: type = uint8",
    .types = "T: uint8 uint16",
    .shape = PngShape,
    .reference = Png,
});

const OpRegistration encode_jpeg_op({
    .name = "EncodeJpeg",
    .inputs = "image: uint8",
    .outputs = "contents: string",
    .attrs = "format: string = ; quality: int = 95; progressive: bool = false; "
             "optimize_size: bool = false; chroma_downsampling: bool = true; "
             "density_unit: string = in; x_density: int = 300; y_density: int = 300; "
             "xmp_metadata: string = ",
    .shape = JpegShape,
    .reference = Jpeg,
});

const OpRegistration encode_jpeg_variable_quality_op({
    .name = "EncodeJpegVariableQuality",
    .inputs = "images: uint8, quality: int32",
    .outputs = "contents: string",
    .shape = JpegShape,
    .reference = Jpeg,
});

}  // namespace
}  // namespace tenon

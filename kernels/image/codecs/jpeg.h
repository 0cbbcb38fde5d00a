// Encodes and decodes JPEG images in memory with libjpeg. Its error exits stay within jpeg.cc.
#ifndef TENON_KERNELS_IMAGE_CODECS_JPEG_H_
#define TENON_KERNELS_IMAGE_CODECS_JPEG_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/image/codecs/codec.h"

namespace tenon {

struct JpegDecoding {
  int64_t channels = 0;  // 0: as in the file, but 3 for 4; 1, 3
  int64_t ratio = 1;     // shrinks by 1, 2, 4 or 8
  bool smooth_upsampling = true;
  bool recover_truncated = false;  // missing rows repeat the last one
  float acceptable_fraction = 1;   // of the rows; black follows
  bool exact_dct = false;          // otherwise libjpeg's fast integer transform
  bool crop = false;
  int64_t top = 0, left = 0, height = 0, width = 0;  // of the crop, in output pixels
};
// uint8 pixels.
absl::Status DecodeJpeg(absl::string_view file, const JpegDecoding& how, AllocatePixels allocate);

// Reads only the header.
absl::StatusOr<ImageSize> JpegSize(absl::string_view file);

struct JpegEncoding {
  int64_t quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool subsample_chroma = true;
  bool dots_per_inch = true;  // else per centimeter
  int64_t x_density = 300;
  int64_t y_density = 300;
  std::string xmp;
};
// 1 or 3 channels of uint8.
absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const ImageSize& size,
                                       const JpegEncoding& how);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CODECS_JPEG_H_

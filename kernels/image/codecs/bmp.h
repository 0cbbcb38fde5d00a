// Decodes uncompressed BMP images of 8, 24 or 32 bits per pixel.
#ifndef TENON_KERNELS_IMAGE_CODECS_BMP_H_
#define TENON_KERNELS_IMAGE_CODECS_BMP_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/image/codecs/codec.h"

namespace tenon {

// uint8 pixels; channels: 0 as in the file, 3 or 4.
absl::Status DecodeBmp(absl::string_view file, int64_t channels, AllocatePixels allocate);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CODECS_BMP_H_

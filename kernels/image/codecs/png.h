// Encodes and decodes PNG images in memory with libpng. Its error exits stay within png.cc.
#ifndef TENON_KERNELS_IMAGE_CODECS_PNG_H_
#define TENON_KERNELS_IMAGE_CODECS_PNG_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/image/codecs/codec.h"

namespace tenon {

enum class PngDepth { k8 = 8, k16 = 16 };

// Pixels are uint8 or uint16; channels: 0 as in the file, 1 gray, 2 gray and alpha, 3, 4.
absl::Status DecodePng(absl::string_view file, int64_t channels, PngDepth depth,
                       AllocatePixels allocate);

// 1 to 4 channels of uint8 or uint16; compression: -1 (zlib's default) to 9.
absl::StatusOr<std::string> EncodePng(const void* pixels, const ImageSize& size, PngDepth depth,
                                      int64_t compression);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CODECS_PNG_H_

// Decodes WebP images, still and animated, with libwebp.
#ifndef TENON_KERNELS_IMAGE_CODECS_WEBP_H_
#define TENON_KERNELS_IMAGE_CODECS_WEBP_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/image/codecs/codec.h"

namespace tenon {

enum class WebPFrames { kFirst, kAll };

// Whether the file begins as a WebP file does.
bool IsWebP(absl::string_view file);

// uint8 pixels; channels: 0 as in the file, 3, or 4 with alpha, which an animation always has.
// InvalidArgument if it is another number than the file's.
absl::Status DecodeWebP(absl::string_view file, int64_t channels, WebPFrames frames,
                        AllocatePixels allocate);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CODECS_WEBP_H_

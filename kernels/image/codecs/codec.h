// Shared by the image codecs: the destination of decoded pixels, and the size limit.
#ifndef TENON_KERNELS_IMAGE_CODECS_CODEC_H_
#define TENON_KERNELS_IMAGE_CODECS_CODEC_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace tenon {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t frames = 1;

  int64_t elements() const { return frames * height * width * channels; }
};

// Images with more pixels (times channels, for JPEG) are refused before memory is allocated.
inline constexpr int64_t kMaxPixels = int64_t{1} << 29;

// Memory for the pixels, row-major [frames, height, width, channels], once the size is known.
using AllocatePixels = absl::FunctionRef<absl::StatusOr<void*>(const ImageSize& size)>;

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CODECS_CODEC_H_

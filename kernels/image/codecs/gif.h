// Decodes GIF images: every frame is drawn over the previous one.
#ifndef TENON_KERNELS_IMAGE_CODECS_GIF_H_
#define TENON_KERNELS_IMAGE_CODECS_GIF_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/image/codecs/codec.h"

namespace tenon {

enum class GifFrames { kFirst, kAll };

// uint8 pixels with 3 channels. The canvas is as large as the largest frame, and black where
// nothing has been drawn yet. As in TensorFlow, a damaged file yields the complete frames before
// the damage; InvalidArgument if there are none.
absl::Status DecodeGif(absl::string_view file, GifFrames frames, AllocatePixels allocate);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CODECS_GIF_H_

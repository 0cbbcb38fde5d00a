// Reads GIF images: every frame drawn over the one before it.
#ifndef TENON_KERNELS_IMAGE_CODECS_GIF_H_
#define TENON_KERNELS_IMAGE_CODECS_GIF_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/image/codecs/codec.h"

namespace tenon {

enum class GifFrames { kFirst, kAll };

// uint8 pixels of 3 channels. The canvas is as large as the largest frame; where nothing was drawn
// yet it is black. Of a damaged file the whole frames before the damage are read, as TensorFlow
// does; InvalidArgument where there are none.
absl::Status DecodeGif(absl::string_view file, GifFrames frames, AllocatePixels allocate);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CODECS_GIF_H_

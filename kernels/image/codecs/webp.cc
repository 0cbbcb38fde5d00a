#include "kernels/image/codecs/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "env/status.h"

namespace tenon {
namespace {

struct DeleteAnimation {
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

absl::Status DecodeAnimation(absl::string_view file, WebPFrames frames, AllocatePixels allocate) {
  const WebPData data = {reinterpret_cast<const uint8_t*>(file.data()), file.size()};
  const std::unique_ptr<WebPAnimDecoder, DeleteAnimation> decoder(
      WebPAnimDecoderNew(&data, nullptr));
  WebPAnimInfo info;
  if (decoder == nullptr || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0) {
    return InvalidArgument("the WebP animation is damaged");
  }
  const ImageSize size = {.height = info.canvas_height,
                          .width = info.canvas_width,
                          .channels = 4,
                          .frames = frames == WebPFrames::kAll ? info.frame_count : 1};
  // Frames cost few bytes in the file.
  if (size.frames == 0 ||
      size.frames > kMaxPixels / std::max<int64_t>(size.height * size.width, 1)) {
    return InvalidArgument("a WebP of ", size.frames, " frames of ", size.width, " by ",
                           size.height, " pixels");
  }
  TENON_ASSIGN_OR_RETURN(void* const pixels, allocate(size));
  const int64_t bytes = size.elements() / size.frames;
  for (int64_t frame = 0; frame < size.frames; ++frame) {
    uint8_t* drawn = nullptr;
    int timestamp = 0;
    if (WebPAnimDecoderHasMoreFrames(decoder.get()) == 0 ||
        WebPAnimDecoderGetNext(decoder.get(), &drawn, &timestamp) == 0) {
      return InvalidArgument("frame ", frame, " of the WebP is damaged");
    }
    std::copy_n(drawn, bytes, static_cast<uint8_t*>(pixels) + frame * bytes);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsWebP(absl::string_view file) {
  return absl::StartsWith(file, "RIFF") && file.size() >= 12 && file.substr(8, 4) == "WEBP";
}

absl::Status DecodeWebP(absl::string_view file, int64_t channels, WebPFrames frames,
                        AllocatePixels allocate) {
  const auto* const data = reinterpret_cast<const uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, file.size(), &features) != VP8_STATUS_OK) {
    return InvalidArgument("the WebP is damaged");
  }
  const ImageSize size = {.height = features.height,
                          .width = features.width,
                          .channels = features.has_alpha != 0 ? 4 : 3};
  if (channels != 0 && channels != size.channels) {
    return InvalidArgument("a WebP of ", size.channels, " channels, not ", channels);
  }
  if (size.height * size.width > kMaxPixels) {
    return InvalidArgument("a WebP of ", size.width, " by ", size.height, " pixels");
  }
  if (features.has_animation != 0) {
    if (channels == 3) return InvalidArgument("a WebP animation has 4 channels, not 3");
    return DecodeAnimation(file, frames, allocate);
  }
  TENON_ASSIGN_OR_RETURN(void* const pixels, allocate(size));
  const auto decode = size.channels == 4 ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (decode(data, file.size(), static_cast<uint8_t*>(pixels), static_cast<size_t>(size.elements()),
             static_cast<int>(size.width * size.channels)) == nullptr) {
    return InvalidArgument("the WebP's pixels are damaged");
  }
  return absl::OkStatus();
}

}  // namespace tenon

#include "kernels/image/codecs/gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "env/status.h"

namespace tenon {
namespace {

struct CloseGif {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, CloseGif>;

int ReadBytes(GifFileType* gif, GifByteType* to, int count) {
  auto& left = *static_cast<absl::string_view*>(gif->UserData);
  const size_t n = std::min(left.size(), static_cast<size_t>(count));
  if (n > 0) std::memcpy(to, left.data(), n);
  left.remove_prefix(n);
  return static_cast<int>(n);
}

struct Frame {
  int64_t left = 0, top = 0, width = 0, height = 0;
  bool interlaced = false;
  int transparent = NO_TRANSPARENT_COLOR;
  const ColorMapObject* colors = nullptr;  // owned by the GifFileType
  std::vector<GifByteType> pixels = {};    // color indices, in file order
};

// The order of the image's rows in the file.
std::vector<int64_t> RowOrder(const Frame& frame) {
  struct Pass {
    int64_t start, step;
  };
  constexpr Pass kPlain[] = {{0, 1}}, kInterlaced[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  std::vector<int64_t> rows;
  for (const Pass& pass : frame.interlaced ? absl::MakeConstSpan(kInterlaced) : kPlain) {
    for (int64_t row = pass.start; row < frame.height; row += pass.step) rows.push_back(row);
  }
  return rows;
}

// Reads the frame's pixels; returns false if they are incomplete. Memory grows with the pixels
// actually present, because a short file may state any size, up to `most`; a larger frame is not
// kept.
bool ReadPixels(GifFileType* gif, int64_t most, Frame& frame) {
  if (frame.height <= 0 || frame.width <= 0) return false;
  const bool keep = frame.height * frame.width <= most;
  std::vector<GifByteType> row(static_cast<size_t>(frame.width));
  for (int64_t i = 0; i < frame.height; ++i) {
    if (DGifGetLine(gif, row.data(), static_cast<int>(frame.width)) != GIF_OK) return false;
    if (keep) frame.pixels.insert(frame.pixels.end(), row.begin(), row.end());
  }
  return true;
}

// Reads the transparent color from a graphic control block, if `function` says that it is one.
bool ReadExtension(GifFileType* gif, bool& controlled, int& transparent) {
  int function = 0;
  GifByteType* block = nullptr;
  if (DGifGetExtension(gif, &function, &block) != GIF_OK) return false;
  if (block != nullptr && function == GRAPHICS_EXT_FUNC_CODE && !controlled) {
    controlled = true;
    GraphicsControlBlock control;
    if (DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
      transparent = control.TransparentColor;
    }
  }
  while (block != nullptr) {
    if (DGifGetExtensionNext(gif, &block) != GIF_OK) return false;
  }
  return true;
}

// As in TensorFlow: a file that ends early, or continues with invalid data, yields its complete
// frames.
absl::StatusOr<std::vector<Frame>> ReadFrames(GifFileType* gif) {
  std::vector<Frame> frames;
  int64_t pixels = 0;
  bool controlled = false;  // by an extension before the next frame
  int transparent = NO_TRANSPARENT_COLOR;
  for (GifRecordType type = UNDEFINED_RECORD_TYPE; type != TERMINATE_RECORD_TYPE;) {
    if (DGifGetRecordType(gif, &type) != GIF_OK) break;
    if (type == EXTENSION_RECORD_TYPE && !ReadExtension(gif, controlled, transparent)) break;
    if (type != IMAGE_DESC_RECORD_TYPE) continue;
    if (DGifGetImageDesc(gif) != GIF_OK) break;
    Frame frame{gif->Image.Left, gif->Image.Top, gif->Image.Width, gif->Image.Height,
                gif->Image.Interlace};
    const SavedImage& saved = gif->SavedImages[gif->ImageCount - 1];
    frame.colors = saved.ImageDesc.ColorMap != nullptr ? saved.ImageDesc.ColorMap : gif->SColorMap;
    frame.transparent = std::exchange(transparent, NO_TRANSPARENT_COLOR);
    controlled = false;
    if (!ReadPixels(gif, kMaxPixels - pixels, frame)) break;
    pixels += frame.height * frame.width;
    if (pixels > kMaxPixels) {
      return InvalidArgument("frame ", frames.size(), " of the GIF is ", frame.height, " by ",
                             frame.width);
    }
    frames.push_back(std::move(frame));
  }
  if (frames.empty()) {
    const char* why = GifErrorString(gif->Error);
    return InvalidArgument("the GIF has no whole frame", why == nullptr ? "" : ": ",
                           why == nullptr ? "" : why);
  }
  return frames;
}

absl::Status Draw(const Frame& frame, const ImageSize& size, uint8_t* canvas) {
  if (frame.colors == nullptr) return InvalidArgument("a GIF frame has no colors");
  const int64_t width = std::min(frame.width, size.width - frame.left);
  const GifByteType* pixels = frame.pixels.data();
  for (const int64_t row : RowOrder(frame)) {
    const int64_t y = frame.top + row;
    for (int64_t j = 0; y < size.height && j < width; ++j) {
      const int color = pixels[j];
      if (color == frame.transparent) continue;
      if (color >= frame.colors->ColorCount) {
        return InvalidArgument("a GIF frame has no color ", color);
      }
      const GifColorType& rgb = frame.colors->Colors[color];
      uint8_t* to = canvas + (y * size.width + frame.left + j) * size.channels;
      to[0] = rgb.Red;
      to[1] = rgb.Green;
      to[2] = rgb.Blue;
    }
    pixels += frame.width;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeGif(absl::string_view file, GifFrames which, AllocatePixels allocate) {
  int error = 0;
  const Gif gif(DGifOpen(&file, ReadBytes, &error));
  if (gif == nullptr) return InvalidArgument("not a GIF: ", GifErrorString(error));
  TENON_ASSIGN_OR_RETURN(std::vector<Frame> frames, ReadFrames(gif.get()));
  ImageSize size{0, 0, 3};
  for (const Frame& f : frames) {
    size.height = std::max(size.height, f.height);
    size.width = std::max(size.width, f.width);
  }
  if (which == GifFrames::kFirst) frames.resize(1);
  size.frames = static_cast<int64_t>(frames.size());
  if (size.height * size.width >= kMaxPixels / size.frames) {
    return InvalidArgument("a GIF of ", size.frames, " frames of ", size.height, " by ",
                           size.width);
  }
  TENON_ASSIGN_OR_RETURN(void* memory, allocate(size));
  uint8_t* canvas = static_cast<uint8_t*>(memory);
  const int64_t bytes = size.height * size.width * size.channels;
  std::fill_n(canvas, bytes, uint8_t{0});
  for (size_t k = 0; k < frames.size(); ++k) {
    if (k > 0) {
      std::copy_n(canvas, bytes, canvas + bytes);
      canvas += bytes;
    }
    TENON_RETURN_IF_ERROR(Draw(frames[k], size, canvas));
  }
  return absl::OkStatus();
}

}  // namespace tenon

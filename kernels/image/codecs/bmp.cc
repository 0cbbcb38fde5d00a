#include "kernels/image/codecs/bmp.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "env/status.h"

namespace tenon {
namespace {

constexpr size_t kHeaderBytes = 32;  // the part that is read

template <typename T>
T At(absl::string_view file, size_t offset) {
  T v;
  std::memcpy(&v, file.data() + offset, sizeof v);
  return v;
}

}  // namespace

absl::Status DecodeBmp(absl::string_view file, int64_t channels, AllocatePixels allocate) {
  if (file.size() < kHeaderBytes) return InvalidArgument("a BMP of ", file.size(), " bytes");
  const int64_t start = At<int32_t>(file, 10), width = At<int32_t>(file, 18),
                signed_height = At<int32_t>(file, 22), stored = At<int16_t>(file, 28) / 8;
  const bool top_down = signed_height < 0;
  const int64_t height = std::abs(signed_height);
  if (stored != 1 && stored != 3 && stored != 4) {
    return InvalidArgument("a BMP must have 8, 24 or 32 bits a pixel, but has ",
                           At<int16_t>(file, 28));
  }
  if (width <= 0 || height == 0 || start < 0 ||
      width * height >= std::numeric_limits<int32_t>::max() / 8) {
    return InvalidArgument("a BMP of ", signed_height, " by ", width, ", pixels from byte ", start);
  }
  const int64_t row = (stored * width + 3) / 4 * 4;
  if (start + row * height != static_cast<int64_t>(file.size())) {
    return InvalidArgument("a BMP of ", height, " rows of ", row, " bytes, from byte ", start,
                           ", in ", file.size(), " bytes");
  }
  const ImageSize size{height, width, channels != 0 ? channels : stored};
  TENON_ASSIGN_OR_RETURN(void* memory, allocate(size));
  uint8_t* out = static_cast<uint8_t*>(memory);
  for (int64_t y = 0; y < height; ++y) {
    const char* in = file.data() + start + (top_down ? y : height - 1 - y) * row;
    for (int64_t x = 0; x < width; ++x, in += stored, out += size.channels) {
      // Blue comes first; a single channel is used for all three.
      const int64_t colors = std::min<int64_t>(size.channels, 3);
      for (int64_t c = 0; c < colors; ++c)
        out[c] = static_cast<uint8_t>(in[stored == 1 ? 0 : 2 - c]);
      if (size.channels == 4) out[3] = stored == 4 ? static_cast<uint8_t>(in[3]) : uint8_t{255};
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon

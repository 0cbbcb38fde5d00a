#include "ops/image/gif.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/match.h"
#include "env/status.h"

namespace tenon {
namespace {

constexpr uint8_t kExtension = 0x21, kImage = 0x2C, kTrailer = 0x3B, kGraphicControl = 0xF9;
constexpr uint8_t kHasColors = 0x80, kInterlaced = 0x40;
constexpr int kNoColor = -1;

// Bytes from the front; past the end everything is 0 and ok() is false.
class Bytes {
 public:
  explicit Bytes(absl::string_view left) : left_(left) {}
  bool ok() const { return ok_; }
  absl::string_view left() const { return left_; }
  absl::string_view Take(size_t n) {
    if (n > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    const absl::string_view taken = left_.substr(0, n);
    left_.remove_prefix(n);
    return taken;
  }
  int Byte() {
    const absl::string_view b = Take(1);
    return b.empty() ? 0 : static_cast<uint8_t>(b[0]);
  }
  int Short() {
    const int low = Byte();
    return low | Byte() << 8;
  }
  // Blocks up to an empty one; `to`, if any, gets what is in them.
  void Blocks(std::vector<uint8_t>* to) {
    while (const size_t n = static_cast<size_t>(Byte())) {
      const absl::string_view block = Take(n);
      if (to != nullptr) to->insert(to->end(), block.begin(), block.end());
    }
  }

 private:
  absl::string_view left_;
  bool ok_ = true;
};

struct Frame {
  int left = 0, top = 0, width = 0, height = 0;
  bool interlaced = false;
  int transparent = kNoColor;
  absl::string_view colors;  // 3 bytes each
  int code_bits = 0;
  absl::string_view data;  // blocks, and what follows them
};

absl::string_view Colors(Bytes& in, int flags) {
  if ((flags & kHasColors) == 0) return {};
  return in.Take(size_t{3} << ((flags & 7) + 1));
}

absl::StatusOr<std::vector<Frame>> FramesOf(absl::string_view file) {
  Bytes in(file);
  const absl::string_view signature = in.Take(6);
  if (signature != "GIF87a" && signature != "GIF89a") return InvalidArgument("not a GIF");
  in.Take(4);
  const int screen = in.Byte();
  in.Take(2);
  const absl::string_view colors = Colors(in, screen);
  std::vector<Frame> frames;
  int transparent = kNoColor;
  for (;;) {
    const int kind = in.Byte();
    if (!in.ok()) return InvalidArgument("the GIF data end too early");
    if (kind == kTrailer) break;
    if (kind == kExtension) {
      const int label = in.Byte();
      std::vector<uint8_t> body;
      in.Blocks(&body);
      if (label == kGraphicControl && body.size() >= 4) {
        transparent = (body[0] & 1) != 0 ? body[3] : kNoColor;
      }
      continue;
    }
    if (kind != kImage) return InvalidArgument("the GIF has a block of unknown kind ", kind);
    Frame f;
    f.left = in.Short();
    f.top = in.Short();
    f.width = in.Short();
    f.height = in.Short();
    const int flags = in.Byte();
    f.interlaced = (flags & kInterlaced) != 0;
    f.transparent = std::exchange(transparent, kNoColor);
    f.colors = (flags & kHasColors) != 0 ? Colors(in, flags) : colors;
    f.code_bits = in.Byte();
    f.data = in.left();
    in.Blocks(nullptr);
    if (!in.ok()) return InvalidArgument("the GIF data end within frame ", frames.size());
    if (f.code_bits < 1 || f.code_bits > 8) {
      return InvalidArgument("frame ", frames.size(), " has codes of ", f.code_bits, " bits");
    }
    if (f.colors.empty()) return InvalidArgument("frame ", frames.size(), " has no colors");
    frames.push_back(f);
  }
  if (frames.empty()) return InvalidArgument("the GIF has no image");
  return frames;
}

// Lempel-Ziv-Welch codes of growing width to color indices.
absl::Status Decompress(const Frame& frame, const std::vector<uint8_t>& data,
                        std::vector<uint8_t>& out) {
  constexpr int kMaxBits = 12, kCodes = 1 << kMaxBits;
  std::array<uint16_t, kCodes> prefix{};
  std::array<uint8_t, kCodes> last{};
  std::array<uint8_t, kCodes> reversed{};
  const int clear = 1 << frame.code_bits, end = clear + 1;
  int bits = frame.code_bits + 1, next = end + 1, before = -1, first = 0;
  uint32_t window = 0;
  int held = 0;
  size_t filled = 0, at = 0;
  while (filled < out.size()) {
    while (held < bits) {
      if (at == data.size()) return InvalidArgument("the data of a GIF frame end too early");
      window |= uint32_t{data[at++]} << held;
      held += 8;
    }
    int code = static_cast<int>(window & ((1u << bits) - 1));
    window >>= bits;
    held -= bits;
    if (code == end) return InvalidArgument("the data of a GIF frame end too early");
    if (code == clear) {
      bits = frame.code_bits + 1;
      next = end + 1;
      before = -1;
      continue;
    }
    const int given = code;
    if (code > next || (code == next && before < 0) || (before < 0 && code >= clear)) {
      return InvalidArgument("a GIF frame has the bad code ", code);
    }
    size_t count = 0;
    if (code == next) {
      reversed[count++] = static_cast<uint8_t>(first);
      code = before;
    }
    while (code > end) {
      reversed[count++] = last[static_cast<size_t>(code)];
      code = prefix[static_cast<size_t>(code)];
    }
    first = code;
    reversed[count++] = static_cast<uint8_t>(first);
    while (count > 0 && filled < out.size()) out[filled++] = reversed[--count];
    if (before >= 0 && next < kCodes) {
      prefix[static_cast<size_t>(next)] = static_cast<uint16_t>(before);
      last[static_cast<size_t>(next)] = static_cast<uint8_t>(first);
      if (++next == 1 << bits && bits < kMaxBits) ++bits;
    }
    before = given;
  }
  return absl::OkStatus();
}

// The row that stands at place i of the data.
int RowAt(const Frame& f, int i) {
  if (!f.interlaced) return i;
  constexpr int kStart[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; ++pass) {
    const int rows = (f.height - kStart[pass] + kStep[pass] - 1) / kStep[pass];
    if (i < rows) return kStart[pass] + i * kStep[pass];
    i -= std::max(rows, 0);
  }
  return 0;
}

absl::Status Draw(const Frame& f, const ImageSize& size, uint8_t* canvas) {
  std::vector<uint8_t> data;
  Bytes(f.data).Blocks(&data);
  std::vector<uint8_t> indices(static_cast<size_t>(f.width) * static_cast<size_t>(f.height));
  TENON_RETURN_IF_ERROR(Decompress(f, data, indices));
  for (int i = 0; i < f.height; ++i) {
    const int64_t y = f.top + RowAt(f, i);
    if (y >= size.height) continue;
    for (int j = 0; j < f.width && f.left + j < size.width; ++j) {
      const size_t color =
          indices[static_cast<size_t>(i) * static_cast<size_t>(f.width) + static_cast<size_t>(j)];
      if (static_cast<int>(color) == f.transparent) continue;
      if (3 * color >= f.colors.size()) return InvalidArgument("a GIF frame has no color ", color);
      std::copy_n(f.colors.data() + 3 * color, 3,
                  canvas + (y * size.width + f.left + j) * size.channels);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeGif(absl::string_view file, GifFrames which, AllocatePixels allocate) {
  TENON_ASSIGN_OR_RETURN(std::vector<Frame> frames, FramesOf(file));
  ImageSize size{0, 0, 3};
  for (const Frame& f : frames) {
    size.height = std::max<int64_t>(size.height, f.height);
    size.width = std::max<int64_t>(size.width, f.width);
  }
  if (which == GifFrames::kFirst) frames.resize(1);
  size.frames = static_cast<int64_t>(frames.size());
  if (size.height == 0 || size.width == 0 || size.height * size.width >= kMaxPixels / size.frames) {
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

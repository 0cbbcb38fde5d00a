#include "kernels/image/codecs/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "env/status.h"

namespace tenon {
namespace {

constexpr int kMaxMemoryLevel = 9;  // zlib's

// libpng reports errors through longjmp: every call to it runs inside Try, where nothing needs a
// destructor.
class PngErrors {
 public:
  template <typename F>
  bool Try(F&& f) {
    if (setjmp(jump_) != 0) return false;
    f();
    return true;
  }
  const char* message() const { return message_; }

  [[noreturn]] static void Exit(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngErrors*>(png_get_error_ptr(png));
    std::strncpy(self->message_, message, sizeof self->message_ - 1);
    std::longjmp(self->jump_, 1);
  }
  static void Ignore(png_structp, png_const_charp) {}

 private:
  std::jmp_buf jump_;
  char message_[128] = "";
};

class Decoder {
 public:
  Decoder(absl::string_view file, PngDepth depth) : left_(file), wide_(depth == PngDepth::k16) {}
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  absl::Status ReadHeader(int64_t channels) {
    TENON_RETURN_IF_ERROR(Run([this] {
      png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &errors_, PngErrors::Exit,
                                    PngErrors::Ignore);
      if (png_ != nullptr) info_ = png_create_info_struct(png_);
      if (info_ == nullptr) return;
      png_set_read_fn(png_, this, Read);
      png_read_info(png_, info_);
      png_get_IHDR(png_, info_, &width_, &height_, &bits_, &color_, nullptr, nullptr, nullptr);
    }));
    if (info_ == nullptr) return absl::ResourceExhaustedError("no memory for libpng");
    constexpr png_uint_32 kMaxSide = 1u << 27;
    if (width_ == 0 || height_ == 0 || width_ >= kMaxSide || height_ >= kMaxSide ||
        int64_t{width_} * int64_t{height_} >= kMaxPixels) {
      return InvalidArgument("a PNG of ", height_, " by ", width_);
    }
    const bool palette = color_ == PNG_COLOR_TYPE_PALETTE;
    has_transparency_ = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    channels_ = channels != 0 ? channels
                : palette     ? (has_transparency_ ? 4 : 3)
                              : png_get_channels(png_, info_);
    return Run([this] { SetTransforms(); });
  }

  ImageSize size() const { return {height_, width_, channels_}; }

  absl::Status ReadRows(uint8_t* out) {
    const size_t row_bytes = width_ * static_cast<size_t>(channels_) * (wide_ ? 2 : 1);
    if (png_get_rowbytes(png_, info_) > row_bytes) return InvalidArgument("rows too long");
    const int passes = passes_;
    const png_uint_32 height = height_;
    TENON_RETURN_IF_ERROR(Run([this, out, row_bytes, passes, height] {
      for (int p = 0; p < passes; ++p) {
        for (png_uint_32 h = 0; h < height; ++h) png_read_row(png_, out + h * row_bytes, nullptr);
      }
      png_read_end(png_, info_);
    }));
    if (wide_ && bits_ <= 8) {
      const int64_t n = int64_t{width_} * channels_;
      for (png_uint_32 h = 0; h < height_; ++h) Widen(out + h * row_bytes, n);
    }
    return absl::OkStatus();
  }

 private:
  template <typename F>
  absl::Status Run(F&& f) {
    if (errors_.Try(f)) return absl::OkStatus();
    return InvalidArgument("invalid PNG data: ", errors_.message());
  }

  static void Read(png_structp png, png_bytep to, png_size_t n) {
    auto* self = static_cast<Decoder*>(png_get_io_ptr(png));
    if (self->left_.size() < n) png_error(png, "the data end too early");
    std::memcpy(to, self->left_.data(), n);
    self->left_.remove_prefix(n);
  }

  // From the file's format to channels_ of 8 bits, or of 16 if the file has them too.
  void SetTransforms() {
    const bool has_alpha = (color_ & PNG_COLOR_MASK_ALPHA) != 0;
    const bool gray = (color_ & PNG_COLOR_MASK_COLOR) == 0;
    if (channels_ % 2 == 1) {
      if (has_alpha || has_transparency_) png_set_strip_alpha(png_);
    } else if (!has_alpha && has_transparency_) {
      png_set_tRNS_to_alpha(png_);
    } else if (!has_alpha) {
      png_set_add_alpha(png_, (1u << bits_) - 1, PNG_FILLER_AFTER);
    }
    if (bits_ > 8 && !wide_) png_set_strip_16(png_);
    png_set_packing(png_);
    passes_ = png_set_interlace_handling(png_);
    if (wide_) png_set_swap(png_);
    if (color_ == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (gray && bits_ < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (channels_ < 3 && !gray) {
      png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    } else if (channels_ >= 3 && gray) {
      png_set_gray_to_rgb(png_);
    }
    png_read_update_info(png_, info_);
  }

  // Turns n bytes into n 16-bit numbers, in place.
  static void Widen(uint8_t* row, int64_t n) {
    for (int64_t i = n - 1; i >= 0; --i) row[2 * i] = row[2 * i + 1] = row[i];
  }

  PngErrors errors_;
  absl::string_view left_;
  const bool wide_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  png_uint_32 width_ = 0, height_ = 0;
  int bits_ = 0, color_ = 0, passes_ = 1;
  int64_t channels_ = 0;
  bool has_transparency_ = false;
};

class Encoder {
 public:
  ~Encoder() { png_destroy_write_struct(&png_, &info_); }

  bool Encode(const png_byte* pixels, const ImageSize& size, PngDepth depth, int64_t compression) {
    constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
    const int64_t row_bytes = size.width * size.channels * (depth == PngDepth::k16 ? 2 : 1);
    return errors_.Try([&] {
      png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &errors_, PngErrors::Exit,
                                     PngErrors::Ignore);
      if (png_ != nullptr) info_ = png_create_info_struct(png_);
      if (info_ == nullptr) return;
      png_set_write_fn(png_, &file_, Write, [](png_structp) {});
      png_set_compression_level(png_, static_cast<int>(compression));
      png_set_compression_mem_level(png_, kMaxMemoryLevel);
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(size.width),
                   static_cast<png_uint_32>(size.height), static_cast<int>(depth),
                   kColors[size.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                   PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      if (depth == PngDepth::k16) png_set_swap(png_);
      for (int64_t h = 0; h < size.height; ++h) png_write_row(png_, pixels + h * row_bytes);
      png_write_end(png_, nullptr);
    });
  }
  std::string& file() { return file_; }
  const char* message() const { return errors_.message(); }

 private:
  static void Write(png_structp png, png_bytep from, png_size_t n) {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(from), n);
  }

  PngErrors errors_;
  std::string file_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

absl::Status DecodePng(absl::string_view file, int64_t channels, PngDepth depth,
                       AllocatePixels allocate) {
  Decoder decoder(file, depth);
  TENON_RETURN_IF_ERROR(decoder.ReadHeader(channels));
  TENON_ASSIGN_OR_RETURN(void* out, allocate(decoder.size()));
  return decoder.ReadRows(static_cast<uint8_t*>(out));
}

absl::StatusOr<std::string> EncodePng(const void* pixels, const ImageSize& size, PngDepth depth,
                                      int64_t compression) {
  constexpr int64_t kMaxSide = 0x7FFFFFFF;
  if (size.channels < 1 || size.channels > 4 || size.height <= 0 || size.width <= 0 ||
      size.height > kMaxSide || size.width > kMaxSide) {
    return InvalidArgument("no PNG of ", size.height, " by ", size.width, " by ", size.channels);
  }
  Encoder encoder;
  if (!encoder.Encode(static_cast<const png_byte*>(pixels), size, depth, compression)) {
    return InvalidArgument("no PNG of this image: ", encoder.message());
  }
  return std::move(encoder.file());
}

}  // namespace tenon

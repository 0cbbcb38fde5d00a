#include "kernels/image/codecs/jpeg.h"

// libjpeg's headers need the includes above them.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "env/status.h"

namespace tenon {
namespace {

// libjpeg reports errors through longjmp: every call to it runs inside Try, where nothing needs a
// destructor.
class JpegErrors {
 public:
  JpegErrors() {
    jpeg_std_error(&manager_);
    manager_.error_exit = Exit;
    manager_.emit_message = [](j_common_ptr, int) {};
    manager_.output_message = [](j_common_ptr) {};
  }
  jpeg_error_mgr* manager() { return &manager_; }

  // Returns false if the library gave up; message() says why.
  template <typename F>
  bool Try(j_common_ptr cinfo, F&& f) {
    cinfo->client_data = this;
    if (setjmp(jump_) != 0) return false;
    f();
    return true;
  }
  const char* message() const { return message_; }

 private:
  static void Exit(j_common_ptr cinfo) {
    auto* self = static_cast<JpegErrors*>(cinfo->client_data);
    self->manager_.format_message(cinfo, self->message_);
    std::longjmp(self->jump_, 1);
  }

  jpeg_error_mgr manager_;
  std::jmp_buf jump_;
  char message_[JMSG_LENGTH_MAX] = "";
};

// The file in memory. At its end, the library is told to wait for more, which ends decoding; or
// (recover) to process its unfinished block's bytes again and then gets an end marker, so that
// missing pixels are filled as in TensorFlow.
struct MemorySource {
  jpeg_source_mgr manager;
  bool recover = false;
};
constexpr JOCTET kEndMarker[2] = {0xFF, JPEG_EOI};

void Attach(jpeg_decompress_struct& cinfo, MemorySource& source, absl::string_view file) {
  source.manager.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  source.manager.bytes_in_buffer = file.size();
  source.manager.init_source = [](j_decompress_ptr) {};
  source.manager.fill_input_buffer = [](j_decompress_ptr c) -> boolean {
    if (!reinterpret_cast<MemorySource*>(c->src)->recover) return FALSE;
    if (c->src->bytes_in_buffer > 0) return TRUE;
    if (c->src->next_input_byte == kEndMarker + sizeof kEndMarker) ERREXIT(c, JERR_INPUT_EOF);
    c->src->next_input_byte = kEndMarker;
    c->src->bytes_in_buffer = sizeof kEndMarker;
    return TRUE;
  };
  source.manager.skip_input_data = [](j_decompress_ptr c, long n) {
    if (n <= 0) return;
    const size_t skip = std::min(static_cast<size_t>(n), c->src->bytes_in_buffer);
    c->src->next_input_byte += skip;
    c->src->bytes_in_buffer -= skip;
  };
  source.manager.resync_to_restart = jpeg_resync_to_restart;
  source.manager.term_source = [](j_decompress_ptr) {};
  cinfo.src = &source.manager;
}

class Decoder {
 public:
  explicit Decoder(absl::string_view file, bool recover) : file_(file) {
    source_.recover = recover;
    cinfo_.err = errors_.manager();
  }
  ~Decoder() {
    if (created_) jpeg_destroy_decompress(&cinfo_);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  absl::Status ReadHeader() {
    return Run([this] {
      jpeg_create_decompress(&cinfo_);
      created_ = true;
      Attach(cinfo_, source_, file_);
      header_ = jpeg_read_header(&cinfo_, TRUE) == JPEG_HEADER_OK;
    });
  }
  bool header() const { return header_; }

  absl::Status SetUp(const JpegDecoding& how) {
    channels_ =
        how.channels != 0 ? static_cast<int>(how.channels) : std::min(cinfo_.num_components, 3);
    if (channels_ != 1 && channels_ != 3)
      return InvalidArgument("a JPEG of ", channels_, " channels");
    const bool inks = cinfo_.jpeg_color_space == JCS_CMYK || cinfo_.jpeg_color_space == JCS_YCCK;
    cinfo_.out_color_space = channels_ == 1 ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
    cinfo_.do_fancy_upsampling = how.smooth_upsampling ? TRUE : FALSE;
    cinfo_.scale_num = 1;
    cinfo_.scale_denom = static_cast<unsigned>(how.ratio);
    cinfo_.dct_method = how.exact_dct ? JDCT_ISLOW : JDCT_IFAST;
    TENON_RETURN_IF_ERROR(Run([this] { jpeg_calc_output_dimensions(&cinfo_); }));
    const int64_t size = int64_t{cinfo_.output_height} * int64_t{cinfo_.output_width};
    if (size == 0 || size * cinfo_.num_components >= kMaxPixels) {
      return InvalidArgument("a JPEG of ", cinfo_.output_height, " by ", cinfo_.output_width);
    }
    return absl::OkStatus();
  }

  // Only the columns [left, left + width) will be read, from row `top` on. libjpeg's output begins
  // at a whole block before them.
  absl::Status Start(const JpegDecoding& how) {
    JDIMENSION first = static_cast<JDIMENSION>(how.left),
               width = static_cast<JDIMENSION>(how.width);
    JDIMENSION* const at = &first;
    JDIMENSION* const count = &width;
    TENON_RETURN_IF_ERROR(Run([this, at, count, &how] {
      started_ = jpeg_start_decompress(&cinfo_) == TRUE;
      if (!started_ || !how.crop) return;
      jpeg_crop_scanline(&cinfo_, at, count);
      const JDIMENSION top = static_cast<JDIMENSION>(how.top);
      started_ = jpeg_skip_scanlines(&cinfo_, top) == top;
    }));
    first_column_ = how.crop ? how.left - first : 0;
    row_.resize(size_t{cinfo_.output_width} * static_cast<size_t>(cinfo_.output_components));
    return absl::OkStatus();
  }

  int64_t height() const { return cinfo_.output_height; }
  int64_t width() const { return cinfo_.output_width; }
  int64_t stored_components() const { return cinfo_.num_components; }
  int64_t channels() const { return channels_; }

  // The next row; false if the data ended.
  absl::StatusOr<bool> NextRow() {
    read_ = 0;
    if (!started_) return false;
    TENON_RETURN_IF_ERROR(Run([this] {
      JSAMPROW row = row_.data();
      read_ = jpeg_read_scanlines(&cinfo_, &row, 1);
    }));
    return read_ == 1;
  }

  // `count` pixels of the row. Converts inks to red, green and blue; Adobe stores them inverted.
  void CopyRow(int64_t count, uint8_t* out) const {
    const int stored = cinfo_.output_components;
    const JSAMPLE* in = row_.data() + first_column_ * stored;
    if (cinfo_.out_color_space != JCS_CMYK) {
      std::copy_n(in, count * channels_, out);
      return;
    }
    for (int64_t i = 0; i < count; ++i, in += stored) {
      for (int c = 0; c < 3; ++c) {
        const int ink = in[c], black = in[3];
        *out++ = static_cast<uint8_t>(
            (cinfo_.saw_Adobe_marker ? black * ink : (255 - black) * (255 - ink)) / 255);
      }
    }
  }

  // The data after the last row may be damaged as well.
  absl::Status Finish() {
    return Run([this] { jpeg_finish_decompress(&cinfo_); });
  }

 private:
  template <typename F>
  absl::Status Run(F&& f) {
    if (errors_.Try(reinterpret_cast<j_common_ptr>(&cinfo_), f)) return absl::OkStatus();
    return InvalidArgument("invalid JPEG data: ", errors_.message());
  }

  const absl::string_view file_;
  JpegErrors errors_;
  MemorySource source_{};
  jpeg_decompress_struct cinfo_{};
  std::vector<JSAMPLE> row_;
  int64_t first_column_ = 0;
  int channels_ = 0;
  JDIMENSION read_ = 0;
  bool created_ = false;
  bool header_ = false;
  bool started_ = false;
};

}  // namespace

absl::Status DecodeJpeg(absl::string_view file, const JpegDecoding& how, AllocatePixels allocate) {
  Decoder decoder(file, how.recover_truncated);
  TENON_RETURN_IF_ERROR(decoder.ReadHeader());
  if (!decoder.header()) return InvalidArgument("the JPEG data end in the header");
  TENON_RETURN_IF_ERROR(decoder.SetUp(how));
  ImageSize size{decoder.height(), decoder.width(), decoder.channels()};
  if (how.crop) {
    if (how.height <= 0 || how.width <= 0 || how.top < 0 || how.left < 0 ||
        how.height > size.height - how.top || how.width > size.width - how.left) {
      return InvalidArgument("a crop of ", how.height, " by ", how.width, " at ", how.top, ", ",
                             how.left, " from an image of ", size.height, " by ", size.width);
    }
    size.height = how.height;
    size.width = how.width;
  }
  TENON_RETURN_IF_ERROR(decoder.Start(how));
  TENON_ASSIGN_OR_RETURN(void* memory, allocate(size));
  uint8_t* out = static_cast<uint8_t*>(memory);
  const int64_t row_bytes = size.width * size.channels;
  int64_t rows = 0;
  for (; rows < size.height; ++rows) {
    TENON_ASSIGN_OR_RETURN(const bool more, decoder.NextRow());
    if (!more) break;
    decoder.CopyRow(size.width, out + rows * row_bytes);
  }
  if (rows == size.height) return how.crop ? absl::OkStatus() : decoder.Finish();
  const float fraction = static_cast<float>(rows) / static_cast<float>(size.height);
  if (fraction < std::min(1.0f, how.acceptable_fraction)) {
    return InvalidArgument("the JPEG data end after ", rows, " of ", size.height, " rows");
  }
  std::fill(out + rows * row_bytes, out + size.height * row_bytes, uint8_t{0});
  return absl::OkStatus();
}

absl::StatusOr<ImageSize> JpegSize(absl::string_view file) {
  Decoder decoder(file, /*recover=*/false);
  TENON_RETURN_IF_ERROR(decoder.ReadHeader());
  if (!decoder.header()) return InvalidArgument("the JPEG data end in the header");
  JpegDecoding how;
  if (decoder.stored_components() == 1) how.channels = 1;
  TENON_RETURN_IF_ERROR(decoder.SetUp(how));
  return ImageSize{decoder.height(), decoder.width(), decoder.stored_components()};
}

namespace {

// Compresses into memory that libjpeg allocates.
class Encoder {
 public:
  Encoder() { cinfo_.err = errors_.manager(); }
  ~Encoder() {
    if (created_) jpeg_destroy_compress(&cinfo_);
    std::free(memory_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  bool Encode(const uint8_t* pixels, const ImageSize& size, const JpegEncoding& how,
              const std::string& packet) {
    return errors_.Try(reinterpret_cast<j_common_ptr>(&cinfo_), [&] {
      jpeg_create_compress(&cinfo_);
      created_ = true;
      jpeg_mem_dest(&cinfo_, &memory_, &bytes_);
      cinfo_.image_height = static_cast<JDIMENSION>(size.height);
      cinfo_.image_width = static_cast<JDIMENSION>(size.width);
      cinfo_.input_components = static_cast<int>(size.channels);
      cinfo_.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_set_defaults(&cinfo_);
      if (how.optimize_size) cinfo_.optimize_coding = TRUE;
      cinfo_.density_unit = how.dots_per_inch ? 1 : 2;
      cinfo_.X_density = static_cast<UINT16>(how.x_density);
      cinfo_.Y_density = static_cast<UINT16>(how.y_density);
      jpeg_set_quality(&cinfo_, static_cast<int>(how.quality), TRUE);
      if (how.progressive) jpeg_simple_progression(&cinfo_);
      for (int i = 0; !how.subsample_chroma && i < cinfo_.num_components; ++i) {
        cinfo_.comp_info[i].h_samp_factor = cinfo_.comp_info[i].v_samp_factor = 1;
      }
      jpeg_start_compress(&cinfo_, TRUE);
      if (!packet.empty()) {
        jpeg_write_marker(&cinfo_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(packet.data()),
                          static_cast<unsigned>(packet.size()));
      }
      while (cinfo_.next_scanline < cinfo_.image_height) {
        // libjpeg only reads the row.
        JSAMPROW row =
            const_cast<JSAMPROW>(pixels) + cinfo_.next_scanline * size.width * size.channels;
        jpeg_write_scanlines(&cinfo_, &row, 1);
      }
      jpeg_finish_compress(&cinfo_);
    });
  }
  std::string file() const { return std::string(reinterpret_cast<char*>(memory_), bytes_); }
  const char* message() const { return errors_.message(); }

 private:
  JpegErrors errors_;
  jpeg_compress_struct cinfo_{};
  unsigned char* memory_ = nullptr;
  unsigned long bytes_ = 0;
  bool created_ = false;
};

}  // namespace

absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const ImageSize& size,
                                       const JpegEncoding& how) {
  if (size.height <= 0 || size.width <= 0 || size.height * size.width >= kMaxPixels) {
    return InvalidArgument("an image of ", size.height, " by ", size.width);
  }
  std::string packet;
  if (!how.xmp.empty()) {
    constexpr char kNamespace[] = "http://ns.adobe.com/xap/1.0/";  // with its NUL
    packet = std::string(kNamespace, sizeof kNamespace) + how.xmp;
  }
  Encoder encoder;
  if (!encoder.Encode(pixels, size, how, packet)) {
    return InvalidArgument("no JPEG of this image: ", encoder.message());
  }
  return encoder.file();
}

}  // namespace tenon

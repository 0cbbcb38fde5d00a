#include "kernels/image/decode.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "kernels/image/codecs/bmp.h"
#include "kernels/image/codecs/gif.h"
#include "kernels/image/codecs/jpeg.h"
#include "kernels/image/codecs/png.h"
#include "kernels/image/codecs/webp.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

struct Decoding {
  ImageFile kind = ImageFile::kAny;
  int64_t channels = 0;
  DType dtype = DType::kUint8;
  bool expand_animations = true;
  JpegDecoding jpeg;
};

absl::StatusOr<Decoding> DecodingOf(const AttrReader& attrs, ImageFile kind, DType dtype) {
  Decoding d;
  d.kind = kind;
  d.dtype = dtype;
  d.channels = kind == ImageFile::kGif ? 3 : attrs.Int("channels", 0);
  if (d.channels < 0 || d.channels > 4 || d.channels == 2) {
    return InvalidArgument("channels must be 0, 1, 3 or 4, but is ", d.channels);
  }
  d.expand_animations = attrs.Bool("expand_animations", true);
  JpegDecoding& j = d.jpeg;
  j.channels = d.channels;
  j.ratio = attrs.Int("ratio", 1);
  if (j.ratio != 1 && j.ratio != 2 && j.ratio != 4 && j.ratio != 8) {
    return InvalidArgument("ratio must be 1, 2, 4 or 8, but is ", j.ratio);
  }
  j.smooth_upsampling = attrs.Bool("fancy_upscaling", true);
  j.recover_truncated = attrs.Bool("try_recover_truncated", false);
  j.acceptable_fraction = attrs.Float("acceptable_fraction", 1);
  j.crop = kind == ImageFile::kJpegCrop;
  const std::string dct = attrs.String("dct_method", "");
  if (!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE") {
    return InvalidArgument("dct_method must be '', INTEGER_FAST or INTEGER_ACCURATE, but is '", dct,
                           "'");
  }
  j.exact_dct = dct == "INTEGER_ACCURATE";
  return d;
}

// The output of one Run. Decoders that only support uint8 (or uint16) write to a separate buffer,
// and Finish scales it.
class Target {
 public:
  Target(RunContext& run, const Decoding& how) : run_(run), how_(how) {}

  absl::StatusOr<void*> Allocate(const ImageSize& size, DType decoded) {
    Shape shape({size.height, size.width, size.channels});
    const bool frames = how_.kind == ImageFile::kGif ||
                        (animated_ && how_.expand_animations &&
                         (how_.kind == ImageFile::kAny || how_.kind == ImageFile::kWebP));
    if (frames) shape = Shape({size.frames, size.height, size.width, size.channels});
    if (!frames && size.frames != 1) {
      return InvalidArgument("a GIF of ", size.frames,
                             " frames, which only DecodeGif and DecodeImage read");
    }
    count_ = size.elements();
    TENON_ASSIGN_OR_RETURN(out_, run_.AllocateOutput(0, shape));
    if (decoded == how_.dtype) return out_;
    decoded_ = decoded;
    aside_.resize((static_cast<size_t>(count_) * SizeOf(decoded) + 1) / 2);
    return aside_.data();
  }
  void set_animated() { animated_ = true; }

  void Finish() const {
    if (aside_.empty()) return;
    VisitTypes(TypeList<uint8_t, uint16_t>{}, decoded_, [&]<typename From>() {
      const From* from = reinterpret_cast<const From*>(aside_.data());
      if (how_.dtype == DType::kUint16) {
        std::transform(from, from + count_, static_cast<uint16_t*>(out_),
                       [](From v) { return static_cast<uint16_t>(v * 256); });
      } else {
        constexpr float kScale = static_cast<float>(1.0 / std::numeric_limits<From>::max());
        std::transform(from, from + count_, static_cast<float*>(out_),
                       [](From v) { return static_cast<float>(v) * kScale; });
      }
    });
  }

 private:
  RunContext& run_;
  const Decoding& how_;
  void* out_ = nullptr;
  int64_t count_ = 0;
  bool animated_ = false;
  DType decoded_ = DType::kUint8;
  std::vector<uint16_t> aside_;  // aligned for both
};

absl::Status Decode(const Decoding& how, absl::string_view file, Target& target) {
  auto bytes = [&](const ImageSize& size) { return target.Allocate(size, DType::kUint8); };
  const bool only_jpeg = how.kind == ImageFile::kJpegCrop, only_bmp = how.kind == ImageFile::kBmp;
  if (absl::StartsWith(file, "\xFF\xD8\xFF")) {
    if (only_bmp) return InvalidArgument("contents is a JPEG, not a BMP");
    if (how.channels == 4) return InvalidArgument("a JPEG does not have 4 channels");
    return DecodeJpeg(file, how.jpeg, bytes);
  }
  if (absl::StartsWith(file, "\x89PNG\r\n\x1A\n")) {
    if (only_jpeg || only_bmp) return InvalidArgument("contents is a PNG");
    const bool narrow = how.dtype == DType::kUint8;
    return DecodePng(file, how.channels, narrow ? PngDepth::k8 : PngDepth::k16,
                     [&](const ImageSize& size) {
                       return target.Allocate(size, narrow ? DType::kUint8 : DType::kUint16);
                     });
  }
  if (absl::StartsWith(file, "GIF8")) {
    if (only_jpeg || only_bmp || how.kind == ImageFile::kWebP) {
      return InvalidArgument("contents is a GIF");
    }
    if (how.channels != 0 && how.channels != 3) {
      return InvalidArgument("a GIF has 3 channels, not ", how.channels);
    }
    target.set_animated();
    return DecodeGif(file, how.expand_animations ? GifFrames::kAll : GifFrames::kFirst, bytes);
  }
  if (absl::StartsWith(file, "BM")) {
    if (how.kind != ImageFile::kBmp && how.kind != ImageFile::kAny) {
      return InvalidArgument("contents is a BMP, which only DecodeBmp and DecodeImage read");
    }
    if (how.channels == 1) return InvalidArgument("a BMP cannot be read as 1 channel");
    return DecodeBmp(file, how.channels, bytes);
  }
  if (IsWebP(file)) {
    if (how.kind != ImageFile::kWebP && how.kind != ImageFile::kAny) {
      return InvalidArgument("contents is a WebP, which only DecodeWebP and DecodeImage read");
    }
    if (how.channels == 1) return InvalidArgument("a WebP cannot be read as 1 channel");
    if (how.dtype != DType::kUint8) return InvalidArgument("a WebP has uint8 pixels");
    target.set_animated();
    return DecodeWebP(file, how.channels,
                      how.expand_animations ? WebPFrames::kAll : WebPFrames::kFirst, bytes);
  }
  return InvalidArgument("contents is not a JPEG, PNG, GIF, BMP or WebP image");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> DecodeImage(PrepareContext& p, ImageFile kind) {
  TENON_ASSIGN_OR_RETURN(const Decoding decoding, DecodingOf(p.attrs(), kind, p.output_dtype(0)));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    Decoding how = decoding;
    if (kind == ImageFile::kJpegCrop) {
      const int32_t* window = run.input<int32_t>(1);
      how.jpeg.top = window[0];
      how.jpeg.left = window[1];
      how.jpeg.height = window[2];
      how.jpeg.width = window[3];
    }
    Target target(run, how);
    TENON_RETURN_IF_ERROR(Decode(how, *run.input<std::string>(0), target));
    target.Finish();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> JpegShape(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  return MakeKernel([dtype](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const ImageSize size, JpegSize(*run.input<std::string>(0)));
    VisitTypes(TypeList<int32_t, int64_t>{}, dtype, [&]<typename T>() {
      const int64_t dims[] = {size.height, size.width, size.channels};
      std::transform(dims, dims + 3, run.output<T>(0), [](int64_t d) { return static_cast<T>(d); });
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon

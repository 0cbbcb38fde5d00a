// Decodes image files. The first bytes determine a file's format.
#ifndef TENON_KERNELS_IMAGE_DECODE_H_
#define TENON_KERNELS_IMAGE_DECODE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The kind of file that a kernel is for; all except kJpegCrop and kBmp read PNG and GIF files too,
// and all except kBmp read JPEG files. Only kAny and kWebP read WebP files: in TensorFlow the
// others do, but give them a rank that their shape functions deny.
enum class ImageFile { kAny, kJpeg, kJpegCrop, kPng, kGif, kBmp, kWebP };

// Input 0: the file, a string; kJpegCrop has the window as input 1. Output, with a shape that
// depends on the file: uint8, uint16 or float. InvalidArgument for attributes out of range and, at
// Run, for files that are damaged or of another kind.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeImage(PrepareContext& p, ImageFile kind);

// DecodeImage as a kernel factory.
template <ImageFile kKind>
absl::StatusOr<std::unique_ptr<Kernel>> DecodeImage(PrepareContext& p) {
  return DecodeImage(p, kKind);
}

// The height, width and channels of a JPEG file: int32 or int64.
absl::StatusOr<std::unique_ptr<Kernel>> JpegShape(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_DECODE_H_

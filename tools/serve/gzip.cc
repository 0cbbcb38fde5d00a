#include "tools/serve/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace tenon::serve {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
// zlib counts in 32 bits.
constexpr size_t kMost = std::numeric_limits<uInt>::max() / 2;

}  // namespace

std::string GzipText(absl::string_view text) {
  z_stream stream = {};
  std::string packed;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return packed;
  }
  packed.resize(deflateBound(&stream, text.size()));
  size_t written = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const size_t in = std::min(text.size(), kMost);
    const size_t out = std::min(packed.size() - written, kMost);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + written);
    stream.avail_out = static_cast<uInt>(out);
    state = deflate(&stream, in == text.size() ? Z_FINISH : Z_NO_FLUSH);
    text.remove_prefix(in - stream.avail_in);
    written += out - stream.avail_out;
    if (state == Z_STREAM_ERROR) break;
  }
  deflateEnd(&stream);
  packed.resize(written);
  return packed;
}

absl::StatusOr<std::string> GunzipText(absl::string_view packed, uint64_t limit) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzip) != Z_OK) return absl::InternalError("cannot unpack gzip");
  std::string text;
  int state = Z_OK;
  while (state == Z_OK && text.size() <= limit) {
    const size_t in = std::min(packed.size(), kMost);
    const size_t had = text.size();
    text.resize(had + std::max<size_t>(64 << 10, std::min<size_t>(had, 64 << 20)));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + had);
    stream.avail_out = static_cast<uInt>(text.size() - had);
    state = inflate(&stream, Z_NO_FLUSH);
    packed.remove_prefix(in - stream.avail_in);
    text.resize(text.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (text.size() > limit) {
    return absl::InvalidArgumentError(absl::StrCat("the unpacked body exceeds ", limit, " bytes"));
  }
  if (state != Z_STREAM_END) return absl::InvalidArgumentError("the body is not valid gzip");
  return text;
}

}  // namespace tenon::serve

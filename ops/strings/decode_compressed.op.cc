// DecodeCompressed: each string, decompressed by zlib.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Bounds the memory that a few compressed bytes can take: the results of one run. (TensorFlow cuts
// each string off at this length.)
constexpr size_t kMaxBytes = std::numeric_limits<int32_t>::max();

// Decompresses to at most `limit` bytes. As in TensorFlow, input that ends early gives what it
// holds. Several gzip streams may follow one another; bytes behind a zlib stream are ignored.
absl::Status Inflate(const std::string& in, bool gzip, size_t limit, std::string& out) {
  z_stream stream = {};
  if (inflateInit2(&stream, gzip ? MAX_WBITS + 16 : MAX_WBITS) != Z_OK) {
    return absl::ResourceExhaustedError("no memory to decompress");
  }
  const auto end = [](z_stream* s) { inflateEnd(s); };
  const std::unique_ptr<z_stream, decltype(end)> owner(&stream, end);
  out.clear();
  size_t left = in.size();
  const char* next = in.data();
  char buffer[16384];
  while (true) {
    if (stream.avail_in == 0) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
      stream.avail_in = static_cast<uInt>(std::min<size_t>(left, size_t{1} << 30));
      next += stream.avail_in;
      left -= stream.avail_in;
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return InvalidArgument("the data is damaged: ", stream.msg == nullptr ? "" : stream.msg);
    }
    const size_t n = sizeof(buffer) - stream.avail_out;
    if (n > limit - out.size()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the strings have more than ", kMaxBytes, " bytes when decompressed"));
    }
    out.append(buffer, n);
    if (result == Z_STREAM_END) {
      if (!gzip) return absl::OkStatus();
      inflateReset(&stream);
    }
    const bool more_input = stream.avail_in > 0 || left > 0;
    if (!more_input && stream.avail_out > 0) return absl::OkStatus();
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> DecompressKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::string type, p.attrs().String("compression_type"));
  if (type == "ZSTD") return Unimplemented("compression_type ZSTD is not supported");
  if (!type.empty() && type != "ZLIB" && type != "GZIP") {
    return InvalidArgument("compression_type must be '', 'ZLIB' or 'GZIP', not '", type, "'");
  }
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel(
      [n, plain = type.empty(), gzip = type == "GZIP"](RunContext& run) -> absl::Status {
        const std::string* in = run.input<std::string>(0);
        std::string* out = run.output<std::string>(0);
        if (plain) {
          std::copy_n(in, n, out);
          return absl::OkStatus();
        }
        size_t limit = kMaxBytes;
        for (int64_t i = 0; i < n; ++i) {
          TENON_RETURN_IF_ERROR(Inflate(in[i], gzip, limit, out[i]));
          limit -= out[i].size();
        }
        return absl::OkStatus();
      });
}

const OpRegistration decode_compressed({
    .name = "DecodeCompressed",
    .inputs = "bytes: string",
    .outputs = "output: string",
    .attrs = "compression_type: string = ",
    .shape = UnchangedShape,
    .reference = DecompressKernel,
});

}  // namespace
}  // namespace tenon

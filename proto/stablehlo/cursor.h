// Reads the primitives of MLIR's bytecode from bytes that are not trusted:
//
//   Cursor in(bytes);
//   uint64_t n;
//   if (!in.Varint(n) || !in.Bytes(n, name)) return InvalidArgument("truncated");
//
// A read that fails leaves the cursor at the end and returns false; so do all later ones.
#ifndef TENON_PROTO_STABLEHLO_CURSOR_H_
#define TENON_PROTO_STABLEHLO_CURSOR_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace tenon::stablehlo {

class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(absl::string_view bytes) : left_(bytes) {}

  bool Byte(uint8_t& value);
  // The number of zero bits at the low end of the first byte is the number of bytes that follow.
  bool Varint(uint64_t& value);
  // A number whose lowest bit is a flag.
  bool VarintWithFlag(uint64_t& value, bool& flag);
  // Zigzag: the lowest bit is the sign.
  bool SignedVarint(int64_t& value);
  bool Bytes(uint64_t size, absl::string_view& bytes);
  // A number of things that follow, each of at least one byte.
  bool Count(uint64_t& count);
  bool SignedVarints(std::vector<int64_t>& values);
  bool NullTerminated(absl::string_view& text);

  bool done() const { return left_.empty(); }
  size_t left() const { return left_.size(); }
  const char* at() const { return left_.data(); }

 private:
  bool Fail() {
    left_.remove_prefix(left_.size());
    return false;
  }

  absl::string_view left_;
};

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_CURSOR_H_

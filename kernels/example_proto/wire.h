// Reads protocol buffers' wire format, a message at a time, without knowing the message:
//
//   WireReader reader(bytes);
//   WireField f;
//   while (reader.Next(f)) { if (f.number == 1 && f.is_bytes()) ... f.bytes ... }
//   if (!reader.ok()) return InvalidArgument("truncated");
#ifndef TENON_KERNELS_EXAMPLE_PROTO_WIRE_H_
#define TENON_KERNELS_EXAMPLE_PROTO_WIRE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tenon {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroup = 3,
  kGroupEnd = 4,
  kFixed32 = 5
};

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;       // of a number
  absl::string_view bytes;  // of a string, a message or packed numbers

  bool is_bytes() const { return type == WireType::kBytes; }
};

void AppendVarint(uint64_t value, std::string& out);
void AppendTag(uint32_t number, WireType type, std::string& out);
// A tag, a length and the bytes.
void AppendBytesField(uint32_t number, absl::string_view bytes, std::string& out);

class WireReader {
 public:
  explicit WireReader(absl::string_view bytes) : left_(bytes) {}

  // False at the end, and at bytes that are no field. Groups are not read.
  bool Next(WireField& field);
  bool Tag(uint32_t& number, WireType& type);
  bool Varint(uint64_t& value);
  bool Fixed32(uint64_t& value) { return Fixed(4, value); }
  bool Fixed64(uint64_t& value) { return Fixed(8, value); }
  // Of type kVarint, kFixed32 or kFixed64.
  bool Number(WireType type, uint64_t& value);
  // A length, and as many bytes.
  bool Bytes(absl::string_view& bytes);
  // The rest of a group whose start tag was read, up to and with its end tag.
  bool Group(uint32_t number, absl::string_view& bytes);

  bool done() const { return left_.empty(); }
  bool ok() const { return ok_; }

 private:
  bool Fail() {
    ok_ = false;
    left_ = {};
    return false;
  }
  bool Fixed(size_t bytes, uint64_t& value);

  absl::string_view left_;
  bool ok_ = true;
};

}  // namespace tenon

#endif  // TENON_KERNELS_EXAMPLE_PROTO_WIRE_H_

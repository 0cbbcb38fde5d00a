#include "kernels/example_proto/wire.h"

#include <cstring>
#include <vector>

#include "env/varint.h"

namespace tenon {

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

bool WireReader::Varint(uint64_t& value) {
  const char* p = left_.data();
  if (!ReadVarint(p, p + left_.size(), value)) return Fail();
  left_.remove_prefix(static_cast<size_t>(p - left_.data()));
  return true;
}

bool WireReader::Fixed(size_t bytes, uint64_t& value) {
  if (left_.size() < bytes) return Fail();
  value = 0;
  std::memcpy(&value, left_.data(), bytes);  // both little-endian
  left_.remove_prefix(bytes);
  return true;
}

bool WireReader::Bytes(absl::string_view& bytes) {
  uint64_t size = 0;
  if (!Varint(size)) return false;
  if (size > left_.size()) return Fail();
  bytes = left_.substr(0, size);
  left_.remove_prefix(size);
  return true;
}

bool WireReader::Group(uint32_t number, absl::string_view& bytes) {
  constexpr size_t kMostNested = 100;  // protocol buffers' limit
  const char* const start = left_.data();
  std::vector<uint32_t> open = {number};
  while (!open.empty()) {
    uint64_t tag = 0, value = 0;
    absl::string_view skipped;
    if (!Varint(tag) || tag > 0xFFFFFFFFu || tag >> 3 == 0) return Fail();
    const uint32_t inner = static_cast<uint32_t>(tag >> 3);
    bool read = false;
    switch (tag & 7) {
      case 0:
        read = Varint(value);
        break;
      case 1:
        read = Fixed64(value);
        break;
      case 2:
        read = Bytes(skipped);
        break;
      case 3:
        open.push_back(inner);
        read = open.size() <= kMostNested;
        break;
      case 4:
        read = open.back() == inner;
        open.pop_back();
        break;
      case 5:
        read = Fixed32(value);
        break;
    }
    if (!read) return Fail();
  }
  bytes = {start, static_cast<size_t>(left_.data() - start)};
  return true;
}

bool WireReader::Next(WireField& field) {
  uint64_t tag = 0;
  if (left_.empty() || !Varint(tag)) return false;
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<WireField::Type>(tag & 7);
  if (field.number == 0 || tag > 0xFFFFFFFFu) return Fail();
  switch (field.type) {
    case WireField::Type::kVarint:
      return Varint(field.value);
    case WireField::Type::kFixed64:
      return Fixed(8, field.value);
    case WireField::Type::kFixed32:
      return Fixed(4, field.value);
    case WireField::Type::kBytes:
      return Bytes(field.bytes);
  }
  return Fail();
}

}  // namespace tenon

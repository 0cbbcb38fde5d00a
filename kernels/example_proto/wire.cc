#include "kernels/example_proto/wire.h"

#include <cstring>
#include <vector>

#include "env/varint.h"

namespace tenon {

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendTag(uint32_t number, WireType type, std::string& out) {
  AppendVarint(uint64_t{number} << 3 | static_cast<uint64_t>(type), out);
}

void AppendBytesField(uint32_t number, absl::string_view bytes, std::string& out) {
  AppendTag(number, WireType::kBytes, out);
  AppendVarint(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
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

bool WireReader::Number(WireType type, uint64_t& value) {
  return type == WireType::kVarint    ? Varint(value)
         : type == WireType::kFixed32 ? Fixed32(value)
                                      : Fixed64(value);
}

bool WireReader::Tag(uint32_t& number, WireType& type) {
  uint64_t tag = 0;
  if (!Varint(tag)) return false;
  number = static_cast<uint32_t>(tag >> 3);
  type = static_cast<WireType>(tag & 7);
  return (number != 0 && tag <= 0xFFFFFFFFu) || Fail();
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
    uint32_t inner = 0;
    WireType type = WireType::kVarint;
    uint64_t value = 0;
    absl::string_view skipped;
    if (!Tag(inner, type)) return false;
    bool read = false;
    switch (type) {
      case WireType::kVarint:
      case WireType::kFixed64:
      case WireType::kFixed32:
        read = Number(type, value);
        break;
      case WireType::kBytes:
        read = Bytes(skipped);
        break;
      case WireType::kGroup:
        open.push_back(inner);
        read = open.size() <= kMostNested;
        break;
      case WireType::kGroupEnd:
        read = open.back() == inner;
        open.pop_back();
        break;
    }
    if (!read) return Fail();
  }
  bytes = {start, static_cast<size_t>(left_.data() - start)};
  return true;
}

bool WireReader::Next(WireField& field) {
  if (left_.empty() || !Tag(field.number, field.type)) return false;
  switch (field.type) {
    case WireType::kVarint:
    case WireType::kFixed64:
    case WireType::kFixed32:
      return Number(field.type, field.value);
    case WireType::kBytes:
      return Bytes(field.bytes);
    default:
      return Fail();
  }
}

}  // namespace tenon

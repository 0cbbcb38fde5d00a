#include "kernels/example_proto/wire.h"

#include <cstring>

#include "env/varint.h"

namespace tenon {

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
    case WireField::Type::kBytes: {
      uint64_t size = 0;
      if (!Varint(size)) return false;
      if (size > left_.size()) return Fail();
      field.bytes = left_.substr(0, size);
      left_.remove_prefix(size);
      return true;
    }
  }
  return Fail();
}

}  // namespace tenon

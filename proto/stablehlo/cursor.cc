#include "proto/stablehlo/cursor.h"

#include <algorithm>

namespace tenon::stablehlo {

bool Cursor::Byte(uint8_t& value) {
  if (left_.empty()) return Fail();
  value = static_cast<uint8_t>(left_[0]);
  left_.remove_prefix(1);
  return true;
}

bool Cursor::Varint(uint64_t& value) {
  uint8_t first;
  if (!Byte(first)) return false;
  int more = 0;  // bytes after the first
  while (more < 8 && (first >> more & 1) == 0) ++more;
  if (left_.size() < static_cast<size_t>(more)) return Fail();
  uint64_t rest = 0;
  for (int i = 0; i < more; ++i) {
    rest |= uint64_t{static_cast<uint8_t>(left_[static_cast<size_t>(i)])} << (8 * i);
  }
  left_.remove_prefix(static_cast<size_t>(more));
  // The first byte has 7 - more bits of the value, which are the lowest.
  value = more >= 7 ? rest : rest << (7 - more) | first >> (more + 1);
  return true;
}

bool Cursor::VarintWithFlag(uint64_t& value, bool& flag) {
  if (!Varint(value)) return false;
  flag = (value & 1) != 0;
  value >>= 1;
  return true;
}

bool Cursor::SignedVarint(int64_t& value) {
  uint64_t bits;
  if (!Varint(bits)) return false;
  value = static_cast<int64_t>(bits >> 1 ^ (~(bits & 1) + 1));
  return true;
}

bool Cursor::Bytes(uint64_t size, absl::string_view& bytes) {
  if (size > left_.size()) return Fail();
  bytes = left_.substr(0, static_cast<size_t>(size));
  left_.remove_prefix(static_cast<size_t>(size));
  return true;
}

bool Cursor::Count(uint64_t& count) {
  if (!Varint(count)) return false;
  return count <= left_.size() || Fail();
}

bool Cursor::SignedVarints(std::vector<int64_t>& values) {
  uint64_t n;
  if (!Count(n)) return false;
  values.resize(static_cast<size_t>(n));
  return std::all_of(values.begin(), values.end(), [&](int64_t& v) { return SignedVarint(v); });
}

bool Cursor::NullTerminated(absl::string_view& text) {
  const size_t end = left_.find('\0');
  if (end == absl::string_view::npos) return Fail();
  text = left_.substr(0, end);
  left_.remove_prefix(end + 1);
  return true;
}

}  // namespace tenon::stablehlo

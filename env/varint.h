// Variable-length integers as in protocol buffers and tables: seven bits per byte, low bits first.
#ifndef TENON_ENV_VARINT_H_
#define TENON_ENV_VARINT_H_

#include <cstdint>

namespace tenon {

// Reads a number and moves `p` past it. Returns false if the number does not end before `end` or
// does not fit 64 bits.
inline bool ReadVarint(const char*& p, const char* end, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && p < end; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*p++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace tenon

#endif  // TENON_ENV_VARINT_H_

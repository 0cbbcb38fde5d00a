// Turns the bytes of a fuzz input into choices. Past the end every choice is 0, so that each input
// is complete.
#ifndef TENON_TESTS_FUZZ_TARGETS_BYTE_READER_H_
#define TENON_TESTS_FUZZ_TARGETS_BYTE_READER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tenon {

class ByteReader {
 public:
  ByteReader(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }

  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return byte;
  }
  bool Bool() { return (Byte() & 1) != 0; }
  // A number from 0 to n - 1, for n of at most 65536; 0 if n is 0.
  size_t Below(size_t n) {
    if (n <= 1) return 0;
    const size_t value = n <= 256 ? Byte() : Number<uint16_t>();
    return value % n;
  }
  template <typename T>
  T Number() {
    T value{};
    const size_t n = std::min(sizeof(T), rest_.size());
    if (n > 0) std::memcpy(&value, rest_.data(), n);
    rest_.remove_prefix(n);
    return value;
  }
  template <typename T>
  const T& Pick(const std::vector<T>& values) {
    return values[Below(values.size())];
  }
  // At most `size` bytes.
  absl::string_view Take(size_t size) {
    const absl::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  absl::string_view Rest() { return Take(rest_.size()); }

 private:
  absl::string_view rest_;
};

}  // namespace tenon

#endif  // TENON_TESTS_FUZZ_TARGETS_BYTE_READER_H_

// Reads the tables of FlatBuffers, the format of TensorFlow Text's prebuilt models. Offsets come
// from the model, so each is checked.
//
//   TENON_ASSIGN_OR_RETURN(const FlatTable table, FlatTable::Root(bytes));
//   const int32_t limit = table.Scalar<int32_t>(4, 0);
//   TENON_ASSIGN_OR_RETURN(const std::vector<uint32_t> trie, table.Vector<uint32_t>(0));
#ifndef TENON_KERNELS_TEXT_FLAT_BUFFER_H_
#define TENON_KERNELS_TEXT_FLAT_BUFFER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/status.h"

namespace tenon {

class FlatTable {
 public:
  // The buffer's root table. It stays the caller's.
  static absl::StatusOr<FlatTable> Root(absl::Span<const uint8_t> buffer);

  // The value of field `id`, by its place in the schema.
  template <typename T>
  T Scalar(int id, T fallback) const {
    const size_t at = FieldAt(id);
    return at == 0 || !Fits(at, sizeof(T)) ? fallback : Read<T>(at);
  }

  // The table in field `id`. InvalidArgument if it is absent or not within the buffer.
  absl::StatusOr<FlatTable> Table(int id) const;

  // Empty if the field is absent. InvalidArgument if it reaches beyond the buffer.
  absl::StatusOr<std::string> String(int id) const;
  absl::StatusOr<std::vector<std::string>> Strings(int id) const;
  template <typename T>
  absl::StatusOr<std::vector<T>> Vector(int id) const {
    TENON_ASSIGN_OR_RETURN(const Items items, ItemsAt(FieldAt(id), sizeof(T)));
    std::vector<T> values(items.count);
    if (items.count > 0) std::memcpy(values.data(), &buffer_[items.at], items.count * sizeof(T));
    return values;
  }

 private:
  struct Items {
    size_t at, count;
  };

  FlatTable(absl::Span<const uint8_t> buffer, size_t at) : buffer_(buffer), at_(at) {}
  bool Fits(size_t at, size_t bytes) const {
    return at <= buffer_.size() && bytes <= buffer_.size() - at;
  }
  template <typename T>
  T Read(size_t at) const {
    T value;
    std::memcpy(&value, &buffer_[at], sizeof(T));
    return value;
  }
  size_t FieldAt(int id) const;  // 0: absent
  // The items of the vector or string to which the offset at `at` points.
  absl::StatusOr<Items> ItemsAt(size_t at, size_t item_bytes) const;

  absl::Span<const uint8_t> buffer_;
  size_t at_;  // of the table
};

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_FLAT_BUFFER_H_

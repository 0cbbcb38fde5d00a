// Writes the index of a checkpoint, a leveldb table, with any entries and correct checksums.
//
//   CheckpointIndex index;
//   index.Add("", header);      // keys in order
//   WriteFile(prefix + ".index", index.Finish());
#ifndef TENON_TESTS_SUPPORT_CHECKPOINT_INDEX_H_
#define TENON_TESTS_SUPPORT_CHECKPOINT_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/checkpoint/crc32c.h"

namespace tenon {

inline void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

// Fields of protocol buffers.
inline std::string NumberField(int field, int64_t value) {
  std::string out;
  PutVarint(static_cast<uint64_t>(field) << 3, out);
  PutVarint(static_cast<uint64_t>(value), out);
  return out;
}
inline std::string BytesField(int field, const std::string& value) {
  std::string out;
  PutVarint(static_cast<uint64_t>(field) << 3 | 2, out);
  PutVarint(value.size(), out);
  return out + value;
}

// A leveldb table of one block without shared prefixes.
class CheckpointIndex {
 public:
  struct Place {
    uint64_t offset, bytes;
  };

  void Add(absl::string_view key, absl::string_view value) { AddTo(entries_, key, value); }

  // `stated`: where the table's index says that the entries are, if not where they are.
  std::string Finish(std::optional<Place> stated = std::nullopt) {
    const std::string data = AddBlock(Block(), kPlain);
    return FinishWith(stated.has_value() ? Handle(*stated) : data);
  }

  // The entries as a block.
  std::string Block() const { return WithRestarts(entries_); }
  // With these bytes for the entries, said to be what Snappy made of them.
  std::string FinishCompressed(const std::string& bytes) {
    return FinishWith(AddBlock(bytes, kSnappy));
  }

 private:
  enum Compression : char { kPlain = 0, kSnappy = 1 };

  // `data`: the handle of the entries' block.
  std::string FinishWith(const std::string& data) {
    std::string index;
    AddTo(index, "\xff\xff", data);
    const std::string meta_at = AddBlock(WithRestarts(""), kPlain);
    std::string footer = meta_at + AddBlock(WithRestarts(index), kPlain);
    footer.resize(40);
    PutFixed(uint64_t{0xdb4775248b80fb57}, footer);
    return table_ + footer;
  }
  template <typename T>
  static void PutFixed(T value, std::string& out) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  static std::string Handle(Place place) {
    std::string handle;
    PutVarint(place.offset, handle);
    PutVarint(place.bytes, handle);
    return handle;
  }
  static void AddTo(std::string& block, absl::string_view key, absl::string_view value) {
    PutVarint(0, block);
    PutVarint(key.size(), block);
    PutVarint(value.size(), block);
    block.append(key.data(), key.size());
    block.append(value.data(), value.size());
  }
  // One, for the first entry.
  static std::string WithRestarts(std::string entries) {
    PutFixed(uint32_t{0}, entries);
    PutFixed(uint32_t{1}, entries);
    return entries;
  }
  // Returns the block's handle.
  std::string AddBlock(std::string block, Compression compression) {
    const Place place{table_.size(), block.size()};
    block.push_back(compression);
    const uint32_t crc = Crc32c(0, block.data(), block.size());
    PutFixed(MaskCrc(crc), block);
    table_ += block;
    return Handle(place);
  }

  std::string entries_, table_;
};

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_CHECKPOINT_INDEX_H_

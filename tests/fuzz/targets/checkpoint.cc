// Checkpoints: an index and a data shard. Either the index's bytes come as they are, or as keys and
// entries that are put into a valid table, whose checksums random bytes would never have.
#include "proto/checkpoint/bundle.h"
#include "proto/checkpoint/crc32c.h"
#include "tests/fuzz/targets/byte_reader.h"
#include "tests/fuzz/targets/scratch_folder.h"
#include "tests/fuzz/targets/target.h"

namespace tenon {
namespace {

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

template <typename T>
void PutFixed(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A leveldb table of uncompressed blocks without shared prefixes.
class Table {
 public:
  void Add(absl::string_view key, absl::string_view value) { AddTo(entries_, key, value); }

  std::string Finish() {
    const std::string data = AddBlock(entries_);
    std::string index, meta;
    AddTo(index, "\xff\xff", data);
    const std::string meta_at = AddBlock(meta);
    std::string footer = meta_at + AddBlock(index);
    footer.resize(40);
    PutFixed(uint64_t{0xdb4775248b80fb57}, footer);
    return table_ + footer;
  }

 private:
  static void AddTo(std::string& block, absl::string_view key, absl::string_view value) {
    PutVarint(0, block);
    PutVarint(key.size(), block);
    PutVarint(value.size(), block);
    block.append(key.data(), key.size());
    block.append(value.data(), value.size());
  }
  // Returns the block's handle.
  std::string AddBlock(std::string block) {
    PutFixed(uint32_t{0}, block);
    PutFixed(uint32_t{1}, block);
    std::string handle;
    PutVarint(table_.size(), handle);
    PutVarint(block.size(), handle);
    block.push_back(0);  // not compressed
    const uint32_t crc = Crc32c(0, block.data(), block.size());
    PutFixed(MaskCrc(crc), block);
    table_ += block;
    return handle;
  }

  std::string entries_, table_;
};

int FuzzCheckpoint(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  const bool raw = bytes.Bool();
  const bool verify = bytes.Bool();
  std::string index;
  const absl::string_view shard = bytes.Take(bytes.Number<uint16_t>());
  if (raw) {
    index = std::string(bytes.Rest());
  } else {
    Table table;
    while (!bytes.empty()) {
      const absl::string_view key = bytes.Take(bytes.Below(32));
      table.Add(key, bytes.Take(bytes.Byte()));
    }
    index = table.Finish();
  }
  WriteScratchFile("variables.data-00000-of-00001", shard);
  const std::string path = WriteScratchFile("variables.index", index);
  const std::string prefix = path.substr(0, path.size() - std::string(".index").size());
  const auto bundle = Bundle::Open(prefix, {.verify_checksums = verify});
  if (!bundle.ok()) return 0;
  for (const auto& [key, entry] : (*bundle)->entries()) {
    const auto value = (*bundle)->Load(key);
    if (value.ok() && !value->Clone().ok()) return 0;  // Clone reads all of it
  }
  return 0;
}

const FuzzTarget kTarget("checkpoint", FuzzCheckpoint);

}  // namespace
}  // namespace tenon

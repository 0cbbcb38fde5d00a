// Checkpoints: an index and a data shard. Either the index's bytes come as they are, or as keys and
// entries that are put into a valid table, whose checksums random bytes would never have; that
// table may state another place for them. Or the table's block is any bytes, as if Snappy had made
// them.
#include "proto/checkpoint/bundle.h"
#include "tests/fuzz/targets/byte_reader.h"
#include "tests/fuzz/targets/scratch_folder.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/checkpoint_index.h"

namespace tenon {
namespace {

int FuzzCheckpoint(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  const uint8_t form = bytes.Byte();
  const bool raw = (form & 1) != 0, elsewhere = (form & 2) != 0, compressed = (form & 4) != 0;
  const bool verify = bytes.Bool();
  std::string index;
  const absl::string_view shard = bytes.Take(bytes.Number<uint16_t>());
  if (raw) {
    index = std::string(bytes.Rest());
  } else if (compressed) {
    index = CheckpointIndex().FinishCompressed(std::string(bytes.Rest()));
  } else {
    CheckpointIndex table;
    std::optional<CheckpointIndex::Place> stated;
    if (elsewhere) {
      const auto offset = bytes.Number<uint64_t>();
      stated = {offset, bytes.Number<uint64_t>()};
    }
    while (!bytes.empty()) {
      const absl::string_view key = bytes.Take(bytes.Below(32));
      table.Add(key, bytes.Take(bytes.Byte()));
    }
    index = table.Finish(stated);
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

#include "proto/checkpoint/table_file.h"

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>

#include <memory>
#include <new>

#include "env/status.h"
#include "env/varint.h"

namespace tenon {
namespace {

// Made when the library is loaded: leveldb is compiled without exceptions, so that if its first use
// of a static variable runs out of memory, no later use succeeds.
[[maybe_unused]] const leveldb::Env* const env = leveldb::Env::Default();

// After each block: how it is compressed, and its checksum.
constexpr size_t kTrailerBytes = 5;
constexpr size_t kFooterBytes = 48;

// A block that is compressed by Snappy begins with its size as it was. Of 64 bytes, a copy, which
// is the shortest form, takes 3. leveldb allocates what is stated before it looks further, and
// leaks the block where that is refused.
bool StatesPossibleSize(const char* block, size_t bytes) {
  constexpr char kSnappy = 1;
  constexpr uint64_t kMostExpansion = 22;
  const char* const trailer = block + (bytes - kTrailerBytes);
  uint64_t stated = 0;
  if (*trailer != kSnappy || !ReadVarint(block, trailer, stated)) return true;
  return stated <= kMostExpansion * bytes;
}

class View final : public leveldb::RandomAccessFile {
 public:
  explicit View(const MappedFile& file) : file_(file) {}
  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result, char*) const override {
    // leveldb adds the trailer's size to any size that an index states, which may overflow.
    if (n < kTrailerBytes || offset > file_.size() || n > file_.size() - offset) {
      return leveldb::Status::Corruption("a block is outside of the file");
    }
    const bool footer = n == kFooterBytes && offset == file_.size() - n;
    if (!footer && !StatesPossibleSize(file_.data() + offset, n)) {
      return leveldb::Status::Corruption("a compressed block states an impossible size");
    }
    *result = leveldb::Slice(file_.data() + offset, n);
    return leveldb::Status::OK();
  }

 private:
  const MappedFile& file_;
};

// The footer has no checksum, and leveldb allocates the stated sizes before it reads.
bool FooterIsSane(const MappedFile& file) {
  if (file.size() < kFooterBytes) return false;
  const char* p = file.data() + (file.size() - kFooterBytes);
  const char* end = file.data() + file.size() - 8;
  for (int handle = 0; handle < 2; ++handle) {  // of the meta index, of the index
    uint64_t offset, bytes;
    if (!ReadVarint(p, end, offset) || !ReadVarint(p, end, bytes)) return false;
    if (offset > file.size() || bytes > file.size() - offset) return false;
  }
  return true;
}

absl::Status Walk(const MappedFile& file, const TableEntry& entry) {
  const View view(file);
  leveldb::Options options;
  options.paranoid_checks = true;
  options.block_cache = nullptr;
  leveldb::Table* opened = nullptr;
  const leveldb::Status status =
      leveldb::Table::Open(options, const_cast<View*>(&view), file.size(), &opened);
  const std::unique_ptr<leveldb::Table> table(opened);
  if (!status.ok()) return InvalidArgument(status.ToString());
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  read.fill_cache = false;
  const std::unique_ptr<leveldb::Iterator> it(table->NewIterator(read));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    TENON_RETURN_IF_ERROR(
        entry({it->key().data(), it->key().size()}, {it->value().data(), it->value().size()}));
  }
  if (!it->status().ok()) return InvalidArgument(it->status().ToString());
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadTable(const MappedFile& file, const TableEntry& entry) {
  if (!FooterIsSane(file)) return InvalidArgument(file.path(), ": not a table, or cut off");
  for (bool again = false;; again = true) {
    try {
      return Annotate(Walk(file, entry), file.path());
    } catch (const std::bad_alloc&) {
      // leveldb allocates before it checks. What fails twice has an absurd size, unless there is no
      // memory left for this message either.
      if (again) return InvalidArgument(file.path(), ": damaged: a block is too large");
    }
  }
}

}  // namespace tenon

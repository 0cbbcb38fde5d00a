// A variables bundle (checkpoint): an index, which is a table of entries by key, and data shards.
//
//   TENON_ASSIGN_OR_RETURN(auto bundle, Bundle::Open("model/variables/variables", {}));
//   TENON_ASSIGN_OR_RETURN(Tensor t, bundle->Load("dense/kernel"));
#ifndef TENON_PROTO_CHECKPOINT_BUNDLE_H_
#define TENON_PROTO_CHECKPOINT_BUNDLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "env/mapped_file.h"
#include "graph/tensor.h"

namespace tenon {

struct BundleOptions {
  bool verify_checksums = false;  // of the data; the index's are always verified
  bool map_files = true;          // else values are copies, and the files may become shorter
};

class Bundle {
 public:
  struct Entry {
    DType dtype = DType::kInvalid;
    Shape shape;
    int shard = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint32_t crc = 0;  // masked crc32c
    // For a partitioned value: the position of its parts (one pair of start and size per dimension;
    // size -1: the whole dimension). Each part has its own entry.
    struct Slice {
      std::vector<std::pair<int64_t, int64_t>> extents;
    };
    std::vector<Slice> slices;
  };

  // `prefix` is the path without ".index" and ".data-00000-of-00001". Opens only the index.
  static absl::StatusOr<std::unique_ptr<Bundle>> Open(const std::string& prefix,
                                                      const BundleOptions& options);

  const Entry* Find(absl::string_view key) const;  // null: no such key
  const OrderedMap<std::string, Entry>& entries() const { return entries_; }

  // Large values are views of the mapped file if they are aligned there and
  // BundleOptions::map_files is set; others are read. Errors name the file and the key.
  absl::StatusOr<Tensor> Load(absl::string_view key);

 private:
  Bundle(std::string prefix, const BundleOptions& options)
      : prefix_(std::move(prefix)), options_(options) {}
  absl::Status AddEntry(absl::string_view key, absl::string_view value);
  absl::StatusOr<const MappedFile*> Shard(int shard);
  // The file that holds the entry: it is long enough, and the bytes fit the shape.
  absl::StatusOr<const MappedFile*> FileOf(const Entry& entry);
  absl::StatusOr<Tensor> LoadEntry(const Entry& entry);
  absl::StatusOr<Tensor> LoadSlices(absl::string_view key, const Entry& entry);

  const std::string prefix_;
  const BundleOptions options_;
  std::vector<std::shared_ptr<const MappedFile>> shards_;  // null until used
  OrderedMap<std::string, Entry> entries_;
};

}  // namespace tenon

#endif  // TENON_PROTO_CHECKPOINT_BUNDLE_H_

// A file of the disk cache: a rewritten graph and its weights, plain or as kernels packed them,
// mapped or copied for reading. It is not a model file, so the graph may contain private ops.
//
// Layout: a header (magic, size, hash of the rest, key), records, the graph's text, then the bytes
// of weights, each at a multiple of 64. Numbers have the machine's own byte order.
#ifndef TENON_RUNTIME_DISK_CACHE_CACHE_FILE_H_
#define TENON_RUNTIME_DISK_CACHE_CACHE_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/mapped_file.h"
#include "graph/tensor.h"
#include "proto/import/model.h"

namespace tenon {

// A packed form (kernels/contraction/packed_weights.h).
struct StoredForm {
  std::string key;
  std::string description;
  Tensor bytes;
};

struct StoredConstant {
  DType dtype = DType::kInvalid;
  Shape shape;
  Tensor plain;  // invalid: the forms contain the value, or nobody needs it
  std::vector<StoredForm> forms;
};

struct CacheContent {
  std::string graph;  // in text form; constants appear as numbers
  ModelInterface interface;
  std::vector<StoredConstant> constants;
};

// Writes to a temporary name and renames: readers see the old file or the new one.
absl::Status WriteCacheFile(const std::string& path, const std::string& key,
                            const CacheContent& content, int threads);

// Tensors view the file, mapped or copied. NotFound if there is none; DataLoss if it is damaged or
// has another key.
absl::StatusOr<CacheContent> ReadCacheFile(const std::string& path, const std::string& key,
                                           FilePages pages, int threads);

}  // namespace tenon

#endif  // TENON_RUNTIME_DISK_CACHE_CACHE_FILE_H_

// 128-bit content hashes, computed by several threads: they distinguish models, and detect damaged
// files. They do not protect against malice.
#ifndef TENON_RUNTIME_DISK_CACHE_CONTENT_HASH_H_
#define TENON_RUNTIME_DISK_CACHE_CONTENT_HASH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon {

class MappedFile;

// 32 hexadecimal digits; the number of threads does not matter.
std::string ContentHash(absl::string_view bytes, int threads);

// The hash of the rest of a file, which is read without touching its mapping.
absl::StatusOr<std::string> ContentHash(const MappedFile& file, uint64_t from, int threads);

// A line "NAME SIZE HASH" for each file of a model: the file itself, or all files in the folder in
// order of their names. An error if one cannot be read.
absl::StatusOr<std::string> DescribeModelFiles(const std::string& path, int threads);

}  // namespace tenon

#endif  // TENON_RUNTIME_DISK_CACHE_CONTENT_HASH_H_

// Hashes of content, 128 bits, by several threads at once: what tells one model from another, and a
// whole file from a damaged one. Not a guard against malice.
#ifndef TENON_RUNTIME_DISK_CACHE_CONTENT_HASH_H_
#define TENON_RUNTIME_DISK_CACHE_CONTENT_HASH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon {

class MappedFile;

// 32 hexadecimal digits, whatever the number of threads.
std::string ContentHash(absl::string_view bytes, int threads);

// Of the rest of a file; its pages do not stay in this process's memory.
std::string ContentHash(const MappedFile& file, uint64_t from, int threads);

// A line "NAME SIZE HASH" for each file of a model: the file itself, or all files in the folder, in
// the order of their names. Errors where one cannot be read.
absl::StatusOr<std::string> DescribeModelFiles(const std::string& path, int threads);

}  // namespace tenon

#endif  // TENON_RUNTIME_DISK_CACHE_CONTENT_HASH_H_

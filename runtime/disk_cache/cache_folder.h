// The folder of the disk cache: lists its files and keeps its size within a limit. Any number of
// processes may do so concurrently: a process keeps a file that it has mapped even after deletion.
// Files whose names are not ours are never touched.
#ifndef TENON_RUNTIME_DISK_CACHE_CACHE_FOLDER_H_
#define TENON_RUNTIME_DISK_CACHE_CACHE_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

struct CachedFile {
  std::string path;
  int64_t bytes = 0;
  std::filesystem::file_time_type used;  // written or read last
};

// Most recently used first. NotFound if there is no such folder.
absl::StatusOr<std::vector<CachedFile>> ListCacheFolder(const std::string& folder);

// Marks the file as used now. Does nothing if that cannot be recorded.
void MarkUsed(const std::string& path);

// Deletes the least recently used files until the rest has at most `max_bytes`, and leftovers of
// processes that died while writing, once they are an hour old. Never deletes `keep`. Returns the
// number of deleted files.
absl::StatusOr<int> TrimCacheFolder(const std::string& folder, int64_t max_bytes,
                                    const std::string& keep);

}  // namespace tenon

#endif  // TENON_RUNTIME_DISK_CACHE_CACHE_FOLDER_H_

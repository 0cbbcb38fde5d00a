// The folder of the cache on disk: which files are in it, and how it stays within a size. Any
// number of processes may do this at once: a file that somebody reads lives on for them. Files that
// are not named as ours are never touched.
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

// Last used first. NotFound where there is no such folder.
absl::StatusOr<std::vector<CachedFile>> ListCacheFolder(const std::string& folder);

// The file counts as used now. Where that cannot be written down, nothing happens.
void MarkUsed(const std::string& path);

// Deletes files, those used longest ago first, until the rest has at most `max_bytes`; also what
// processes that died while writing left behind, once it is an hour old. `keep` stays in any case.
// Gives the number of files that went.
absl::StatusOr<int> TrimCacheFolder(const std::string& folder, int64_t max_bytes,
                                    const std::string& keep);

}  // namespace tenon

#endif  // TENON_RUNTIME_DISK_CACHE_CACHE_FOLDER_H_

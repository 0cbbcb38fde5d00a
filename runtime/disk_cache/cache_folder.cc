#include "runtime/disk_cache/cache_folder.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashDigits = 32;  // hexadecimal digits
constexpr absl::string_view kSuffix = ".tenon";

enum class Kind { kForeign, kFile, kTemporary };

Kind KindOf(absl::string_view name) {
  if (name.size() < kHashDigits + kSuffix.size() ||
      name.substr(kHashDigits, kSuffix.size()) != kSuffix ||
      !std::all_of(name.begin(), name.begin() + kHashDigits,
                   [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); })) {
    return Kind::kForeign;
  }
  const absl::string_view rest = name.substr(kHashDigits + kSuffix.size());
  if (rest.empty()) return Kind::kFile;
  return rest[0] == '.' && absl::EndsWith(rest, ".tmp") ? Kind::kTemporary : Kind::kForeign;
}

absl::StatusOr<std::vector<CachedFile>> List(const std::string& folder, Kind kind) {
  std::error_code error;
  std::vector<CachedFile> files;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    // Skips files that disappear meanwhile or cannot be examined.
    std::error_code gone;
    if (KindOf(it->path().filename().string()) != kind || !it->is_regular_file(gone)) continue;
    CachedFile file;
    file.path = it->path().string();
    file.bytes = static_cast<int64_t>(it->file_size(gone));
    if (!gone) file.used = it->last_write_time(gone);
    if (!gone) files.push_back(std::move(file));
  }
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot list ", folder));
  std::sort(files.begin(), files.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used > b.used; });
  return files;
}

}  // namespace

absl::StatusOr<std::vector<CachedFile>> ListCacheFolder(const std::string& folder) {
  return List(folder, Kind::kFile);
}

// Sets the modification time, because file systems are often mounted without access times.
void MarkUsed(const std::string& path) {
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
}

absl::StatusOr<int> TrimCacheFolder(const std::string& folder, int64_t max_bytes,
                                    const std::string& keep) {
  int deleted = 0;
  std::error_code ignored;  // another process was faster, or another user owns the file
  auto temporary = List(folder, Kind::kTemporary);
  if (!temporary.ok()) return temporary.status();
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const CachedFile& file : *temporary) {
    if (file.used < old) deleted += fs::remove(file.path, ignored);
  }
  auto files = List(folder, Kind::kFile);
  if (!files.ok()) return files.status();
  const bool keeps = !keep.empty() && fs::exists(keep, ignored);
  int64_t bytes = keeps ? static_cast<int64_t>(fs::file_size(keep, ignored)) : 0;
  for (const CachedFile& file : *files) {
    if (keeps && fs::equivalent(file.path, keep, ignored)) continue;
    if (bytes + file.bytes <= max_bytes) {
      bytes += file.bytes;
    } else {
      deleted += fs::remove(file.path, ignored);
    }
  }
  return deleted;
}

}  // namespace tenon

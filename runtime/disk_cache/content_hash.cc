#include "runtime/disk_cache/content_hash.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/mapped_file.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon {
namespace {

// Pieces are hashed one by one; the content's hash is the hash of their hashes.
constexpr size_t kPiece = size_t{1} << 20;

std::string Hex(XXH128_hash_t hash) {
  return absl::StrCat(absl::Hex(hash.high64, absl::kZeroPad16),
                      absl::Hex(hash.low64, absl::kZeroPad16));
}

absl::StatusOr<std::string> Describe(const std::string& name, const std::string& path,
                                     int threads) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  TENON_ASSIGN_OR_RETURN(const std::string hash, ContentHash(*file, 0, threads));
  return absl::StrCat(name, " ", file->size(), " ", hash, "\n");
}

size_t PiecesOf(uint64_t bytes) { return static_cast<size_t>((bytes + kPiece - 1) / kPiece); }

std::string HashOf(const std::vector<XXH128_hash_t>& hashes) {
  return Hex(XXH3_128bits(hashes.data(), hashes.size() * sizeof(XXH128_hash_t)));
}

}  // namespace

std::string ContentHash(absl::string_view bytes, int threads) {
  std::vector<XXH128_hash_t> hashes(PiecesOf(bytes.size()));
  const auto n = static_cast<int64_t>(hashes.size());
  ParallelFor(threads, n, /*grain=*/1, [&](int64_t begin, int64_t end) {
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const absl::string_view piece = bytes.substr(i * kPiece, kPiece);
      hashes[i] = XXH3_128bits(piece.data(), piece.size());
    }
  });
  return HashOf(hashes);
}

absl::StatusOr<std::string> ContentHash(const MappedFile& file, uint64_t from, int threads) {
  const uint64_t bytes = file.size() - from;
  const size_t pieces = PiecesOf(bytes);
  std::vector<XXH128_hash_t> hashes(pieces);
  const auto n = static_cast<int64_t>(pieces);
  const auto ranges = static_cast<size_t>(ParallelRanges(threads, n, /*grain=*/1));
  std::vector<std::string> buffers(ranges, std::string(std::min(bytes, uint64_t{kPiece}), '\0'));
  std::vector<absl::Status> statuses(ranges);
  ParallelForRanges(threads, n, /*grain=*/1, [&](int range, int64_t begin, int64_t end) {
    char* const buffer = buffers[static_cast<size_t>(range)].data();
    absl::Status& status = statuses[static_cast<size_t>(range)];
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end) && status.ok(); ++i) {
      const uint64_t size = std::min(uint64_t{kPiece}, bytes - i * kPiece);
      status = file.Read(from + i * kPiece, size, buffer);
      if (status.ok()) hashes[i] = XXH3_128bits(buffer, size);
    }
  });
  for (const absl::Status& status : statuses) TENON_RETURN_IF_ERROR(status);
  return HashOf(hashes);
}

absl::StatusOr<std::string> DescribeModelFiles(const std::string& path, int threads) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return Describe("model", path, threads);
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(path, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->is_regular_file(error)) files.push_back(it->path());
  }
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot read ", path));
  std::sort(files.begin(), files.end());
  std::string text;
  bool assets = false;
  for (const fs::path& file : files) {
    const std::string name = file.lexically_relative(path).string();
    TENON_ASSIGN_OR_RETURN(const std::string line, Describe(name, file.string(), threads));
    absl::StrAppend(&text, line);
    assets |= name.compare(0, 7, "assets/") == 0;
  }
  // Graphs contain the paths of assets.
  if (assets) absl::StrAppend(&text, "in ", fs::absolute(path, error).string(), "\n");
  return text;
}

}  // namespace tenon

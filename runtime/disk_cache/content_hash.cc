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
  const std::string hash = ContentHash(*file, 0, threads);
  return absl::StrCat(name, " ", file->size(), " ", hash, "\n");
}

// Appends the hashes of the pieces.
void HashPieces(absl::string_view bytes, int threads, std::vector<XXH128_hash_t>& hashes) {
  const size_t pieces = (bytes.size() + kPiece - 1) / kPiece;
  const size_t first = hashes.size();
  hashes.resize(first + pieces);
  ParallelFor(threads, static_cast<int64_t>(pieces), /*grain=*/1, [&](int64_t begin, int64_t end) {
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const absl::string_view piece = bytes.substr(i * kPiece, kPiece);
      hashes[first + i] = XXH3_128bits(piece.data(), piece.size());
    }
  });
}

std::string HashOf(const std::vector<XXH128_hash_t>& hashes) {
  return Hex(XXH3_128bits(hashes.data(), hashes.size() * sizeof(XXH128_hash_t)));
}

}  // namespace

std::string ContentHash(absl::string_view bytes, int threads) {
  std::vector<XXH128_hash_t> hashes;
  HashPieces(bytes, threads, hashes);
  return HashOf(hashes);
}

std::string ContentHash(const MappedFile& file, uint64_t from, int threads) {
  constexpr uint64_t kWindow = 16 * kPiece;
  std::vector<XXH128_hash_t> hashes;
  for (; from < file.size(); from += kWindow) {
    const uint64_t bytes = std::min(kWindow, file.size() - from);
    const std::shared_ptr<const void> hold = file.Hold(from, bytes);
    HashPieces({file.data() + from, bytes}, threads, hashes);
  }
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

// Files of the disk cache, with the hash that random bytes would never have.
#include "runtime/disk_cache/cache_file.h"

#include "runtime/disk_cache/content_hash.h"
#include "runtime/disk_cache/disk_cache.h"
#include "tests/fuzz/targets/scratch_folder.h"
#include "tests/fuzz/targets/target.h"

namespace tenon {
namespace {

constexpr size_t kSizeAt = 16, kHashAt = 24, kHeader = 64;  // runtime/disk_cache/cache_file.cc

void ReadAll(const Tensor& t) {
  if (!t.valid()) return;
  if (t.dtype() == DType::kString) FuzzFailure("strings in mapped memory");
  (void)t.Clone();
}

int FuzzCacheFile(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= kHeader) {
    const uint64_t stated = size;
    bytes.replace(kSizeAt, sizeof(stated), reinterpret_cast<const char*>(&stated), sizeof(stated));
    bytes.replace(kHashAt, 32, ContentHash(absl::string_view(bytes).substr(kHeader), 1));
  }
  const auto content =
      ReadCacheFile(WriteScratchFile("cache", bytes), "key", FilePages::kMapped, /*threads=*/1);
  if (!content.ok()) return 0;
  for (const StoredConstant& constant : content->constants) {
    ReadAll(constant.plain);
    for (const StoredForm& form : constant.forms) ReadAll(form.bytes);
  }
  const auto restored = RestoreGraph(*content);
  if (restored.ok()) (void)restored->graph.TopologicalOrder();
  return 0;
}

const FuzzTarget kTarget("cache_file", FuzzCacheFile);

}  // namespace
}  // namespace tenon

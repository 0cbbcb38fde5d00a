#include "graph/buffer_cache.h"

#include <algorithm>
#include <cstdlib>

namespace tenon {
namespace {

// A kept block would hide reads after free from the sanitizer.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeep = false;
#else
constexpr bool kKeep = true;
#endif

}  // namespace

BufferCache& BufferCache::Global() {
  static BufferCache* const cache = new BufferCache;
  return *cache;
}

void* BufferCache::Take(size_t bytes) {
  MutexLock lock(&mutex_);
  // The block returned last is the most likely to be in the CPU's caches.
  const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                  [&](const Block& b) { return b.bytes == bytes; });
  if (found == blocks_.rend()) return nullptr;
  void* const address = found->address;
  bytes_ -= bytes;
  blocks_.erase(std::next(found).base());
  return address;
}

void BufferCache::Give(void* block, size_t bytes) {
  if (!kKeep || bytes < kSmallest || bytes > kLargest) {
    std::free(block);
    return;
  }
  Blocks leaving;
  {
    MutexLock lock(&mutex_);
    blocks_.push_back({block, bytes});
    bytes_ += bytes;
    auto last = blocks_.begin();
    while (bytes_ > kMostBytes || static_cast<size_t>(blocks_.end() - last) > kMostBlocks) {
      bytes_ -= last->bytes;
      leaving.push_back(*last);
      ++last;
    }
    blocks_.erase(blocks_.begin(), last);
  }
  for (const Block& b : leaving) std::free(b.address);
}

void BufferCache::Clear() {
  Blocks leaving;
  {
    MutexLock lock(&mutex_);
    leaving.swap(blocks_);
    bytes_ = 0;
  }
  for (const Block& b : leaving) std::free(b.address);
}

size_t BufferCache::bytes() const {
  MutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace tenon

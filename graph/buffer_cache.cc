#include "graph/buffer_cache.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace tenon {
namespace {

// A kept block would hide reads after free from the sanitizer.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeep = false;
#else
constexpr bool kKeep = true;
#endif

}  // namespace

void BufferCache::Sizes::Add(size_t bytes) {
  if (Has(bytes)) return;
  sizes_[next_] = bytes;
  next_ = (next_ + 1) % sizes_.size();
}

bool BufferCache::Sizes::Has(size_t bytes) const {
  return std::find(sizes_.begin(), sizes_.end(), bytes) != sizes_.end();
}

BufferCache& BufferCache::Global() {
  static BufferCache* const cache = new BufferCache;
  return *cache;
}

void* BufferCache::Take(size_t bytes) {
  MutexLock lock(&mutex_);
  if (bytes > kLarge && freed_.Has(bytes)) asked_again_.Add(bytes);
  // The block returned last is the most likely to be in the CPU's caches.
  const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                  [&](const Block& b) { return b.bytes == bytes; });
  if (found == blocks_.rend()) return nullptr;
  void* const address = found->address;
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
    if (bytes > kLarge && !asked_again_.Has(bytes)) {
      freed_.Add(bytes);
      leaving.push_back({block, bytes, 0});
    } else {
      blocks_.push_back({block, bytes, ++returned_});
      leaving = TakeOutRest();
    }
  }
  for (const Block& b : leaving) std::free(b.address);
}

BufferCache::Blocks BufferCache::TakeOutRest() {
  size_t small = 0, large = 0, count = 0;
  const auto stays = [&](const Block& b) {
    if (b.bytes > kLarge && b.returned + kMostAge < returned_) return false;
    size_t& sum = b.bytes > kLarge ? large : small;
    sum += b.bytes;
    return sum <= (b.bytes > kLarge ? kMostLargeBytes : kMostBytes) && ++count <= kMostBlocks;
  };
  Blocks leaving;
  for (size_t i = blocks_.size(); i-- > 0;) {
    if (stays(blocks_[i])) continue;
    leaving.push_back(blocks_[i]);
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(i));
  }
  return leaving;
}

void BufferCache::Clear() {
  Blocks leaving;
  {
    MutexLock lock(&mutex_);
    leaving.swap(blocks_);
    freed_ = {};
    asked_again_ = {};
  }
  for (const Block& b : leaving) std::free(b.address);
}

size_t BufferCache::bytes() const {
  MutexLock lock(&mutex_);
  return std::accumulate(blocks_.begin(), blocks_.end(), size_t{0},
                         [](size_t sum, const Block& b) { return sum + b.bytes; });
}

}  // namespace tenon

// Reuses the memory of freed tensors for new ones of the same size. Without this, malloc returns a
// freed output to the system and the next call pays for its pages again, which costs more than most
// ops on it. (malloc keeps small blocks by itself.) The cache holds at most kMostBytes; Clear frees
// them after a model was loaded and when memory runs out.
#ifndef TENON_GRAPH_BUFFER_CACHE_H_
#define TENON_GRAPH_BUFFER_CACHE_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "env/mutex.h"

namespace tenon {

class BufferCache {
 public:
  static constexpr size_t kSmallest = size_t{64} << 10;
  static constexpr size_t kLargest = size_t{32} << 20;
  static constexpr size_t kMostBytes = size_t{64} << 20;

  // The cache of the whole process.
  static BufferCache& Global();

  // A kept block of exactly this size, or null.
  void* Take(size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Keeps a block that std::free can free, or frees it.
  void Give(void* block, size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Frees all blocks.
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_);
  size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Block {
    void* address;
    size_t bytes;
  };
  static constexpr size_t kMostBlocks = 64;
  // Allocates nothing: blocks come back while memory is being freed, perhaps because none is left.
  using Blocks = absl::InlinedVector<Block, kMostBlocks + 1>;

  mutable Mutex mutex_;
  Blocks blocks_ ABSL_GUARDED_BY(mutex_);  // the last one was returned last
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon

#endif  // TENON_GRAPH_BUFFER_CACHE_H_

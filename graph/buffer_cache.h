// Reuses the memory of freed tensors for new ones of the same size. Without this, malloc returns a
// freed output to the system and the next call pays for its pages again, which costs more than most
// ops on it. (malloc keeps small blocks by itself.) The cache holds at most kMostBytes, and as much
// as kMostLargeBytes in large blocks, of sizes that were asked for again after a block of the size
// was returned: weights of one size that a model loads, or a size that changes with each batch, are
// not worth that memory. Clear frees all of them after a model was loaded and when memory runs out.
#ifndef TENON_GRAPH_BUFFER_CACHE_H_
#define TENON_GRAPH_BUFFER_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "env/mutex.h"

namespace tenon {

class BufferCache {
 public:
  static constexpr size_t kSmallest = size_t{64} << 10;
  static constexpr size_t kLarge = size_t{32} << 20;  // larger than this
  static constexpr size_t kLargest = size_t{256} << 20;
  static constexpr size_t kMostBytes = size_t{64} << 20;
  static constexpr size_t kMostLargeBytes = size_t{256} << 20;

  // The cache of the whole process.
  static BufferCache& Global();

  // A kept block of exactly this size, or null.
  void* Take(size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Keeps a block that std::free can free, or frees it.
  void Give(void* block, size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Frees all blocks, and forgets which sizes were asked for again.
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_);
  size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Block {
    void* address;
    size_t bytes;
    uint64_t returned;  // the count of blocks that were returned before
  };
  static constexpr size_t kMostBlocks = 64;
  // A large block leaves when so many others were returned since.
  static constexpr uint64_t kMostAge = 1024;
  // Allocates nothing: blocks come back while memory is being freed, perhaps because none is left.
  using Blocks = absl::InlinedVector<Block, kMostBlocks + 1>;

  // The sizes of the last large blocks of some kind.
  class Sizes {
   public:
    void Add(size_t bytes);
    bool Has(size_t bytes) const;

   private:
    std::array<size_t, 16> sizes_ = {};
    size_t next_ = 0;
  };

  // Takes out of `blocks_` what is too much, the oldest ones first.
  Blocks TakeOutRest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Blocks blocks_ ABSL_GUARDED_BY(mutex_);  // the last one was returned last
  uint64_t returned_ ABSL_GUARDED_BY(mutex_) = 0;
  Sizes freed_ ABSL_GUARDED_BY(mutex_);
  Sizes asked_again_ ABSL_GUARDED_BY(mutex_);  // when blocks of the size had been freed
};

}  // namespace tenon

#endif  // TENON_GRAPH_BUFFER_CACHE_H_

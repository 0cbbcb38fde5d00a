// Memory of tensors that were just freed, for the next ones of the same size. Otherwise malloc
// gives a freed output back to the system and the next call pays for its pages again, which costs
// more than most ops on it. Small blocks malloc keeps by itself. What is held is bounded by
// kMostBytes, and given back by Clear: after a model was loaded, and when memory runs out.
#ifndef TENON_GRAPH_BUFFER_CACHE_H_
#define TENON_GRAPH_BUFFER_CACHE_H_

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "env/mutex.h"

namespace tenon {

class BufferCache {
 public:
  static constexpr size_t kSmallest = size_t{64} << 10;
  static constexpr size_t kLargest = size_t{32} << 20;
  static constexpr size_t kMostBytes = size_t{64} << 20;

  // The process's own.
  static BufferCache& Global();

  // A block of exactly this size that was given, or null.
  void* Take(size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Keeps a block that std::free can free, or frees it.
  void Give(void* block, size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Frees all that is kept.
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_);
  size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Block {
    void* address;
    size_t bytes;
  };
  mutable Mutex mutex_;
  std::vector<Block> blocks_ ABSL_GUARDED_BY(mutex_);  // given last, stands last
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon

#endif  // TENON_GRAPH_BUFFER_CACHE_H_

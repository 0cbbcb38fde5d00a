// What one execution of a plan works on, and the pool that keeps them between executions: a warm
// run takes one and gives it back.
#ifndef TENON_RUNTIME_STATE_POOL_H_
#define TENON_RUNTIME_STATE_POOL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "env/mutex.h"
#include "graph/tensor.h"
#include "runtime/arena.h"

namespace tenon {

struct ExecState {
  ArenaBlock arena;
  std::vector<void*> pointers;  // resolved, but for feeds and outputs
  std::vector<Tensor> strings;
  std::vector<Tensor> dynamic;  // empty between runs
};

class StatePool {
 public:
  // Null where none is free.
  std::unique_ptr<ExecState> Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<ExecState> state = std::move(free_.back());
    free_.pop_back();
    return state;
  }
  void Give(std::unique_ptr<ExecState> state) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    if (free_.size() < kKept) free_.push_back(std::move(state));
  }
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    return free_.size();
  }

 private:
  static constexpr size_t kKept = 16;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<ExecState>> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_STATE_POOL_H_

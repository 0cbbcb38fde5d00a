// A pool of execution states: a warm run takes one and returns it, under one lock. Tables of
// pointers belong to a plan; arenas serve all plans of a session, so that keeping a plan costs no
// arena, and consecutive runs use the same bytes, whatever their shapes.
#ifndef TENON_RUNTIME_MEMORY_STATE_POOL_H_
#define TENON_RUNTIME_MEMORY_STATE_POOL_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "graph/tensor.h"
#include "runtime/devices/device.h"
#include "runtime/memory/arena.h"

namespace tenon {

// What a step keeps from one run to the next while a caller holds the state, such as a loop its
// body's state.
struct StepState {
  virtual ~StepState() = default;
};

struct ExecState {
  std::vector<std::shared_ptr<DeviceStream>> streams;  // one per device, created when first needed
  ArenaBlock arena;                                    // none between runs
  const char* bound_to = nullptr;                      // the arena that `pointers` point into
  std::vector<void*> pointers;                         // resolved, except for feeds and outputs
  std::vector<Tensor> strings;
  std::vector<Tensor> dynamic;  // empty between runs
  // The memory of FlatPlan::owned_outputs, and of steps; empty while no caller holds the state.
  std::vector<Tensor> outputs;
  std::vector<std::unique_ptr<StepState>> steps;
};

class StatePool {
 public:
  static constexpr size_t kKept = 16;  // states and arenas, each

  // The states of a plan that no run uses. Created with the pool, whose mutex guards it.
  class Shelf {
   public:
    // For runs that need `arena_bytes`. The pool keeps no arena larger than the largest shelf
    // needs.
    Shelf(std::shared_ptr<StatePool> pool, size_t arena_bytes);
    ~Shelf();
    Shelf(const Shelf&) = delete;
    Shelf& operator=(const Shelf&) = delete;

    // A state with an arena of at least arena_bytes. Without pointers it is new, and the caller
    // initializes it. ResourceExhausted if there is no memory.
    absl::StatusOr<std::unique_ptr<ExecState>> Take();
    void Give(std::unique_ptr<ExecState> state);
    size_t size() const;

   private:
    friend class StatePool;
    const std::shared_ptr<StatePool> pool_;
    const size_t arena_bytes_;
    // Guarded by the pool's mutex. Like Arenas, it never allocates: runs that failed for want of
    // memory give back their states too.
    absl::InlinedVector<std::unique_ptr<ExecState>, StatePool::kKept> free_;
  };

  // The total size of the arenas that no run uses.
  size_t arena_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);
  size_t arenas() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Frees the arenas that no run uses. Whether there were any.
  bool FreeArenas() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Arenas = absl::InlinedVector<ArenaBlock, kKept>;
  // Moves out the arenas that are larger than any shelf needs.
  void TrimInto(Arenas& leaving) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t Largest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return sizes_.empty() ? 0 : sizes_.rbegin()->first;
  }

  mutable Mutex mutex_;
  Arenas arenas_ ABSL_GUARDED_BY(mutex_);                  // smallest first
  OrderedMap<size_t, int> sizes_ ABSL_GUARDED_BY(mutex_);  // of the shelves: the number of each
};

}  // namespace tenon

#endif  // TENON_RUNTIME_MEMORY_STATE_POOL_H_

// Threads that run one function at the same time and may wait for each other. They are OpenMP's, as
// oneDNN's are, so that both use the same ones. Every parallel region of Tenon's is this
// function's.
//
//   Barrier barrier;
//   RunTeam(threads, [&](int member, int size) {
//     for (...) { Work(member, size); barrier.Wait(size); }
//   });
//
// To begin and end a region of OpenMP's costs more than the work of a small step: 0.7 us on two
// cores of Zen 4, 1.5 us if these are far from each other. KeepTeam keeps the team for several
// regions, which then cost 0.2 and 1.0 us.
#ifndef TENON_ENV_TEAM_H_
#define TENON_ENV_TEAM_H_

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "env/mutex.h"

namespace tenon {

// Runs fn(member, size) for each member of a team of at most `threads`; members run concurrently
// and treat denormal numbers as zero. The team is the caller alone if `threads` is at most 1,
// inside a parallel region, and if the system refuses threads. `fn` must not throw in a larger
// team.
void RunTeam(int threads, absl::FunctionRef<void(int member, int size)> fn);

// Calls fn, while a team of at most `threads` stands by for each RunTeam that fn calls on this
// thread. Regions of others' (oneDNN's) run on this thread alone meanwhile. `fn` must not throw.
void KeepTeam(int threads, absl::FunctionRef<void()> fn);

// What the calling thread has asked for since it started.
struct RegionCounts {
  int64_t own = 0;     // RunTeam, of several threads
  int64_t others = 0;  // as CountOthersRegion tells
};
const RegionCounts& RegionsOfThread();
// To be called before oneDNN may begin a region.
void CountOthersRegion();

// Waits for what other threads write to atomic variables: spins, because steps are short, and
// sleeps when it takes long.
class Waiters {
 public:
  // `done` reads the variables by sequentially consistent operations; so they must be written, too,
  // before Wake.
  template <typename F>
  void WaitUntil(int spins, F done);
  void Wake() {
    if (sleepers_.load(std::memory_order_seq_cst) > 0) MutexLock wakes_them(&mutex_);
  }

 private:
  std::atomic<int> sleepers_ = 0;
  Mutex mutex_;
};

// Waits until `size` threads have called Wait.
class Barrier {
 public:
  void Wait(int size);

 private:
  std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<int> round_ = 0;
  Waiters waiters_;
};

}  // namespace tenon

#endif  // TENON_ENV_TEAM_H_

// Threads that run one function at the same time and may wait for each other. They are OpenMP's, as
// oneDNN's are, so that both use the same ones. Every parallel region of Tenon's is this
// function's.
//
//   Barrier barrier;
//   RunTeam(threads, [&](int member, int size) {
//     for (...) { Work(member, size); barrier.Wait(size); }
//   });
#ifndef TENON_ENV_TEAM_H_
#define TENON_ENV_TEAM_H_

#include <atomic>

#include "absl/functional/function_ref.h"
#include "env/mutex.h"

namespace tenon {

// Runs fn(member, size) for each member of a team of at most `threads`; members run concurrently
// and treat denormal numbers as zero. The team is the caller alone if `threads` is at most 1,
// inside a parallel region, and if the system refuses threads. `fn` must not throw in a larger
// team.
void RunTeam(int threads, absl::FunctionRef<void(int member, int size)> fn);

// Waits until `size` threads have called Wait. It spins, because steps are short, and sleeps
// when it takes long.
class Barrier {
 public:
  void Wait(int size);

 private:
  std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<int> round_ = 0;
  std::atomic<int> sleepers_ = 0;
  Mutex mutex_;
};

}  // namespace tenon

#endif  // TENON_ENV_TEAM_H_

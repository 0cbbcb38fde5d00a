// Threads that run one function at the same time and may wait for each other, for loops whose steps
// depend on each other. They are OpenMP's, as for ParallelFor.
//
//   Barrier barrier;
//   RunTeam(threads, [&](int member, int size) {
//     for (...) { Work(member, size); barrier.Wait(size); }
//   });
#ifndef TENON_KERNELS_INTERFACE_TEAM_H_
#define TENON_KERNELS_INTERFACE_TEAM_H_

#include <atomic>

#include "absl/functional/function_ref.h"

namespace tenon {

// Runs fn(member, size) for each member of a team of at most `threads`; members run concurrently.
// Inside a parallel region the team is the caller alone. `fn` must not throw.
void RunTeam(int threads, absl::FunctionRef<void(int member, int size)> fn);

// Waits until `size` threads have called Wait. It spins, because steps are short, and sleeps
// when it takes long.
class Barrier {
 public:
  void Wait(int size);

 private:
  std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<int> round_ = 0;
};

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_TEAM_H_

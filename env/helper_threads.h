// OpenMP's helper threads, which share a thread's parallel regions. libgomp ends the process if the
// system refuses it a thread, so whoever is about to use several threads asks here first.
#ifndef TENON_ENV_HELPER_THREADS_H_
#define TENON_ENV_HELPER_THREADS_H_

#include <atomic>

#include "absl/status/status.h"

namespace tenon {

namespace internal {

// The largest team that this thread is known to get, since `forgotten` had this value.
struct HelperTeam {
  int size = 1;
  int forgotten = 0;
};
extern constinit thread_local HelperTeam helper_team;
extern constinit std::atomic<int> helpers_forgotten;  // how many times

absl::Status TryHelperThreads(int threads);

}  // namespace internal

// Whether this thread can run a parallel region on `threads` threads, itself included. The first
// call, and one for more threads than before, tries to start that many; others only compare two
// numbers. ResourceExhausted if the system refuses (a limit of processes, or no memory for stacks).
//
// Between the trial and the start of the region, another process could take the last thread that
// a limit allows.
inline absl::Status CheckHelperThreads(int threads) {
  const internal::HelperTeam& team = internal::helper_team;
  if (threads <= team.size &&
      team.forgotten == internal::helpers_forgotten.load(std::memory_order_relaxed)) {
    return absl::OkStatus();
  }
  return internal::TryHelperThreads(threads);
}

// The helpers of all threads have ended (a fork): they have to be started again.
void ForgetHelperThreads();

}  // namespace tenon

#endif  // TENON_ENV_HELPER_THREADS_H_

#include "env/team.h"

#include <omp.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#include "absl/base/attributes.h"
#include "env/flush_denormals.h"
#include "env/helper_threads.h"

namespace tenon {
namespace {

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// ThreadSanitizer does not see the barriers at a region's beginning and end: libgomp makes them of
// futexes. So it is told that what happens before Release happens before what follows an Acquire
// of the same event.
char region_begins, region_ends;
#if defined(__SANITIZE_THREAD__)
void Release(char& event) { __tsan_release(&event); }
void Acquire(char& event) { __tsan_acquire(&event); }
#else
void Release(char&) {}
void Acquire(char&) {}
#endif

}  // namespace

// Not instrumented itself, because the addresses that a region captures are written after Release.
ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void RunTeam(int threads, absl::FunctionRef<void(int, int)> fn) {
  if (threads <= 1 || omp_in_parallel() || !CheckHelperThreads(threads).ok()) return fn(0, 1);
  Release(region_begins);
#pragma omp parallel num_threads(threads)
  {
    Acquire(region_begins);
    {
      const FlushDenormals flush;  // a helper may be older than the caller's mode
      fn(omp_get_thread_num(), omp_get_num_threads());
    }
    Release(region_ends);
  }
  Acquire(region_ends);
}

void Barrier::Wait(int size) {
  constexpr int kSpins = 2000;  // some 25 us: longer than a step's imbalance
  if (size <= 1) return;
  const int round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == size - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    // In the one order of sequentially consistent operations: either this thread finds the sleeper,
    // or the sleeper finds the new round. (The notification of libstdc++'s std::atomic does not
    // promise this: it looks for waiters by a load that may pass the store.)
    round_.store(round + 1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) MutexLock wakes_them(&mutex_);
    return;
  }
  for (int spins = 0; spins < kSpins; ++spins) {
    if (round_.load(std::memory_order_acquire) != round) return;
    Pause();
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  {
    MutexLock lock(&mutex_);
    mutex_.Await([&] { return round_.load(std::memory_order_seq_cst) != round; });
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tenon

#include "env/thread_budget.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "absl/base/thread_annotations.h"
#include "env/cpu.h"
#include "env/helper_threads.h"
#include "env/mutex.h"

namespace tenon {
namespace {

class Budget {
 public:
  int total() const { return total_; }

  void Take(int cpus) {
    uint64_t now = state_.load(std::memory_order_relaxed);
    while (Waiting(now) == 0 && Free(now) >= cpus) {
      if (state_.compare_exchange_weak(now, now - Cpus(cpus), std::memory_order_acquire)) return;
    }
    MutexLock lock(&mutex_);
    const int64_t ticket = next_++;
    state_.fetch_add(kOneWaiting);
    mutex_.Await(
        [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ticket == served_ && TakeIfFree(cpus); });
    ++served_;
    state_.fetch_sub(kOneWaiting);
  }

  void Give(int cpus) {
    if (Waiting(state_.fetch_add(Cpus(cpus))) == 0) return;
    MutexLock lock(&mutex_);  // releasing it wakes them
  }

 private:
  // The upper half counts waiting threads, the lower half free CPUs. Both are in one word, so that
  // either a waiting thread sees the CPUs that were returned, or the thread that returns them sees
  // the waiter.
  static constexpr uint64_t kOneWaiting = uint64_t{1} << 32;
  static uint64_t Waiting(uint64_t state) { return state >> 32; }
  static int Free(uint64_t state) { return static_cast<int>(state & (kOneWaiting - 1)); }
  static uint64_t Cpus(int n) { return static_cast<uint64_t>(n); }

  bool TakeIfFree(int cpus) {
    uint64_t now = state_.load();
    while (Free(now) >= cpus) {
      if (state_.compare_exchange_weak(now, now - Cpus(cpus))) return true;
    }
    return false;
  }

  const int total_ = AvailableCpus();
  std::atomic<uint64_t> state_ = Cpus(total_);
  Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t served_ ABSL_GUARDED_BY(mutex_) = 0;
};

Budget& TheBudget();

// A child of fork() has only the calling thread. It would wait forever for its OpenMP helpers, so
// both processes start new ones. CPUs that other threads held are free in the child.
void BeforeFork() {
  omp_pause_resource_all(omp_pause_hard);
  ForgetHelperThreads();
}
void InChild() { new (&TheBudget()) Budget; }

Budget& TheBudget() {
  static Budget* const budget = [] {
    pthread_atfork(BeforeFork, nullptr, InChild);
    return new Budget;
  }();
  return *budget;
}

}  // namespace

void HandleForks() { TheBudget(); }

ThreadsInUse::ThreadsInUse(int threads) : previous_(omp_get_max_threads()) {
  Budget& budget = TheBudget();
  taken_ = std::clamp(threads, 1, budget.total());
  budget.Take(taken_);
  if (previous_ != threads) omp_set_num_threads(threads);
}

ThreadsInUse::~ThreadsInUse() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
  TheBudget().Give(taken_);
}

}  // namespace tenon

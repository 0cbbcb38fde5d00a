#include "env/team.h"

#include <omp.h>

#include <algorithm>

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

template <typename F>
void Waiters::WaitUntil(int spins, F done) {
  for (int i = 0; i < spins; ++i) {
    if (done()) return;
    Pause();
  }
  // In the one order: either the thread that wakes others finds this sleeper, or the sleeper finds
  // what it waits for. (The notification of libstdc++'s std::atomic does not promise this: it looks
  // for waiters by a load that may pass the store.)
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  {
    MutexLock lock(&mutex_);
    mutex_.Await(done);
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

namespace {

constexpr int kSpins = 2000;  // some 25 us: longer than a step's imbalance

// A team whose members serve one RunTeam after the other. What one side writes is in one line of
// the cache.
class KeptTeam {
 public:
  // On the thread that keeps the team.
  void Run(int threads, int size, absl::FunctionRef<void(int, int)> fn) {
    running_ = true;
    Post(&fn, std::min(threads, size));
    Call(0);
    const uint32_t all = posted_.load(std::memory_order_relaxed) * static_cast<uint32_t>(size - 1);
    ready_.WaitUntil(kSpins, [&] { return done_.load(std::memory_order_seq_cst) == all; });
    running_ = false;
  }
  void End() { Post(nullptr, 0); }
  bool running() const { return running_; }

  // On the others.
  void Serve(int member) {
    constexpr int kLongSpins = 10000;  // some 120 us: as long as steps of one thread may take
    for (uint32_t served = 0;; ++served) {
      work_.WaitUntil(kLongSpins,
                      [&] { return posted_.load(std::memory_order_seq_cst) != served; });
      if (fn_ == nullptr) return;
      Call(member);
      done_.fetch_add(1, std::memory_order_seq_cst);
      ready_.Wake();
    }
  }

 private:
  void Post(const absl::FunctionRef<void(int, int)>* fn, int asked) {
    fn_ = fn;
    asked_ = asked;
    posted_.fetch_add(1, std::memory_order_seq_cst);
    work_.Wake();
  }
  void Call(int member) const {
    if (member >= asked_) return;
    const FlushDenormals flush;  // a helper may be older than the caller's mode
    (*fn_)(member, asked_);
  }

  alignas(64) std::atomic<uint32_t> posted_ = 0;  // the number of regions
  const absl::FunctionRef<void(int, int)>* fn_ = nullptr;
  int asked_ = 0;
  bool running_ = false;
  alignas(64) std::atomic<uint32_t> done_ = 0;  // of all regions and helpers
  alignas(64) Waiters work_, ready_;            // helpers, and the one that keeps the team
};

// Of this thread, while it keeps one.
thread_local KeptTeam* kept_team = nullptr;
thread_local int kept_size = 0;
thread_local RegionCounts region_counts;

}  // namespace

// Not instrumented itself, because the addresses that a region captures are written after Release.
ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void RunTeam(int threads, absl::FunctionRef<void(int, int)> fn) {
  if (threads > 1) ++region_counts.own;
  if (threads > 1 && kept_team != nullptr && !kept_team->running()) {
    return kept_team->Run(threads, kept_size, fn);
  }
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

void KeepTeam(int threads, absl::FunctionRef<void()> fn) {
  if (threads <= 1 || kept_team != nullptr || omp_in_parallel()) return fn();
  KeptTeam team;
  RunTeam(threads, [&](int member, int size) {
    if (member > 0) return team.Serve(member);
    if (size == 1) return fn();
    kept_team = &team;
    kept_size = size;
    fn();
    kept_team = nullptr;
    team.End();
  });
}

const RegionCounts& RegionsOfThread() { return region_counts; }

void CountOthersRegion() { ++region_counts.others; }

void Barrier::Wait(int size) {
  if (size <= 1) return;
  const int round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == size - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_seq_cst);
    return waiters_.Wake();
  }
  waiters_.WaitUntil(kSpins, [&] { return round_.load(std::memory_order_seq_cst) != round; });
}

}  // namespace tenon

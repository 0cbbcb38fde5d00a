#include "env/run_watch.h"

#include "env/monotonic_seconds.h"

namespace tenon {

RunWatch::RunWatch(int threads, std::atomic<double>& best, TeamSize& team_size)
    : threads_(threads),
      best_(best),
      team_size_(team_size),
      measures_(threads > 1 || team_size.watching()),
      start_(measures_ ? MonotonicSeconds() : 0),
      placement_(threads, start_, best.load(std::memory_order_relaxed)) {}

RunWatch::~RunWatch() {
  if (!measures_) return;
  const double now = MonotonicSeconds(), elapsed = now - start_;
  placement_.End(now);
  double best = best_.load(std::memory_order_relaxed);
  while (elapsed < best && !best_.compare_exchange_weak(best, elapsed, std::memory_order_relaxed)) {
  }
  team_size_.Count(threads_, now, elapsed);
}

}  // namespace tenon

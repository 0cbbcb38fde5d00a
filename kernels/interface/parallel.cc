#include "kernels/interface/parallel.h"

#include <algorithm>
#include <atomic>

#include "absl/container/fixed_array.h"
#include "env/exceptions.h"
#include "env/memory_account.h"
#include "env/team.h"

namespace tenon {
namespace {

struct alignas(64) TaskRange {
  std::atomic<int64_t> next = 0;
  int64_t end = 0;
};

}  // namespace

int64_t ParallelGrain(double ns) {
  // A barrier takes 1 us or so; what other cores' caches hold costs one thread more than that. With
  // ranges of 8 us, k-means and radial basis functions took 1.1 times as long (Zen 4, 2 threads).
  constexpr double kWorkNs = 3000;
  return ns >= kWorkNs ? 1 : static_cast<int64_t>(kWorkNs / std::max(ns, 1e-3)) + 1;
}

int ParallelRanges(int threads, int64_t n, int64_t grain) {
  const int64_t most = n / std::max<int64_t>(grain, 1);
  return static_cast<int>(std::clamp<int64_t>(most, 1, std::max(threads, 1)));
}

void ParallelForRanges(int threads, int64_t n, int64_t grain,
                       absl::FunctionRef<void(int, int64_t, int64_t)> fn) {
  if (n <= 0) return;
  const int ranges = ParallelRanges(threads, n, grain);
  const int64_t size = n / ranges;
  const int64_t longer = n % ranges;  // the first `longer` ranges have one more iteration
  const auto run = [&](int r) {
    const int64_t begin = r * size + std::min<int64_t>(r, longer);
    fn(r, begin, begin + size + (r < longer ? 1 : 0));
  };
  if (ranges == 1) return run(0);
  FirstException exception;
  // Always use the whole team: OpenMP ends and starts threads when a team's size changes.
  RunTeam(threads, [&](int member, int team) {
    for (int r = member; r < ranges; r += team) {
      try {
        run(r);
      } catch (...) {
        exception.Keep();
      }
    }
  });
  exception.Rethrow();
}

void ParallelFor(int threads, int64_t n, int64_t grain,
                 absl::FunctionRef<void(int64_t, int64_t)> fn) {
  ParallelForRanges(threads, n, grain, [&](int, int64_t begin, int64_t end) { fn(begin, end); });
}

void ParallelTasks(int threads, int64_t tasks, absl::FunctionRef<void(int, int64_t)> fn) {
  if (threads <= 1 || tasks <= 1) {
    for (int64_t i = 0; i < tasks; ++i) fn(0, i);
    return;
  }
  // Each thread begins with a range of its own, so that tasks side by side share its cache.
  absl::FixedArray<TaskRange, 32> ranges(static_cast<size_t>(threads));
  for (int r = 0; r < threads; ++r) {
    ranges[static_cast<size_t>(r)].next = tasks * r / threads;
    ranges[static_cast<size_t>(r)].end = tasks * (r + 1) / threads;
  }
  FirstException exception;
  const MemoryScope* const memory = MemoryScope::Innermost();
  RunTeam(threads, [&](int member, int) {
    const SharedMemoryScope counted(memory);
    for (int r = 0; r < threads; ++r) {
      TaskRange& range = ranges[static_cast<size_t>((member + r) % threads)];
      for (int64_t i; (i = range.next.fetch_add(1, std::memory_order_relaxed)) < range.end;) {
        try {
          fn(member, i);
        } catch (...) {
          exception.Keep();
        }
      }
    }
  });
  exception.Rethrow();
}

}  // namespace tenon

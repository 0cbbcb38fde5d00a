#include "env/spread_team.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

#include "env/monotonic_seconds.h"
#include "env/team.h"

namespace tenon {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// A run is late after so much of the best one's time, and so long after it.
constexpr double kLateFactor = 1.3;
constexpr double kLateSeconds = 2e-5;
// Runs shorter than this are looked at when they have ended.
constexpr double kLongRun = 1e-4;
constexpr double kWithinRun = 2e-4;  // seconds between two looks; more while nobody has to move
constexpr double kMostWithinRun = 2e-3;
constexpr double kBetweenRuns = 1e-3;  // from one run to another
constexpr double kNowAndThen = 2e-3;

bool PlacesAreChosen() {
  static const bool chosen = [] {
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
      if (std::getenv(name) != nullptr) return true;
    }
    return false;
  }();
  return chosen;
}

// The CPUs that members of a team use.
class UsedCpus {
 public:
  // Whether nobody else had it.
  bool Take(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return true;
    const uint64_t bit = uint64_t{1} << (cpu % 64);
    return (words_[static_cast<size_t>(cpu) / 64].fetch_or(bit) & bit) == 0;
  }
  // Removes them from the set; whether any is left.
  bool RemoveFrom(cpu_set_t& set) const {
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (words_[cpu / 64].load() >> (cpu % 64) & 1) CPU_CLR(cpu, &set);
    }
    return CPU_COUNT(&set) > 0;
  }

 private:
  std::array<std::atomic<uint64_t>, CPU_SETSIZE / 64> words_{};
};

// Moves the calling thread.
bool MoveAway(UsedCpus& used) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  cpu_set_t others = allowed;
  if (!used.RemoveFrom(others) || sched_setaffinity(0, sizeof others, &others) != 0) return false;
  used.Take(sched_getcpu());
  sched_setaffinity(0, sizeof allowed, &allowed);
  return true;
}

// Of the run that SpreadIfLate looks after; and when this thread looked last between runs.
thread_local int run_threads = 0;
thread_local double run_pause = kWithinRun;
thread_local double last_look = 0;

}  // namespace

namespace internal {

constinit thread_local double late_at = kNever;

void CheckLate() {
  if (MonotonicSeconds() < late_at) return;
  run_pause = SpreadTeam(run_threads) > 0 ? kWithinRun : std::min(2 * run_pause, kMostWithinRun);
  late_at = MonotonicSeconds() + run_pause;
}

}  // namespace internal

int SpreadTeam(int threads) {
  if (threads <= 1 || PlacesAreChosen()) return 0;
  UsedCpus used;
  used.Take(sched_getcpu());
  std::atomic<int> moved = 0;
  RunTeam(threads, [&](int member, int) {
    if (member > 0 && !used.Take(sched_getcpu()) && MoveAway(used)) ++moved;
  });
  return moved;
}

int SpreadNowAndThen(int threads) {
  if (threads <= 1) return 0;
  const double now = MonotonicSeconds();
  if (now - last_look < kNowAndThen) return 0;
  last_look = now;
  return SpreadTeam(threads);
}

TeamPlacement::TeamPlacement(int threads, double start, double best)
    : threads_(threads),
      start_(start),
      best_(best),
      late_before_(internal::late_at),
      threads_before_(run_threads) {
  run_threads = threads;
  run_pause = kWithinRun;
  internal::late_at =
      threads > 1 && best >= kLongRun ? start + kLateFactor * best + kLateSeconds : kNever;
}

TeamPlacement::~TeamPlacement() {
  internal::late_at = late_before_;
  run_threads = threads_before_;
}

void TeamPlacement::End(double now) {
  const double elapsed = now - start_;
  if (elapsed < kLateFactor * best_ || elapsed - best_ < kLateSeconds) return;
  if (now - last_look < kBetweenRuns) return;
  last_look = now;
  SpreadTeam(threads_);
}

}  // namespace tenon

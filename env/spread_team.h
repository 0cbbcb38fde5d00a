// Moves threads of a team that share a CPU to CPUs of their own.
//
// A helper that wakes up may be placed on the CPU of the thread that woke it if another program
// keeps the other CPUs busy, even one that would give way. A team of two then takes twice the time,
// and ten times that if each step ends with one thread that spins where the other has to run.
// Placement changes as often as threads sleep, so runs that take too long look after it, while they
// run and at their end.
#ifndef TENON_ENV_SPREAD_TEAM_H_
#define TENON_ENV_SPREAD_TEAM_H_

#include <limits>

namespace tenon {

// Lets each helper of the calling thread's team that shares a CPU with another member move to one
// that no member uses, within the CPUs that it may use; these stay as they were. Returns how many
// have moved: none if OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY is set. Takes 2 us if nobody
// moves. In a parallel region it does nothing.
int SpreadTeam(int threads);

// Before a parallel region of work whose usual time is not known, such as a single op: SpreadTeam,
// at most every two milliseconds. Returns what it returns, or 0.
int SpreadNowAndThen(int threads);

// Looks after the runs of this thread while it exists.
class TeamPlacement {
 public:
  // The run began at `start`, in seconds of the monotonic clock; the fastest of its kind took
  // `best` seconds, or infinitely many if this is the first one.
  TeamPlacement(int threads, double start, double best);
  ~TeamPlacement();
  TeamPlacement(const TeamPlacement&) = delete;
  TeamPlacement& operator=(const TeamPlacement&) = delete;

  // At the end of the run. Looks at most once a millisecond.
  void End(double now);

 private:
  const int threads_;
  const double start_, best_;
  double late_before_;
  int threads_before_;
};

namespace internal {
// When the run of this thread counts as late.
extern constinit thread_local double late_at;
void CheckLate();
}  // namespace internal

// Before a step with a parallel region.
inline void SpreadIfLate() {
  if (internal::late_at < std::numeric_limits<double>::infinity()) internal::CheckLate();
}

}  // namespace tenon

#endif  // TENON_ENV_SPREAD_TEAM_H_

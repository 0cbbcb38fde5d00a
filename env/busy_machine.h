// Notices that other work keeps the CPUs busy, and lets OpenMP's idle threads sleep sooner while it
// does.
//
// A thread that waits at a barrier spins, because on a quiet machine its turn comes within
// microseconds. On a busy one, threads of a team share a CPU at times: the one that spins then
// keeps the CPU from the one that it waits for, and each step of a run takes as long as threads
// spin. libgomp cannot be told at run time how long that is, but it lets them spin 100 times only
// (some microseconds) while OpenMP has more threads than the process has CPUs. So on a busy machine
// a thread of this file's owns as many helpers as that takes, which sleep.
#ifndef TENON_ENV_BUSY_MACHINE_H_
#define TENON_ENV_BUSY_MACHINE_H_

#include <atomic>
#include <cstdint>

#include "env/spread_team.h"

namespace tenon {

// Decides from the times of runs and from how often the process's threads stopped running. Times
// are in seconds.
class BusyMachine {
 public:
  // A run that ended at `now` and took `elapsed`; the fastest of its kind took `best`.
  void Count(double now, double elapsed, double best);
  // Whether enough has been counted for Decide.
  bool Due(double now) const;
  // `switches`: how often threads of the process have lost or left their CPU since its start.
  // Returns whether waits should be short from now on: if runs are slow, unless short waits have
  // just turned out not to help.
  bool Decide(double now, int64_t switches);

 private:
  void DecideToTry(double now, bool stalls);
  void DecideToKeep(double now);

  double since_ = 0;  // start of the interval that is counted; 0: none
  double last_ = 0;   // end of the last run
  int64_t before_ = -1;
  int runs_ = 0;
  double elapsed_ = 0, best_ = 0;  // sums of the runs
  bool busy_ = false;
  // Averages of recent intervals: the time of runs over that of the fastest; 0: none yet.
  double with_long_ = 0, with_short_ = 0;
  double quiet_after_ = 0;  // when long waits are tried again
  double patience_ = 0;     // for how long
  double busy_after_ = 0;   // when short waits may be tried again
  double reluctance_ = 0;   // for how long not
};

// Measures a run on several threads, looks after the placement of its team (env/spread_team.h), and
// starts or ends the additional helpers after it, unless OMP_WAIT_POLICY is set.
class RunWatch {
 public:
  // `best` is the time of the fastest run of this kind, in seconds, or infinity; it is updated.
  RunWatch(int threads, std::atomic<double>& best);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

 private:
  const int threads_;
  std::atomic<double>& best_;
  const double start_;
  TeamPlacement placement_;
};

// Whether OpenMP's threads wait shortly now because the machine is busy.
bool WaitsAreShort();

// Before a fork: ends the additional helpers.
void EndShortWaits();
// In the child of a fork: starts from nothing, whatever other threads were doing.
void ForgetShortWaits();

}  // namespace tenon

#endif  // TENON_ENV_BUSY_MACHINE_H_

// Notices that other work keeps the CPUs busy, and lets OpenMP's idle threads sleep sooner while it
// does.
//
// A thread that waits at a barrier spins, because on a quiet machine its turn comes within
// microseconds. On a busy one it uses up its share of the CPU that way, is preempted, and the
// whole team waits for a time slice: a run of 0.5 ms takes 30. libgomp cannot be told at run time
// how long threads spin, but it lets them spin 100 times only (some microseconds) while OpenMP has
// more threads than the process has CPUs. So on a busy machine a thread of this file's owns as many
// helpers as that takes, which sleep.
#ifndef TENON_ENV_BUSY_MACHINE_H_
#define TENON_ENV_BUSY_MACHINE_H_

#include <atomic>
#include <cstdint>

namespace tenon {

// Decides from how often the process was preempted.
class BusyMachine {
 public:
  // What the system says at a moment: seconds of a steady clock, and preemptions of the process
  // since its start. Returns whether the machine counts as busy from then on.
  bool Update(double now, int64_t preemptions);

 private:
  double since_ = 0;        // start of the interval that is measured
  int64_t before_ = 0;      // preemptions until then
  double quiet_after_ = 0;  // when the machine may count as quiet again
  double patience_ = 0;     // for how long it stays busy without further signs
  bool busy_ = false;
};

// Whether OpenMP's threads wait shortly now because the machine is busy.
bool WaitsAreShort();

// Called before work on `threads` threads. Looks at the preemptions now and then, and starts or
// ends the additional helpers. Does nothing if OMP_WAIT_POLICY is set.
void NoticeBusyMachine(int threads);

// Before a fork: ends the additional helpers.
void EndShortWaits();
// In the child of a fork: starts from nothing, whatever other threads were doing.
void ForgetShortWaits();

}  // namespace tenon

#endif  // TENON_ENV_BUSY_MACHINE_H_

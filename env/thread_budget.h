// One budget of CPUs for the whole process. A run takes as many CPUs as its session has threads,
// and waits until they are free, so that several threads, each with a session or sharing one, never
// put more threads to work than there are CPUs. Service is first come, first served: many requests
// for one CPU do not starve a request for all. A thread that holds part of the budget must not ask
// for more. A process that used the budget may fork, and the child can keep using it.
#ifndef TENON_ENV_THREAD_BUDGET_H_
#define TENON_ENV_THREAD_BUDGET_H_

#include "env/flush_denormals.h"

namespace tenon {

// Holds `threads` CPUs of the budget (at most all of them) during its lifetime, and makes OpenMP,
// and therefore oneDNN, use that many threads when called from this thread, which flushes
// denormals. Takes no lock if enough CPUs are free.
class ThreadsInUse {
 public:
  explicit ThreadsInUse(int threads);
  ~ThreadsInUse();
  ThreadsInUse(const ThreadsInUse&) = delete;
  ThreadsInUse& operator=(const ThreadsInUse&) = delete;

 private:
  const FlushDenormals flush_;  // before any of OpenMP's helpers is started
  int taken_;
  int previous_;
};

// From now on, fork() ends the OpenMP helpers of both processes, which start new ones. Called
// before the first helper starts: a child that inherits a team without its threads would wait for
// them.
void HandleForks();

}  // namespace tenon

#endif  // TENON_ENV_THREAD_BUDGET_H_

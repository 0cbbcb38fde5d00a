// One budget of CPUs for the whole process: a run takes as many as its session's threads and waits
// where they are not free, so that several threads with a session each, or sharing one, never put
// more threads to work than there are CPUs. Who came first is served first: many who want one CPU
// do not keep away one who wants all. Nobody who holds a part may ask for another. A process that
// used it may fork and go on in the child.
#ifndef TENON_ENV_THREAD_BUDGET_H_
#define TENON_ENV_THREAD_BUDGET_H_

namespace tenon {

// Holds `threads` CPUs of the budget (at most all of them) while it lives, and makes OpenMP, and
// with it oneDNN, use that many threads when called from this thread. Where enough are free it
// takes no lock.
class ThreadsInUse {
 public:
  explicit ThreadsInUse(int threads);
  ~ThreadsInUse();
  ThreadsInUse(const ThreadsInUse&) = delete;
  ThreadsInUse& operator=(const ThreadsInUse&) = delete;

 private:
  int taken_;
  int previous_;
};

}  // namespace tenon

#endif  // TENON_ENV_THREAD_BUDGET_H_

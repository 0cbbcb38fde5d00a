// Counts the threads that work in our kernels, for tenon_tensorflow.thread_use(). Independent of
// the thread budget, whose limit the counts must not exceed.
#ifndef TENON_TF_PLUGIN_THREAD_USE_H_
#define TENON_TF_PLUGIN_THREAD_USE_H_

#include "runtime/execution/run_options.h"

namespace tenon::plugin {

// Counts those of sessions' runs.
ThreadsObserver& CountedRuns();

// Counts `threads` as working during its lifetime.
class CountedThreads {
 public:
  explicit CountedThreads(int threads);
  ~CountedThreads();
  CountedThreads(const CountedThreads&) = delete;
  CountedThreads& operator=(const CountedThreads&) = delete;

 private:
  const int threads_;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_THREAD_USE_H_

// Long work on a thread that others wait for.
//
// A thread that reads requests from the network also does what is brief, parsing and short runs,
// because handing it over would cost more. Code that is about to take longer says so, so that
// another thread reads meanwhile.
#ifndef TENON_TOOLS_SERVE_LONG_WORK_H_
#define TENON_TOOLS_SERVE_LONG_WORK_H_

#include <atomic>
#include <functional>

namespace tenon::serve {

// Runs that are under way on threads that do nothing else: the CPUs have work, and nobody should
// take them for waiting.
inline std::atomic<int>& RunsOfWorkers() {
  static std::atomic<int> runs{0};
  return runs;
}

// What AboutToTakeLong does on this thread; empty: nothing.
inline std::function<void()>& LongWorkHook() {
  thread_local std::function<void()> hook;
  return hook;
}

// To be called before work of more than about 250 µs. Cheap if another thread reads already.
inline void AboutToTakeLong() {
  if (const auto& hook = LongWorkHook()) hook();
}

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_LONG_WORK_H_

#include "env/helper_threads.h"

#include <pthread.h>

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/mutex.h"
#include "env/thread_budget.h"

namespace tenon {
namespace {

// Where threads on trial wait until all have been started.
struct Gate {
  Mutex mutex;
  bool open ABSL_GUARDED_BY(mutex) = false;
};

void* WaitAtGate(void* at) {
  auto* const gate = static_cast<Gate*>(at);
  MutexLock lock(&gate->mutex);
  gate->mutex.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return gate->open; });
  return nullptr;
}

// Starts `n` threads that live at the same time, and ends them. 0, or the error of pthread_create.
int TryThreads(int n, int& started) {
  Gate gate;
  std::vector<pthread_t> threads(static_cast<size_t>(n));
  int error = 0;
  for (started = 0; started < n && error == 0; started += error == 0) {
    error = pthread_create(&threads[static_cast<size_t>(started)], nullptr, WaitAtGate, &gate);
  }
  {
    MutexLock lock(&gate.mutex);
    gate.open = true;
  }
  for (int i = 0; i < started; ++i) pthread_join(threads[static_cast<size_t>(i)], nullptr);
  return error;
}

}  // namespace

namespace internal {

constinit thread_local HelperTeam helper_team;
constinit std::atomic<int> helpers_forgotten = 0;

absl::Status TryHelperThreads(int threads) {
  HelperTeam& team = helper_team;
  const int now = helpers_forgotten.load(std::memory_order_relaxed);
  if (team.forgotten != now) team = {.size = 1, .forgotten = now};
  if (threads <= team.size) return absl::OkStatus();
  HandleForks();
  int started = 0;
  if (const int error = TryThreads(threads - team.size, started); error != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot run on ", threads, " threads: ", std::strerror(error), " after ",
        team.size + started, " of them; ask for fewer threads or raise the system's limit"));
  }
  team.size = threads;
  return absl::OkStatus();
}

}  // namespace internal

void ForgetHelperThreads() { internal::helpers_forgotten.fetch_add(1, std::memory_order_relaxed); }

}  // namespace tenon

#include "env/busy_machine.h"

#include <omp.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "env/helper_threads.h"
#include "env/mutex.h"

namespace tenon {
namespace {

constexpr double kInterval = 0.02;    // seconds between two looks
constexpr double kBusyRate = 60;      // preemptions per second: a quiet machine has some 10
constexpr double kShortPatience = 1;  // seconds
constexpr double kLongPatience = 16;
constexpr int kMostHelpers = 64;

// The additional helpers: idle, owned by a thread that sleeps until it is told to end.
class IdleTeam {
 public:
  explicit IdleTeam(int helpers) : owner_([this, helpers] { Own(helpers); }) {}
  ~IdleTeam() {
    {
      MutexLock lock(&mutex_);
      over_ = true;
    }
    owner_.join();
  }

 private:
  void Own(int helpers) {
    if (CheckHelperThreads(helpers + 1).ok()) {
      std::atomic<int> members = 0;  // so that the region is not empty
#pragma omp parallel num_threads(helpers + 1)
      members.fetch_add(1, std::memory_order_relaxed);
    }
    MutexLock lock(&mutex_);
    mutex_.Await([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return over_; });
  }

  Mutex mutex_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread owner_;
};

double Now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int64_t Preemptions() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

struct State {
  Mutex mutex;
  BusyMachine machine ABSL_GUARDED_BY(mutex);
  std::unique_ptr<IdleTeam> team ABSL_GUARDED_BY(mutex);
};

// Never destroyed: at exit, its thread must not be waited for.
State& TheState() {
  static State* const state = new State;
  return *state;
}

std::atomic<double> next_look = 0;
std::atomic<bool> short_waits = false;

}  // namespace

bool BusyMachine::Update(double now, int64_t preemptions) {
  const double elapsed = now - since_;
  const double rate = static_cast<double>(preemptions - before_) / std::max(elapsed, 1e-3);
  const bool first = since_ == 0;
  since_ = now;
  before_ = preemptions;
  if (first) return busy_;
  if (rate >= kBusyRate) {
    // Threads that sleep are preempted less, so a busy machine may look quiet. If it turns out
    // busy again soon, the next look comes later.
    if (!busy_) {
      const bool again = quiet_after_ > 0 && now - quiet_after_ < patience_;
      patience_ = again ? std::min(2 * patience_, kLongPatience) : kShortPatience;
    }
    busy_ = true;
    quiet_after_ = now + patience_;
  } else if (busy_ && now >= quiet_after_) {
    busy_ = false;
    quiet_after_ = now;
  }
  return busy_;
}

bool WaitsAreShort() { return short_waits.load(std::memory_order_relaxed); }

void NoticeBusyMachine(int threads) {
  const double now = Now();
  if (threads <= 1 || now < next_look.load(std::memory_order_relaxed)) return;
  static const bool chosen = std::getenv("OMP_WAIT_POLICY") != nullptr;
  if (chosen || omp_in_parallel()) return;
  next_look.store(now + kInterval, std::memory_order_relaxed);
  State& state = TheState();
  MutexLock lock(&state.mutex);
  const bool busy = state.machine.Update(now, Preemptions());
  if (busy == (state.team != nullptr)) return;
  // One more thread than CPUs, the caller's team included.
  const int helpers = std::max(1, omp_get_num_procs() - threads + 1);
  if (busy && helpers <= kMostHelpers) {
    state.team = std::make_unique<IdleTeam>(helpers);
  } else {
    state.team.reset();
  }
  short_waits.store(state.team != nullptr, std::memory_order_relaxed);
}

void EndShortWaits() {
  State& state = TheState();
  MutexLock lock(&state.mutex);
  state.team.reset();
  state.machine = BusyMachine();
  short_waits.store(false, std::memory_order_relaxed);
}

void ForgetShortWaits() {
  new (&TheState()) State;
  short_waits.store(false, std::memory_order_relaxed);
}

}  // namespace tenon

#include "env/busy_machine.h"

#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "env/monotonic_seconds.h"
#include "env/mutex.h"
#include "env/team.h"

namespace tenon {
namespace {

constexpr double kInterval = 0.05;      // seconds that are counted before a decision
constexpr double kLongestPause = 0.05;  // between runs; after a longer one, counting starts again
constexpr int kFewestRuns = 5;
// Runs are slow if they take twice the best one's time on average, and longer by what several
// barriers cost.
constexpr double kSlowFactor = 2;
constexpr double kSlowSeconds = 1e-4;
constexpr double kSwitchRate = 400;   // a second; a quiet machine has 50 to 300
constexpr double kNewShare = 0.4;     // of an interval in the average of several
constexpr double kWorthIt = 0.9;      // of the time with long waits
constexpr double kShortPatience = 1;  // seconds
constexpr double kLongPatience = 4;
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
    RunTeam(helpers + 1, [](int, int) {});  // starts them
    MutexLock lock(&mutex_);
    mutex_.Await([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return over_; });
  }

  Mutex mutex_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread owner_;
};

int64_t Switches() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw + usage.ru_nvcsw : 0;
}

struct State {
  std::mutex mutex;  // guards the others
  BusyMachine machine;
  std::unique_ptr<IdleTeam> team;
};

std::atomic<bool> has_idle_team = false;  // follows State::team

// Never destroyed: at exit, its thread must not be waited for.
State& TheState() {
  static State* const state = new State;
  return *state;
}

bool PolicyIsChosen() {
  static const bool chosen = std::getenv("OMP_WAIT_POLICY") != nullptr;
  return chosen;
}

// Twice as long as last time.
double MorePatience(double before, bool again) {
  return again ? std::min(2 * before, kLongPatience) : kShortPatience;
}

}  // namespace

void BusyMachine::Count(double now, double elapsed, double best) {
  if (since_ == 0 || now - elapsed - last_ > kLongestPause) {
    since_ = now - elapsed;
    before_ = -1;
    runs_ = 0;
    elapsed_ = best_ = 0;
  }
  last_ = now;
  ++runs_;
  elapsed_ += elapsed;
  best_ += best;
}

bool BusyMachine::Due(double now) const {
  return before_ < 0 || (now - since_ >= kInterval && runs_ >= kFewestRuns);
}

void BusyMachine::DecideToTry(double now, bool stalls) {
  if (!stalls || with_long_ < kSlowFactor || now < busy_after_) return;
  patience_ = MorePatience(patience_, now - quiet_after_ < patience_);
  quiet_after_ = now + patience_;
  busy_ = true;
  with_short_ = 0;
}

void BusyMachine::DecideToKeep(double now) {
  if (with_short_ > kWorthIt * with_long_) {
    reluctance_ = MorePatience(reluctance_, now - busy_after_ < reluctance_);
    busy_after_ = now + reluctance_;
    busy_ = false;
  }
  // Short waits make runs slow on a quiet machine, too: only a trial without them tells.
  if (now >= quiet_after_) busy_ = false;
}

bool BusyMachine::Decide(double now, int64_t switches) {
  if (before_ >= 0 && best_ > 0) {
    const double rate = static_cast<double>(switches - before_) / (now - since_);
    const double slowdown = elapsed_ / best_;
    double& average = busy_ ? with_short_ : with_long_;
    average += (average == 0 ? 1 : kNewShare) * (slowdown - average);
    if (busy_) {
      DecideToKeep(now);
    } else {
      DecideToTry(now, elapsed_ - best_ > runs_ * kSlowSeconds && rate >= kSwitchRate);
    }
  }
  since_ = now;
  before_ = switches;
  runs_ = 0;
  elapsed_ = best_ = 0;
  return busy_;
}

RunWatch::RunWatch(int threads, std::atomic<double>& best)
    : threads_(threads),
      best_(best),
      start_(threads > 1 ? MonotonicSeconds() : 0),
      placement_(threads, start_, best.load(std::memory_order_relaxed)) {}

RunWatch::~RunWatch() {
  if (threads_ <= 1) return;
  const double now = MonotonicSeconds(), elapsed = now - start_;
  placement_.End(now);
  double best = best_.load(std::memory_order_relaxed);
  while (elapsed < best && !best_.compare_exchange_weak(best, elapsed, std::memory_order_relaxed)) {
  }
  if (PolicyIsChosen()) return;
  State& state = TheState();
  const std::unique_lock<std::mutex> lock(state.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;  // one of several concurrent runs is enough
  state.machine.Count(now, elapsed, std::min(best, elapsed));
  if (!state.machine.Due(now)) return;
  const bool busy = state.machine.Decide(now, Switches());
  if (busy == (state.team != nullptr)) return;
  // One more thread than CPUs, the caller's team included.
  const int helpers = std::max(1, omp_get_num_procs() - threads_ + 1);
  state.team.reset();
  if (busy && helpers <= kMostHelpers) state.team = std::make_unique<IdleTeam>(helpers);
  has_idle_team.store(state.team != nullptr, std::memory_order_relaxed);
}

bool WaitsAreShort() { return has_idle_team.load(std::memory_order_relaxed); }

void EndShortWaits() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.team.reset();
  state.machine = BusyMachine();
  has_idle_team.store(false, std::memory_order_relaxed);
}

void ForgetShortWaits() {
  new (&TheState()) State;
  has_idle_team.store(false, std::memory_order_relaxed);
}

}  // namespace tenon

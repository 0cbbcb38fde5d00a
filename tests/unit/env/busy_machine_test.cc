#include "env/busy_machine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "env/thread_budget.h"

namespace tenon {
namespace {

constexpr double kBest = 0.0005;

// A machine on which runs follow each other, and what is decided about it.
class Machine {
 public:
  // Runs of that length for `seconds`, with `rate` switches a second. `busy_elapsed`: while waits
  // are short.
  bool Run(double seconds, double elapsed, double rate, double busy_elapsed) {
    for (const double end = now_ + seconds; now_ < end;) {
      const double run = busy_ ? busy_elapsed : elapsed;
      now_ += run;
      switches_ += rate * run;
      machine_.Count(now_, run, kBest);
      if (machine_.Due(now_)) {
        busy_ = machine_.Decide(now_, static_cast<int64_t>(switches_));
        changes_ += busy_ != was_busy_;
        was_busy_ = busy_;
      }
    }
    return busy_;
  }
  bool Run(double seconds, double elapsed, double rate) {
    return Run(seconds, elapsed, rate, elapsed);
  }
  bool Quiet(double seconds) { return Run(seconds, 1.1 * kBest, 100); }
  // Short waits help.
  bool Stalled(double seconds) { return Run(seconds, 10 * kBest, 2000, 3 * kBest); }
  void Pause(double seconds) { now_ += seconds; }
  int changes() const { return changes_; }

 private:
  BusyMachine machine_;
  double now_ = 1000, switches_ = 12345;
  bool busy_ = false, was_busy_ = false;
  int changes_ = 0;
};

TEST(BusyMachine, RunsAtTheirBestAreQuiet) {
  Machine machine;
  EXPECT_FALSE(machine.Quiet(10));
  EXPECT_FALSE(machine.Run(1, 1.1 * kBest, 5000)) << "whatever else the process does";
}

TEST(BusyMachine, SlowRunsThatKeepTheirCpusAreQuiet) {
  Machine machine;
  EXPECT_FALSE(machine.Run(10, 10 * kBest, 50)) << "a loop with more iterations, perhaps";
}

TEST(BusyMachine, StalledRunsAreBusySoon) {
  Machine machine;
  machine.Quiet(1);
  EXPECT_TRUE(machine.Stalled(0.15));
}

TEST(BusyMachine, AFewStalledRunsAreNot) {
  Machine machine;
  for (int i = 0; i < 50; ++i) {
    machine.Quiet(0.04);
    EXPECT_FALSE(machine.Stalled(0.004)) << i;
  }
}

TEST(BusyMachine, ATrialWithoutShortWaitsFollows) {
  Machine machine;
  machine.Stalled(0.2);
  EXPECT_TRUE(machine.Quiet(0.7));
  EXPECT_FALSE(machine.Quiet(0.5));
  EXPECT_FALSE(machine.Quiet(10));
}

// They are tried for an interval, after 1, 2, 4, 4, ... seconds.
TEST(BusyMachine, ShortWaitsThatDoNotHelpAreTriedRarely) {
  Machine machine;
  machine.Run(20, 3 * kBest, 2000, 5 * kBest);
  EXPECT_GE(machine.changes(), 2 * 4);
  EXPECT_LE(machine.changes(), 2 * 7);
}

TEST(BusyMachine, EachRelapseDoublesThePatience) {
  Machine machine;
  machine.Stalled(0.2);
  EXPECT_FALSE(machine.Quiet(1.2));
  EXPECT_TRUE(machine.Stalled(0.15));
  EXPECT_TRUE(machine.Quiet(1.5));
  EXPECT_FALSE(machine.Quiet(1));
  // A long quiet time is no relapse.
  EXPECT_FALSE(machine.Quiet(60));
  EXPECT_TRUE(machine.Stalled(0.15));
  EXPECT_FALSE(machine.Quiet(1.2));
}

TEST(BusyMachine, PausesAreNotCounted) {
  Machine machine;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(machine.Stalled(0.01)) << i;
    machine.Pause(0.2);
  }
}

// Concurrent runs, and forks' calls between them.
TEST(BusyMachine, ThreadsNoticeAndForget) {
  std::vector<std::thread> threads;
  std::atomic<double> best = std::numeric_limits<double>::infinity();
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const ThreadsInUse in_use(2);
        const RunWatch watch(2, best);
        if (i % 50 == 0) EndShortWaits();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EndShortWaits();
  EXPECT_FALSE(WaitsAreShort());
  EXPECT_LT(best, 1);
}

}  // namespace
}  // namespace tenon

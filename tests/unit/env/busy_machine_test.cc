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
  // Runs of that length for `seconds`, with `rate` switches a second.
  bool Run(double seconds, double elapsed, double rate) {
    bool busy = false;
    for (const double end = now_ + seconds; now_ < end;) {
      now_ += elapsed;
      switches_ += rate * elapsed;
      machine_.Count(now_, elapsed, kBest);
      if (machine_.Due(now_)) busy = machine_.Decide(now_, static_cast<int64_t>(switches_));
    }
    return busy;
  }
  bool Quiet(double seconds) { return Run(seconds, 1.1 * kBest, 100); }
  bool Stalled(double seconds) { return Run(seconds, 10 * kBest, 2000); }
  void Pause(double seconds) { now_ += seconds; }

 private:
  BusyMachine machine_;
  double now_ = 1000, switches_ = 12345;
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

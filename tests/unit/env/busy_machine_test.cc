#include "env/busy_machine.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "env/thread_budget.h"

namespace tenon {
namespace {

// Ten looks a second; `rate` preemptions a second.
class Machine {
 public:
  bool Run(double seconds, double rate) {
    bool busy = false;
    for (int i = 0; i < static_cast<int>(10 * seconds + 0.5); ++i) {
      now_ += 0.1;
      preemptions_ += rate / 10;
      busy = machine_.Update(now_, static_cast<int64_t>(preemptions_));
    }
    return busy;
  }

 private:
  BusyMachine machine_;
  double now_ = 1000, preemptions_ = 12345;
};

TEST(BusyMachine, TheFirstLookSaysNothing) {
  BusyMachine machine;
  EXPECT_FALSE(machine.Update(1000, 1000000));
}

TEST(BusyMachine, AFewPreemptionsAreQuiet) {
  Machine machine;
  EXPECT_FALSE(machine.Run(60, 20));
}

TEST(BusyMachine, ManyAreBusyAtOnce) {
  Machine machine;
  machine.Run(1, 5);
  EXPECT_TRUE(machine.Run(0.1, 300));
}

TEST(BusyMachine, ItIsQuietAgainAfterASecond) {
  Machine machine;
  machine.Run(1, 300);
  EXPECT_TRUE(machine.Run(0.8, 0));
  EXPECT_FALSE(machine.Run(0.4, 0));
}

TEST(BusyMachine, EachRelapseDoublesThePatience) {
  Machine machine;
  machine.Run(1, 300);
  EXPECT_FALSE(machine.Run(1.2, 0));
  EXPECT_TRUE(machine.Run(0.1, 300));
  EXPECT_TRUE(machine.Run(1.5, 0));
  EXPECT_FALSE(machine.Run(1, 0));
  // A long quiet time is no relapse.
  EXPECT_FALSE(machine.Run(60, 0));
  EXPECT_TRUE(machine.Run(0.1, 300));
  EXPECT_FALSE(machine.Run(1.2, 0));
}

// Concurrent runs that look at the machine, and forks' calls between them.
TEST(BusyMachine, ThreadsNoticeAndForget) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        const ThreadsInUse in_use(2);
        NoticeBusyMachine(2);
        if (i % 50 == 0) EndShortWaits();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EndShortWaits();
  EXPECT_FALSE(WaitsAreShort());
}

}  // namespace
}  // namespace tenon

#include "env/team_size.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "env/run_watch.h"
#include "env/thread_budget.h"

namespace tenon {
namespace {

// A team whose members got these shares of a CPU for a second.
std::vector<ThreadTimes> Team(const std::vector<double>& shares) {
  std::vector<ThreadTimes> team;
  for (double share : shares) team.push_back({1, share, 1 - share});
  return team;
}

TEST(BestTeamSize, AllWhereEachHasACpu) {
  EXPECT_EQ(BestTeamSize(1, Team({1, 0.98})), 2);
  EXPECT_EQ(BestTeamSize(1, Team({1, 0.8})), 2);
  EXPECT_EQ(BestTeamSize(1, Team({1, 1, 1, 0.9})), 4);
}

TEST(BestTeamSize, AsManyAsCpusBesideOtherPrograms) {
  EXPECT_EQ(BestTeamSize(1, Team({0.98, 0.4})), 1);
  EXPECT_EQ(BestTeamSize(1, Team({0.5, 0.5})), 1);
  EXPECT_EQ(BestTeamSize(1, Team({1, 1, 1, 0.5})), 3);
  EXPECT_EQ(BestTeamSize(1, Team({1, 0.5, 1, 0.5})), 3);
  EXPECT_EQ(BestTeamSize(1, Team({0.3, 0.3, 0.3, 0.3})), 1);
}

TEST(BestTeamSize, AThreadThatSleptSaysNothing) {
  std::vector<ThreadTimes> team = Team({1, 0.1});
  team[1].ran /= 20;
  team[1].waited /= 20;
  EXPECT_EQ(BestTeamSize(1, team), 2);
}

// Intervals of 25 ms on a machine that is as busy as the test says.
class Machine {
 public:
  explicit Machine(int most) : rule_(most) {}

  // Shares by team size: what the members get.
  void Run(double seconds, const std::vector<std::vector<double>>& shares) {
    for (const double end = now_ + seconds; now_ < end;) {
      const int threads = rule_.threads();
      now_ += 0.025;
      (threads == most_ ? with_all_ : with_fewer_) += 1;
      if (rule_.TryAll(now_)) continue;
      const auto& of_team = shares[static_cast<size_t>(threads) - 1];
      if (threads > 1) rule_.Decide(now_, 0.025, Team(of_team));
    }
  }
  void Quiet(double seconds) { Run(seconds, {{1}, {1, 1}}); }
  void Crowded(double seconds) { Run(seconds, {{1}, {1, 0.4}}); }
  int threads() const { return rule_.threads(); }
  int TakeWithAll() { return std::exchange(with_all_, 0); }
  int TakeWithFewer() { return std::exchange(with_fewer_, 0); }

 private:
  TeamSizeRule rule_;
  const int most_ = rule_.threads();
  double now_ = 1000;
  int with_all_ = 0, with_fewer_ = 0;
};

TEST(TeamSizeRule, AQuietMachineUsesAll) {
  Machine machine(2);
  machine.Quiet(100);
  EXPECT_EQ(machine.TakeWithFewer(), 0);
}

TEST(TeamSizeRule, OneCrowdedIntervalIsNotEnough) {
  Machine machine(2);
  for (int i = 0; i < 100; ++i) {
    machine.Crowded(0.02);  // one interval
    machine.Quiet(0.02);
  }
  EXPECT_EQ(machine.TakeWithFewer(), 0);
}

TEST(TeamSizeRule, ACrowdedMachineUsesFewerAndSeldomTriesAll) {
  Machine machine(2);
  machine.Crowded(0.2);
  EXPECT_EQ(machine.threads(), 1);
  machine.Crowded(10);
  machine.TakeWithAll();
  machine.TakeWithFewer();
  machine.Crowded(100);
  EXPECT_GT(machine.TakeWithAll(), 10);
  EXPECT_GT(machine.TakeWithFewer(), 3900);
}

TEST(TeamSizeRule, AllAreUsedSoonAfterTheMachineIsQuiet) {
  Machine machine(2);
  machine.Crowded(0.3);
  machine.Quiet(0.5);
  EXPECT_EQ(machine.threads(), 2);
  machine.Crowded(100);
  machine.Quiet(4.1);
  EXPECT_EQ(machine.threads(), 2);
}

TEST(TeamSizeRule, ALongQuietTimeForgetsTheLoad) {
  Machine machine(2);
  machine.Crowded(100);
  machine.Quiet(20);
  machine.Crowded(0.1);
  EXPECT_EQ(machine.threads(), 1);
  machine.Quiet(0.5);
  EXPECT_EQ(machine.threads(), 2) << "as after the first load";
}

TEST(TeamSizeRule, LargeTeamsLoseTheMembersThatShare) {
  Machine machine(4);
  machine.Run(0.2, {{1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 0.5}});
  EXPECT_EQ(machine.threads(), 3);
  machine.Run(0.1, {{1}, {1, 1}, {1, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}});
  EXPECT_EQ(machine.threads(), 2);
}

// Concurrent runs, and the fixed size.
TEST(TeamSize, ThreadsShareOne) {
  std::atomic<double> best = std::numeric_limits<double>::infinity();
  TeamSize team_size(2, /*fixed=*/false), fixed(2, /*fixed=*/true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const ThreadsInUse in_use(2);
        const int size = team_size.threads();
        EXPECT_TRUE(size == 1 || size == 2);
        const RunWatch watch(size, best, team_size);
        EXPECT_EQ(fixed.threads(), 2);
        fixed.Count(2, 1000 + i, 1);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LT(best, 1);
  team_size.Fix();
  EXPECT_EQ(team_size.threads(), 2);
}

TEST(ThreadTimes, OfATeam) {
  std::vector<ThreadTimes> before(2), after(2);
  if (!ReadTeamTimes(absl::MakeSpan(before))) GTEST_SKIP() << "the system does not tell";
  EXPECT_EQ(before[0].thread, gettid());
  EXPECT_NE(before[0].thread, before[1].thread);
  volatile int work = 0;
  do {
    for (int i = 0; i < 1'000'000; ++i) work = work + 1;
    ASSERT_TRUE(ReadTeamTimes(absl::MakeSpan(after)));
  } while (after[0].ran < before[0].ran + 0.002);
  EXPECT_EQ(after[1].thread, before[1].thread);
  EXPECT_GE(after[1].waited, before[1].waited);
}

}  // namespace
}  // namespace tenon

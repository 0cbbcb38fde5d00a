#include "env/spread_team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <limits>
#include <vector>

#include "env/monotonic_seconds.h"
#include "env/team.h"

namespace tenon {
namespace {

cpu_set_t AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// Puts the team's other members on the caller's CPU, from which they may go.
void Crowd(int threads) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &own);
  RunTeam(threads, [&](int member, int) {
    if (member == 0) return;
    const cpu_set_t allowed = AllowedCpus();
    sched_setaffinity(0, sizeof own, &own);
    sched_setaffinity(0, sizeof allowed, &allowed);
  });
}

int NumAllowed() {
  const cpu_set_t allowed = AllowedCpus();
  return CPU_COUNT(&allowed);
}

bool MayMove() { return NumAllowed() > 1 && std::getenv("OMP_PROC_BIND") == nullptr; }

// Until it has succeeded: the system may move threads at any time.
template <typename F>
bool Eventually(F succeeds) {
  const double end = MonotonicSeconds() + 20;
  while (MonotonicSeconds() < end) {
    if (succeeds()) return true;
  }
  return false;
}

TEST(SpreadTeam, HelpersLeaveTheCallersCpu) {
  if (!MayMove()) GTEST_SKIP() << "one CPU";
  EXPECT_TRUE(Eventually([] {
    Crowd(2);
    return SpreadTeam(2) == 1;
  }));
}

TEST(SpreadTeam, NowAndThenHelpersLeaveTheCallersCpu) {
  if (!MayMove()) GTEST_SKIP() << "one CPU";
  EXPECT_EQ(SpreadNowAndThen(1), 0);
  EXPECT_TRUE(Eventually([] {
    const double start = MonotonicSeconds();
    while (MonotonicSeconds() < start + 0.003) {
    }
    Crowd(2);
    return SpreadNowAndThen(2) == 1;
  }));
}

TEST(SpreadTeam, EachMayUseTheSameCpusAsBefore) {
  const int cpus = NumAllowed();
  for (int i = 0; i < 20; ++i) {
    Crowd(3);
    const int moved = SpreadTeam(3);
    EXPECT_GE(moved, 0);
    EXPECT_LE(moved, 2);
    std::vector<int> allowed(3, cpus);
    RunTeam(3, [&](int member, int) { allowed[static_cast<size_t>(member)] = NumAllowed(); });
    EXPECT_EQ(allowed, std::vector<int>(3, cpus));
  }
}

TEST(SpreadTeam, OneThreadStays) {
  EXPECT_EQ(SpreadTeam(1), 0);
  RunTeam(2, [](int, int size) {
    if (size > 1) {
      EXPECT_EQ(SpreadTeam(2), 0) << "in a parallel region";
    }
  });
}

// With a team that stands by, too.
TEST(SpreadTeam, WithinAKeptTeam) {
  if (!MayMove()) GTEST_SKIP() << "one CPU";
  int moved = 0;
  KeepTeam(2, [&] {
    Eventually([&] {
      Crowd(2);
      moved += SpreadTeam(2);
      return moved > 0;
    });
  });
  EXPECT_GT(moved, 0);
}

TEST(TeamPlacement, LooksAfterRunsThatAreLate) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  EXPECT_EQ(internal::late_at, kNever);
  {
    TeamPlacement first(2, 100, kNever);  // nothing to compare with
    EXPECT_EQ(internal::late_at, kNever);
    first.End(1000);
  }
  const double now = MonotonicSeconds();
  {
    TeamPlacement run(2, now - 10, 1);
    EXPECT_GT(internal::late_at, now - 9);
    EXPECT_LT(internal::late_at, now - 8);
    {
      const TeamPlacement inner(1, now, 1);
      EXPECT_EQ(internal::late_at, kNever);
    }
    EXPECT_LT(internal::late_at, now - 8);
    SpreadIfLate();
    EXPECT_GT(internal::late_at, now) << "the next look";
  }
  EXPECT_EQ(internal::late_at, kNever);
  {
    const TeamPlacement brief(2, now, 1e-5);  // looks only at the end
    EXPECT_EQ(internal::late_at, kNever);
  }
}

}  // namespace
}  // namespace tenon

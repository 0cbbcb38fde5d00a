#include "env/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace tenon {
namespace {

// Each member writes its own value and reads all others' after the barrier. Members are late by
// times around those at which the others stop spinning and sleep.
TEST(Barrier, EachMemberSeesWhatAllOthersWrote) {
  for (const int threads : {1, 2, 4}) {
    constexpr int kRounds = 1000;
    Barrier barrier;
    std::vector<int> values(static_cast<size_t>(threads), -1);
    std::vector<int> wrong(static_cast<size_t>(threads), 0);
    RunTeam(threads, [&](int member, int size) {
      uint32_t random = static_cast<uint32_t>(member) + 1;
      const auto own = static_cast<size_t>(member);
      for (int round = 0; round < kRounds; ++round) {
        random = random * 1664525u + 1013904223u;
        if (round % 3 == 0) {
          const auto until =
              std::chrono::steady_clock::now() +
              std::chrono::nanoseconds((random >> 16) % (round % 100 ? 1000 : 200000));
          while (std::chrono::steady_clock::now() < until) {
          }
        }
        values[own] = round;
        barrier.Wait(size);
        for (int other = 0; other < size; ++other) {
          wrong[own] += values[static_cast<size_t>(other)] != round;
        }
        barrier.Wait(size);
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(wrong.size(), 0)) << threads;
  }
}

// The others sleep until the last one comes.
TEST(Barrier, WaitsForAMemberThatIsLate) {
  Barrier barrier;
  std::vector<int> arrived(4, 0);
  std::vector<int> seen(4, 0);
  int members = 0;
  RunTeam(4, [&](int member, int size) {
    if (member == 0) members = size;
    if (member == size - 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    arrived[static_cast<size_t>(member)] = 1;
    barrier.Wait(size);
    for (const int one : arrived) seen[static_cast<size_t>(member)] += one;
  });
  for (int member = 0; member < members; ++member) {
    EXPECT_EQ(seen[static_cast<size_t>(member)], members);
  }
}

// Regions one after the other, with more and fewer threads than are kept, nested ones, and long
// waits before and in them.
TEST(KeepTeam, ServesEachRegion) {
  for (const int threads : {1, 2, 4}) {
    constexpr int kRegions = 300;
    std::vector<int> calls(5, 0);
    int wrong = 0, nested = 0;
    KeepTeam(threads, [&] {
      for (int i = 0; i < kRegions; ++i) {
        const int asked = 1 + i % 5;
        if (i % 100 == 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::vector<int> seen(static_cast<size_t>(asked), -1);
        int team = 0;
        RunTeam(asked, [&](int member, int size) {
          if (member == 0) team = size;
          if (i % 100 == 4 && member + 1 == size) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
          seen[static_cast<size_t>(member)] = i;
          ++calls[static_cast<size_t>(member)];
          if (size == 1) return;
          RunTeam(2, [&](int, int inner) {
            if (member == 0) nested += inner;
          });
        });
        wrong += team < 1 || team > (threads > 1 ? std::min(asked, threads) : asked);
        for (int member = 0; member < team; ++member) {
          wrong += seen[static_cast<size_t>(member)] != i;
        }
      }
    });
    EXPECT_EQ(wrong, 0) << threads;
    EXPECT_EQ(nested, kRegions / 5 * 4);
    EXPECT_EQ(calls[0], kRegions);
    EXPECT_GE(calls[0], calls[3]);
  }
}

TEST(KeepTeam, CountsRegions) {
  const RegionCounts before = RegionsOfThread();
  RunTeam(1, [](int, int) {});
  EXPECT_EQ(RegionsOfThread().own, before.own);
  RunTeam(2, [](int, int) {});
  CountOthersRegion();
  EXPECT_EQ(RegionsOfThread().own, before.own + 1);
  EXPECT_EQ(RegionsOfThread().others, before.others + 1);
}

// Two threads that keep teams at the same time.
TEST(KeepTeam, EachThreadHasItsOwn) {
  std::vector<int64_t> sums(2, 0);
  const auto work = [&](size_t which) {
    for (int round = 0; round < 20; ++round) {
      KeepTeam(2, [&] {
        for (int i = 0; i < 50; ++i) {
          std::vector<int64_t> parts(2, 0);
          RunTeam(2, [&](int member, int size) {
            parts[static_cast<size_t>(member)] = size == 1 ? 2 : 1;
          });
          sums[which] += parts[0] + parts[1];
        }
      });
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(sums, std::vector<int64_t>({2000, 2000}));
}

}  // namespace
}  // namespace tenon

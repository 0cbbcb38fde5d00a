#include "env/team.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tenon

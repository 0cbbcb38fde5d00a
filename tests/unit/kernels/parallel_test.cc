// Loops over the thread pool.
#include "kernels/interface/parallel.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"

namespace tenon {
namespace {

TEST(ParallelTasks, EachRunsOnceOnAThreadOfTheTeam) {
  for (int threads : {1, 2, 3, 8}) {
    for (int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(tasks));
      std::atomic<bool> outside = false;
      ParallelTasks(threads, tasks, [&](int thread, int64_t task) {
        if (thread < 0 || thread >= threads) outside = true;
        ++runs[static_cast<size_t>(task)];
      });
      EXPECT_FALSE(outside);
      for (const std::atomic<int>& n : runs) EXPECT_EQ(n, 1) << threads << " " << tasks;
    }
  }
}

TEST(ParallelTasks, AThreadThatIsHeldUpLeavesItsTasksToOthers) {
  constexpr int64_t kTasks = 16;
  std::atomic<int64_t> others = 0;
  bool waited = false;
  ParallelTasks(2, kTasks, [&](int, int64_t task) {
    if (task > 0) {
      ++others;
      return;
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (others < kTasks - 1 && std::chrono::steady_clock::now() < deadline) {
    }
    waited = others == kTasks - 1;
  });
  EXPECT_TRUE(waited);
}

TEST(ParallelTasks, InsideOfALoopTheyRunOneAfterTheOther) {
  std::atomic<int64_t> sum = 0;
  ParallelTasks(2, 4, [&](int, int64_t i) {
    int64_t before = -1;
    ParallelTasks(2, 5, [&](int thread, int64_t j) {
      EXPECT_EQ(thread, 0);
      EXPECT_EQ(j, before + 1);
      before = j;
      sum += i * 5 + j;
    });
  });
  EXPECT_EQ(sum, 20 * 19 / 2);
}

TEST(ParallelTasks, ExceptionsReachTheCaller) {
  EXPECT_THROW(ParallelTasks(2, 9,
                             [](int, int64_t task) {
                               if (task == 5) throw std::runtime_error("five");
                             }),
               std::runtime_error);
}

}  // namespace
}  // namespace tenon

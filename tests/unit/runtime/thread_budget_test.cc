#include "env/thread_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "env/cpu.h"

namespace tenon {
namespace {

// Threads that take one CPU, together with threads that take all.
TEST(ThreadBudget, NeverMoreThanCpus) {
  const int cpus = AvailableCpus();
  std::atomic<int> in_use = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    const int take = t % 3 == 0 ? cpus : 1;
    threads.emplace_back([&, take] {
      for (int i = 0; i < 500; ++i) {
        const ThreadsInUse use(take);
        const int now = in_use.fetch_add(take) + take;
        int before = most.load();
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        std::this_thread::yield();
        in_use.fetch_sub(take);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(in_use, 0);
  EXPECT_LE(most, cpus);
  EXPECT_GE(most, 1);
  const ThreadsInUse all(cpus);  // all were given back
}

// A thread that wants all CPUs gets its turn among those that always want one.
TEST(ThreadBudget, NobodyStarves) {
  const int cpus = AvailableCpus();
  std::atomic<bool> stop = false;
  std::vector<std::thread> greedy;
  for (int t = 0; t < 2 * cpus + 1; ++t) {
    greedy.emplace_back([&] {
      while (!stop) const ThreadsInUse one(1);
    });
  }
  for (int i = 0; i < 100; ++i) const ThreadsInUse all(cpus);
  stop = true;
  for (std::thread& t : greedy) t.join();
}

TEST(ThreadBudget, MoreThanThereAreMeansAll) { const ThreadsInUse all(AvailableCpus() + 100); }

}  // namespace
}  // namespace tenon

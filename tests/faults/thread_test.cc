// Threads that the system refuses, and CPUs that come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <functional>
#include <thread>

#include "absl/strings/match.h"
#include "env/helper_threads.h"
#include "graph/text.h"
#include "kernels/interface/parallel.h"
#include "runtime/eager/eager.h"
#include "runtime/session/session.h"
#include "tests/faults/thread_hook.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

using faults::ThreadLimit;

constexpr int kThreads = 3;

// Large enough for all threads.
constexpr char kGraph[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?>}
%e = Exp(%x) {T=float}
%y = Neg(%e) {T=float}
out y = %y
)";

absl::StatusOr<std::unique_ptr<Session>> MakeSession(int threads) {
  auto graph = ParseGraph(kGraph);
  if (!graph.ok()) return graph.status();
  return Session::Create(*std::move(graph), DefaultOptions(threads));
}

std::vector<Tensor> Input() { return {Tensor::Vector<float>(std::vector<float>(1 << 20, 0.0f))}; }

bool Right(const absl::StatusOr<std::vector<Tensor>>& outputs) {
  if (!outputs.ok()) return false;
  for (const float y : (*outputs)[0].flat<float>()) {
    if (y != -1.0f) return false;
  }
  return true;
}

// A thread that has no OpenMP helpers yet.
void OnNewThread(const std::function<void()>& f) { std::thread(f).join(); }

TEST(ThreadFaults, LoadingSaysThatThereAreNoThreads) {
  OnNewThread([] {
    for (int allowed = 0; allowed < kThreads - 1; ++allowed) {
      const ThreadLimit limit(allowed);
      const auto session = MakeSession(kThreads);
      EXPECT_TRUE(absl::IsResourceExhausted(session.status())) << session.status();
      EXPECT_TRUE(absl::StrContains(session.status().message(), "cannot run on 3 threads"))
          << session.status();
      EXPECT_TRUE(MakeSession(1).ok());
    }
    const ThreadLimit limit(kThreads - 1);
    const auto session = MakeSession(kThreads);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(Right((*session)->Run(Input())));
  });
}

TEST(ThreadFaults, AnotherThreadsRunFailsAndLaterWorks) {
  const auto session = MakeSession(kThreads);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(Right((*session)->Run(Input())));
  std::thread caller;
  std::atomic<int> stage = 0;
  caller = std::thread([&] {
    while (stage != 1) std::this_thread::yield();
    const absl::Status status = (*session)->Run(Input()).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    stage = 2;
    while (stage != 3) std::this_thread::yield();
    EXPECT_TRUE(Right((*session)->Run(Input())));
  });
  {
    const ThreadLimit limit(0);
    stage = 1;
    while (stage != 2) std::this_thread::yield();
    EXPECT_TRUE(Right((*session)->Run(Input())));  // this thread has its helpers
  }
  stage = 3;
  caller.join();
}

TEST(ThreadFaults, LoopsRunOnTheCallerAlone) {
  OnNewThread([] {
    const ThreadLimit limit(1);
    std::vector<int> counts(1000, 0);
    ParallelFor(kThreads, 1000, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++counts[static_cast<size_t>(i)];
    });
    EXPECT_THAT(counts, ::testing::Each(1));
  });
}

TEST(ThreadFaults, EagerCallsNeedOneWorker) {
  const Tensor x = Tensor::Vector<float>({-1, 2});
  const auto eager = Eager::Create(DefaultOptions(1));
  ASSERT_TRUE(eager.ok());
  {
    const ThreadLimit limit(0);
    const absl::Status status = (*eager)->Submit("Neg", {EagerHandle(x)}).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_TRUE((*eager)->Execute("Neg", {x}).ok());
  }
  {
    const ThreadLimit limit(1);
    const auto y = (*eager)->Submit("Neg", {EagerHandle(x)});
    ASSERT_TRUE(y.ok()) << y.status();
    const auto value = (*y)[0].Read();
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_THAT(value->flat<float>(), ::testing::ElementsAre(1, -2));
  }
}

// As when a container's CPU limit or cpuset changes: threads are counted when a session is made.
TEST(ThreadFaults, CpusComeAndGo) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  const auto session = MakeSession(kThreads);
  ASSERT_TRUE(session.ok()) << session.status();
  std::atomic<bool> stop = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      while (!stop) EXPECT_TRUE(Right((*session)->Run(Input())));
    });
  }
  for (int i = 0; i < 10; ++i) {
    sched_setaffinity(0, sizeof(one), i % 2 == 0 ? &one : &all);
    const auto fresh = MakeSession(0);  // as many threads as there are CPUs now
    ASSERT_TRUE(fresh.ok()) << fresh.status();
    EXPECT_TRUE(i % 2 != 0 || (*fresh)->threads() == 1);
    EXPECT_TRUE(Right((*fresh)->Run(Input())));
  }
  sched_setaffinity(0, sizeof(all), &all);
  stop = true;
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace tenon

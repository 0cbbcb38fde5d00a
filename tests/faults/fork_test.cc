// fork() before and after loading, planning and running. Each case is a process of its own
// ("threadsafe" death tests start the program again).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>

#include "graph/npz/npz.h"
#include "runtime/eager/eager.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

constexpr int kThreads = 3;

[[noreturn]] void Fail(const char* what, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  _exit(1);
}

std::unique_ptr<Session> Load() {
  auto session =
      Session::Load(SourcePath("tests/models/mlp/saved_model"), {}, DefaultOptions(kThreads));
  if (!session.ok()) Fail("load", session.status());
  return *std::move(session);
}

const std::vector<NamedTensor>& Inputs() {
  static const auto* const inputs =
      new std::vector<NamedTensor>(ReadNpz(SourcePath("tests/models/mlp/inputs.npz")).value());
  return *inputs;
}

void PlanModel(Session& session) {
  const auto arranged = session.Arrange(Inputs());
  if (!arranged.ok()) Fail("arrange", arranged.status());
  const auto plan = session.PlanFor(*arranged);
  if (!plan.ok()) Fail("plan", plan.status());
}

void RunModel(Session& session) {
  const auto outputs = session.Run(Inputs());
  if (!outputs.ok()) Fail("run", outputs.status());
  const auto expected = ReadNpz(SourcePath("tests/models/mlp/outputs.npz"));
  const float want = (*expected)[0].second.data<float>()[0];
  const float got = (*outputs)[0].second.data<float>()[0];
  if (!(std::abs(got - want) <= 1e-4f * (1 + std::abs(want)))) {
    Fail("compare", absl::InternalError("the result differs"));
  }
}

// Runs `child` in a child and `parent` in this process, then exits: with 0 if both worked.
[[noreturn]] void Fork(const std::function<void()>& child, const std::function<void()>& parent) {
  alarm(60);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    child();
    // A child of the child, too.
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      alarm(60);
      child();
      _exit(0);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(status == 0 ? 0 : 2);
  }
  parent();
  int status = 0;
  waitpid(pid, &status, 0);
  parent();
  if (status != 0) std::fprintf(stderr, "the child ended with status %d\n", status);
  _exit(status == 0 ? 0 : 3);
}

class ForkFaults : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void LoadAndRun() { RunModel(*Load()); }

TEST_F(ForkFaults, BeforeLoading) {
  EXPECT_EXIT(Fork(LoadAndRun, LoadAndRun), ::testing::ExitedWithCode(0), "");
}

TEST_F(ForkFaults, AfterLoading) {
  const auto work = [] {
    const auto session = Load();
    Fork([&] { RunModel(*session); }, [&] { RunModel(*session); });
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

TEST_F(ForkFaults, AfterPlanning) {
  const auto work = [] {
    const auto session = Load();
    PlanModel(*session);
    Fork([&] { RunModel(*session); }, [&] { RunModel(*session); });
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

TEST_F(ForkFaults, AfterRuns) {
  const auto work = [] {
    const auto session = Load();
    RunModel(*session);
    RunModel(*session);
    Fork(
        [&] {
          RunModel(*session);
          LoadAndRun();
        },
        [&] { RunModel(*session); });
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

// Helpers of the thread that forked, and of another that has ended or waits.
TEST_F(ForkFaults, AfterRunsOfOtherThreads) {
  const auto work = [] {
    const auto session = Load();
    std::thread([&] { RunModel(*session); }).join();
    std::atomic<bool> ran = false, stop = false;
    std::thread idle([&] {
      RunModel(*session);
      ran = true;
      while (!stop) usleep(1000);
    });
    while (!ran) usleep(1000);
    Fork([&] { std::thread([&] { RunModel(*session); }).join(); }, [&] { RunModel(*session); });
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

TEST_F(ForkFaults, AfterEagerCalls) {
  const auto work = [] {
    const Tensor x = Tensor::Vector<float>({-1, 2});
    auto eager = Eager::Create(DefaultOptions(1)).value();
    const auto call = [&] {
      const auto y = eager->Submit("Neg", {EagerHandle(x)});
      if (!y.ok()) Fail("submit", y.status());
      const auto value = (*y)[0].Read();
      if (!value.ok()) Fail("read", value.status());
      if (value->flat<float>()[0] != 1) Fail("compare", absl::InternalError("wrong"));
    };
    call();
    Fork(
        [&] {
          call();
          call();
        },
        call);
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

// The child destroys what it inherited.
TEST_F(ForkFaults, TheChildDestroysAnEagerContext) {
  const auto work = [] {
    const Tensor x = Tensor::Vector<float>({-1, 2});
    auto eager = Eager::Create(DefaultOptions(1)).value();
    if (!eager->Submit("Neg", {EagerHandle(x)}).value()[0].Read().ok()) _exit(1);
    alarm(60);
    if (fork() == 0) {
      alarm(60);
      eager.reset();
      _exit(0);
    }
    int status = 0;
    wait(&status);
    eager.reset();
    _exit(status == 0 ? 0 : 1);
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tenon

// Runs that are cancelled or reach their deadline: loops that would never end, on each way that
// their bodies run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "env/flags.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using Clock = StopCondition::Clock;

// A loop that ends once its counter, which grows by %step, reaches %n: never, if %step is 0.
// BODY computes %next_x from %x of shape <4>.
std::string Loop(const std::string& body) {
  return R"(
in n = %n
in step = %step
in x = %x
%n = Placeholder() {dtype=int32, shape=<>}
%step = Placeholder() {dtype=int32, shape=<>}
%x = Placeholder() {dtype=float, shape=<4>}
%zero = Const() {dtype=int32, value=int32<>{0}}
%loop = While(%zero, %n, %step, %x) {T=[int32, int32, int32, float], cond=@below, body=@more}
out y = %loop:3
function below {
  in i = %i
  in n = %n
  in step = %step
  in x = %x
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %step = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=<4>}
  %r = Less(%i, %n) {T=int32}
  out r = %r
}
function more {
  in i = %i
  in n = %n
  in step = %step
  in x = %x
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %step = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=<4>}
  %next = AddV2(%i, %step) {T=int32}
)" + body +
         R"(
  out i = %next
  out n = %n
  out step = %step
  out x = %next_x
}
)";
}

constexpr char kAllocates[] = "%next_x = AddV2(%x, %x) {T=float}";
// Written in place (tests/unit/runtime/loops_test.cc has the op).
constexpr char kInPlace[] =
    "%zero = Const() {dtype=int32, value=int32<>{0}}\n"
    "%one = Const() {dtype=float, value=float<>{1}}\n"
    "%next_x = TestSet(%x, %zero, %one)";
constexpr char kPassesOn[] = "%next_x = Identity(%x) {T=float}";

std::unique_ptr<Session> Make(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<Tensor> Feeds(int32_t n, int32_t step) {
  return {Tensor::Scalar<int32_t>(n), Tensor::Scalar<int32_t>(step),
          Tensor::Vector<float>({1, 2, 3, 4})};
}

class Stop : public ::testing::TestWithParam<const char*> {};

TEST_P(Stop, ADeadlineEndsALoop) {
  const std::unique_ptr<Session> session = Make(Loop(GetParam()));
  RunOptions options;
  const Clock::time_point start = Clock::now();
  options.stop.deadline = start + std::chrono::milliseconds(30);
  const absl::Status status = session->Run(Feeds(1, 0), options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(status.message(), HasSubstr("'loop'"));
  EXPECT_GE(Clock::now(), options.stop.deadline);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
  // The session is as it was.
  options.stop.deadline = Clock::now() + std::chrono::minutes(10);
  EXPECT_TRUE(session->Run(Feeds(5, 1), options).ok());
  EXPECT_TRUE(session->Run(Feeds(5, 1)).ok());
}

TEST_P(Stop, AnotherThreadCancelsALoop) {
  const std::unique_ptr<Session> session = Make(Loop(GetParam()));
  std::atomic<bool> cancelled = false;
  RunOptions options;
  options.stop.cancelled = &cancelled;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    cancelled = true;
  });
  const absl::Status status = session->Run(Feeds(1, 0), options).status();
  other.join();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  cancelled = false;
  EXPECT_TRUE(session->Run(Feeds(5, 1), options).ok());
}

INSTANTIATE_TEST_SUITE_P(Bodies, Stop, ::testing::Values(kAllocates, kInPlace, kPassesOn));

TEST(StopNested, TheInnerLoopOfABranch) {
  // The outer graph runs the loop in a branch; the observer takes the other way through the steps.
  const std::string inner = Loop(kAllocates);
  const std::string text = R"(
in p = %p
in n = %n
in step = %step
in x = %x
%p = Placeholder() {dtype=bool, shape=<>}
%n = Placeholder() {dtype=int32, shape=<>}
%step = Placeholder() {dtype=int32, shape=<>}
%x = Placeholder() {dtype=float, shape=<4>}
%branch = If(%p, %n, %step, %x) {Tcond=bool, Tin=[int32, int32, float], Tout=[float], then_branch=@loops, else_branch=@passes}
out y = %branch
function loops {)" + inner.substr(0, inner.find("function below")) +
                           "}\n" + R"(function passes {
  in n = %n
  in step = %step
  in x = %x
  %n = Placeholder() {dtype=int32, shape=<>}
  %step = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=<4>}
  %y = Neg(%x) {T=float}
  out y = %y
}
)" + inner.substr(inner.find("function below"));
  const std::unique_ptr<Session> session = Make(text);
  struct Observer : StepObserver {
    void OnStep(int, int64_t) override { ++steps; }
    int steps = 0;
  } observer;
  for (StepObserver* o :
       {static_cast<StepObserver*>(nullptr), static_cast<StepObserver*>(&observer)}) {
    std::vector<Tensor> feeds = Feeds(1, 0);
    feeds.insert(feeds.begin(), Tensor::Scalar<bool>(true));
    RunOptions options;
    options.observer = o;
    options.stop.deadline = Clock::now() + std::chrono::milliseconds(10);
    const absl::Status status = session->Run(feeds, options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    feeds[0] = Tensor::Scalar<bool>(false);
    options.stop.deadline = Clock::now() + std::chrono::minutes(10);
    EXPECT_TRUE(session->Run(feeds, options).ok());
  }
  EXPECT_GT(observer.steps, 0);
}

}  // namespace
}  // namespace tenon

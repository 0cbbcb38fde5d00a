// Variables that a model changes: order, lifetime, concurrent runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "env/flags.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Session> Make(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

Tensor Vector(float a, float b) { return Tensor::Vector<float>({a, b}); }

constexpr char kCounter[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<2>}
%v = VarHandleOp() {dtype=float, shape=<2>, shared_name="v", _initial_value=float<2>{1, 2}}
%before = ReadVariableOp(%v) {dtype=float, _shape=<2>}
%add = AssignAddVariableOp(%v, %x) {dtype=float} ^%before
%late = Neg(%before) {T=float} ^%add
%after = ReadVariableOp(%v) {dtype=float, _shape=<2>} ^%add
out before = %late
out after = %after
)";

TEST(Variables, AReadKeepsWhatItSaw) {
  auto session = Make(kCounter);
  for (float step : {0.f, 1.f}) {
    const auto got = session->Run(std::vector<Tensor>{Vector(10, 20)});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_THAT((*got)[0].flat<float>(), ElementsAre(-1 - 10 * step, -2 - 20 * step));
    EXPECT_THAT((*got)[1].flat<float>(), ElementsAre(11 + 10 * step, 22 + 20 * step));
  }
}

TEST(Variables, AreReadAndAssignedFromOutside) {
  auto session = Make(kCounter);
  EXPECT_THAT(session->VariableNames(), ElementsAre("v"));
  ASSERT_TRUE(session->AssignVariable("v", Vector(5, 6)).ok());
  auto got = session->Run(std::vector<Tensor>{Vector(1, 1)});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[1].flat<float>(), ElementsAre(6, 7));
  // A returned tensor belongs to the caller alone.
  (*got)[1].data<float>()[0] = 100;
  EXPECT_THAT(session->ReadVariable("v")->flat<float>(), ElementsAre(6, 7));
  EXPECT_THAT(session->AssignVariable("v", Tensor::Scalar<float>(1)).message(),
              HasSubstr("variable 'v' is float of shape [2]"));
  EXPECT_EQ(session->ReadVariable("w").status().code(), absl::StatusCode::kNotFound);
}

TEST(Variables, WithoutAValueAreAnErrorThatNamesThem) {
  auto session = Make(R"(
%v = VarHandleOp() {dtype=float, shape=<2>, shared_name="v"}
%read = ReadVariableOp(%v) {dtype=float, _shape=<2>}
out y = %read
)");
  const auto got = session->Run(std::vector<Tensor>{});
  EXPECT_EQ(got.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(got.status().message()), HasSubstr("variable 'v' is not initialized"));
}

// Every run adds one to all elements: each reader sees all elements equal, and no update is lost.
TEST(Variables, RunsAtOnceSeeWholeUpdates) {
  auto session = Make(R"(
%one = Const() {dtype=float, value=float<5000>{= 1}}
%v = VarHandleOp() {dtype=float, shape=<5000>, shared_name="v", _initial_value=float<5000>{= 0}}
%add = AssignAddVariableOp(%v, %one) {dtype=float}
%read = ReadVariableOp(%v) {dtype=float, _shape=<5000>} ^%add
out y = %read
)");
  constexpr int kThreads = 4, kRuns = 100;
  std::atomic<int> torn = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRuns; ++i) {
        const auto got = session->Run(std::vector<Tensor>{});
        if (!got.ok()) ++torn;
        if (!got.ok()) continue;
        const auto values = (*got)[0].flat<float>();
        torn += std::count_if(values.begin(), values.end(),
                              [&](float v) { return v != values[0]; }) != 0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(torn, 0);
  EXPECT_THAT(session->ReadVariable("v")->flat<float>(), Each(kThreads * kRuns));
}

constexpr char kLoop[] = R"(
in n = %n
%n = Placeholder() {dtype=int32, shape=<>}
%zero = Const() {dtype=int32, value=int32<>{0}}
%v = VarHandleOp() {dtype=float, shape=<2>, shared_name="v", _initial_value=float<2>{1, 2}}
%loop = While(%zero, %n) {T=[int32, int32], cond=@less, body=@more}
%read = ReadVariableOp(%v) {dtype=float, _shape=<2>} ^%loop
out y = %read
out i = %loop
function less {
  in i = %i
  in n = %n
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %less = Less(%i, %n) {T=int32}
  out r = %less
}
function more {
  in i = %i
  in n = %n
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next = AddV2(%i, %one) {T=int32}
  %v = VarHandleOp() {dtype=float, shape=<2>, shared_name="v"}
  %read = ReadVariableOp(%v) {dtype=float, _shape=<2>}
  %double = AddV2(%read, %read) {T=float}
  %assign = AssignVariableOp(%v, %double) {dtype=float}
  out a = %next
  out b = %n
  target %assign
}
)";

TEST(Variables, ALoopsBodyChangesTheSessions) {
  auto session = Make(kLoop);
  auto got = session->Run(std::vector<Tensor>{Tensor::Scalar<int32_t>(3)});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[0].flat<float>(), ElementsAre(8, 16));
  EXPECT_EQ(*(*got)[1].data<int32_t>(), 3);
  got = session->Run(std::vector<Tensor>{Tensor::Scalar<int32_t>(0)});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[0].flat<float>(), ElementsAre(8, 16));
}

}  // namespace
}  // namespace tenon

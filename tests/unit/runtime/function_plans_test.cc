// Plans of the functions that control flow calls: they are made a few times, however often the
// functions are called and whatever shapes come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

// So many exact plans and one for all shapes are made of a function (runtime/plan/body.h).
constexpr int64_t kMostPlans = 9;

std::unique_ptr<Session> Open(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  auto session = Session::Create(*std::move(graph), DefaultOptions(1));
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<float> RunOf(Session& session, int32_t n) {
  const auto got = session.Run(
      std::vector<Tensor>{Tensor::Scalar<int32_t>(n), Tensor::Vector<float>({1, 2, 3, 4, 5})});
  EXPECT_TRUE(got.ok()) << got.status();
  if (!got.ok()) return {};
  const absl::Span<const float> y = (*got)[0].flat<float>();
  return {y.begin(), y.end()};
}

int64_t PlansMade(const Session& session) { return session.function_plan_stats().misses; }

// A loop of %n iterations over %i and a vector %a of any length, which starts as %x.
std::string LoopOver(const std::string& body, const std::string& functions = "") {
  const std::string arguments = R"(
  in i = %i
  in n = %n
  in a = %a
  in x = %x
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=<?>}
  %x = Placeholder() {dtype=float, shape=<?>}
)";
  return absl::StrCat(R"(
in n = %n
in x = %x
%n = Placeholder() {dtype=int32, shape=<>}
%x = Placeholder() {dtype=float, shape=<?>}
%zero = Const() {dtype=int32, value=int32<>{0}}
%loop = While(%zero, %n, %x, %x) {T=[int32, int32, float, float], cond=@below, body=@body}
out y = %loop:2
function below {)",
                      arguments, R"(
  %r = Less(%i, %n) {T=int32}
  out r = %r
}
function body {)",
                      arguments, R"(
  %one = Const() {dtype=int32, value=int32<>{1}}
  %shape = Const() {dtype=int32, value=int32<1>{1}}
  %begin = Const() {dtype=int32, value=int32<1>{0}}
  %axis = Const() {dtype=int32, value=int32<>{0}}
  %next = AddV2(%i, %one) {T=int32}
  %f = Cast(%i) {SrcT=int32, DstT=float}
  %v = Reshape(%f, %shape) {T=float, Tshape=int32}
)",
                      body, R"(
  out i = %next
  out n = %n
  out a = %next_a
  out x = %x
}
)",
                      functions);
}

std::string Alternating(int shapes) {
  return LoopOver(absl::StrCat("  %shapes = Const() {dtype=int32, value=int32<>{", shapes, "}}\n",
                               R"(
  %rest = FloorMod(%next, %shapes) {T=int32}
  %length = AddV2(%rest, %one) {T=int32}
  %size = Reshape(%length, %shape) {T=int32, Tshape=int32}
  %part = Slice(%x, %begin, %size) {T=float, Index=int32}
  %sum = Sum(%a, %begin) {T=float, Tidx=int32, keep_dims=false}
  %zero = Const() {dtype=float, value=float<>{0}}
  %none = Mul(%sum, %zero) {T=float}
  %next_a = AddV2(%part, %none) {T=float}
)"));
}

class AlternatingShapes : public ::testing::TestWithParam<int> {};

// The first length, 5, is a shape more.
TEST_P(AlternatingShapes, AreEachPlannedOnce) {
  auto session = Open(Alternating(GetParam()));
  const int64_t most = 2 * std::min<int64_t>(GetParam() + 1, kMostPlans);
  EXPECT_EQ(RunOf(*session, 24).size(), size_t{1} + 24 % static_cast<size_t>(GetParam()));
  const int64_t made = PlansMade(*session);
  EXPECT_LE(made, most + 2);  // and what the graph around the loop needs to know of it
  const int64_t prepared = session->kernel_stats().misses;
  EXPECT_EQ(RunOf(*session, 240).size(), size_t{1} + 240 % static_cast<size_t>(GetParam()));
  EXPECT_EQ(PlansMade(*session), made);
  EXPECT_EQ(session->kernel_stats().misses, prepared);
}

INSTANTIATE_TEST_SUITE_P(, AlternatingShapes, ::testing::Values(1, 2, 3, 4, 5));

std::vector<float> Grown(int n, int step) {
  std::vector<float> values = {1, 2, 3, 4, 5};
  for (int i = step - 1; i < n; i += step) values.push_back(static_cast<float>(i));
  return values;
}

// Tokens of a cache that grows: how many plans are made does not depend on how many there are.
void ExpectFewPlans(Session& session, int functions, int step) {
  EXPECT_EQ(RunOf(session, 200), Grown(200, step));
  const int64_t made = PlansMade(session);
  EXPECT_LE(made, functions * (kMostPlans + 1));
  EXPECT_EQ(RunOf(session, 400), Grown(400, step));
  EXPECT_EQ(PlansMade(session), made);
  EXPECT_EQ(RunOf(session, 3), Grown(3, step));
  EXPECT_EQ(RunOf(session, 400), Grown(400, step));
  EXPECT_EQ(PlansMade(session), made);
}

TEST(GrowingVariable, NeedsFewPlansOfTheBody) {
  auto session = Open(LoopOver("  %next_a = ConcatV2(%a, %v, %axis) {T=float, Tidx=int32, N=2}\n"));
  ExpectFewPlans(*session, 2, 1);
  const int64_t prepared = session->kernel_stats().misses;
  RunOf(*session, 400);
  EXPECT_EQ(session->kernel_stats().misses, prepared);
}

constexpr char kOdd[] = R"(
  %two = Const() {dtype=int32, value=int32<>{2}}
  %rest = FloorMod(%i, %two) {T=int32}
  %odd = Greater(%rest, %axis) {T=int32}
)";

constexpr char kBranches[] = R"(
function grow {
  in v = %v
  in a = %a
  %v = Placeholder() {dtype=float, shape=<1>}
  %a = Placeholder() {dtype=float, shape=<?>}
  %axis = Const() {dtype=int32, value=int32<>{0}}
  %set = ConcatV2(%a, %v, %axis) {T=float, Tidx=int32, N=2}
  out a = %set
}
function keep {
  in v = %v
  in a = %a
  %v = Placeholder() {dtype=float, shape=<1>}
  %a = Placeholder() {dtype=float, shape=<?>}
  out a = %a
}
)";

TEST(GrowingVariable, NeedsFewPlansOfBranches) {
  auto session = Open(LoopOver(
      absl::StrCat(kOdd,
                   "  %next_a = If(%odd, %v, %a) {Tcond=bool, Tin=[float, float], Tout=[float], "
                   "then_branch=@grow, else_branch=@keep}\n"),
      kBranches));
  ExpectFewPlans(*session, 4, 2);
  session = Open(
      LoopOver(absl::StrCat(kOdd,
                            "  %branch = Cast(%odd) {SrcT=bool, DstT=int32}\n"
                            "  %next_a = Case(%branch, %v, %a) {Tin=[float, float], Tout=[float], "
                            "branches=[@keep, @grow]}\n"),
               kBranches));
  ExpectFewPlans(*session, 4, 2);
}

// One iteration of an inner loop appends.
TEST(GrowingVariable, NeedsFewPlansOfInnerLoops) {
  auto session = Open(LoopOver(R"(
  %inner = While(%axis, %v, %a) {T=[int32, float, float], cond=@once, body=@append}
  %next_a = Identity(%inner:2) {T=float}
)",
                               R"(
function once {
  in j = %j
  in v = %v
  in a = %a
  %j = Placeholder() {dtype=int32, shape=<>}
  %v = Placeholder() {dtype=float, shape=<1>}
  %a = Placeholder() {dtype=float, shape=<?>}
  %one = Const() {dtype=int32, value=int32<>{1}}
  %r = Less(%j, %one) {T=int32}
  out r = %r
}
function append {
  in j = %j
  in v = %v
  in a = %a
  %j = Placeholder() {dtype=int32, shape=<>}
  %v = Placeholder() {dtype=float, shape=<1>}
  %a = Placeholder() {dtype=float, shape=<?>}
  %axis = Const() {dtype=int32, value=int32<>{0}}
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next = AddV2(%j, %one) {T=int32}
  %set = ConcatV2(%a, %v, %axis) {T=float, Tidx=int32, N=2}
  out j = %next
  out v = %v
  out a = %set
}
)"));
  // Special plans of the inner loop belong to each exact plan of the outer one.
  EXPECT_EQ(RunOf(*session, 200), Grown(200, 1));
  const int64_t made = PlansMade(*session);
  EXPECT_LE(made, 100);
  EXPECT_EQ(RunOf(*session, 400), Grown(400, 1));
  EXPECT_EQ(PlansMade(*session), made);
}

}  // namespace
}  // namespace tenon

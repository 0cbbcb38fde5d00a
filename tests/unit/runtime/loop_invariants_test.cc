// Loops whose body computes something from variables that all iterations share: once, and as if
// every iteration did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "ops/op.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

std::atomic<int> calls = 0;

// 2 x; an error if an element is negative.
absl::StatusOr<std::unique_ptr<Kernel>> Twice(PrepareContext& p) {
  p.AllowInPlace(0, 0);
  return MakeKernel([n = p.input_shape(0).num_elements()](RunContext& run) {
    ++calls;
    for (int64_t i = 0; i < n; ++i) {
      const float x = run.input<float>(0)[i];
      if (x < 0) return absl::InvalidArgumentError("negative");
      run.output<float>(0)[i] = 2 * x;
    }
    return absl::OkStatus();
  });
}

const OpRegistration twice_op({.name = "TestTwice",
                               .inputs = "x: float",
                               .outputs = "y: float",
                               .shape = UnchangedShape,
                               .reference = Twice});

const OpRegistration stateful_op({.name = "TestStatefulTwice",
                                  .inputs = "x: float",
                                  .outputs = "y: float",
                                  .shape = UnchangedShape,
                                  .reference = Twice,
                                  .stateful = true});

// x with element 0 replaced by v.
absl::StatusOr<std::unique_ptr<Kernel>> SetFirst(PrepareContext& p) {
  p.AllowInPlace(0, 0);
  return MakeKernel([bytes = static_cast<size_t>(p.input_shape(0).num_elements()) *
                             sizeof(float)](RunContext& run) {
    if (run.input(0) != run.output(0)) std::memcpy(run.output(0), run.input(0), bytes);
    *run.output<float>(0) = *run.input<float>(1);
    return absl::OkStatus();
  });
}

const OpRegistration set_first_op({.name = "TestSetFirst",
                                   .inputs = "x: float, v: float",
                                   .outputs = "y: float",
                                   .shape = UnchangedShape,
                                   .reference = SetFirst});

// A loop over %i < %n and the float vectors %a and %s. The body has %i as a float in %v.
struct LoopText {
  std::string body = "%t = TestTwice(%a)\n%next = AddV2(%s, %t) {T=float}";
  std::string next_a = "%a", next_s = "%next";
  std::string condition = "%r = Less(%i, %n) {T=int32}";
  std::string loop =
      "%loop = While(%zero, %n, %a, %s) {T=[int32, int32, float, float], "
      "cond=@condition, body=@body}\nout s = %loop:3";
  std::string functions;

  std::string Text() const {
    constexpr char kArguments[] = R"(
%n = Placeholder() {dtype=int32, shape=<>}
%a = Placeholder() {dtype=float, shape=<?>}
%s = Placeholder() {dtype=float, shape=<?>}
%zero = Const() {dtype=int32, value=int32<>{0}}
%one = Const() {dtype=int32, value=int32<>{1}}
%axis = Const() {dtype=int32, value=int32<1>{0}}
)";
    const std::string inner =
        absl::StrCat("in i = %i\nin n = %n\nin a = %a\nin s = %s\n",
                     "%i = Placeholder() {dtype=int32, shape=<>}\n", kArguments);
    return absl::StrCat(
        "in n = %n\nin a = %a\nin s = %s\n", kArguments, loop, "\nfunction condition {\n", inner,
        condition, "\nout r = %r\n}\nfunction body {\n", inner, "%up = AddV2(%i, %one) {T=int32}\n",
        "%v = Cast(%i) {SrcT=int32, DstT=float}\n", body,
        "\nout i = %up\nout n = %n\nout a = ", next_a, "\nout s = ", next_s, "\n}\n",
        absl::StrReplaceAll(functions, {{"INNER", inner}}));
  }
};

std::unique_ptr<Session> Make(const LoopText& text, int64_t memory_limit = 0) {
  auto graph = ParseGraph(text.Text());
  EXPECT_TRUE(graph.ok()) << graph.status() << text.Text();
  SessionOptions options = DefaultOptions(1);
  options.memory_limit = memory_limit;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<Tensor> Feeds(int32_t n, std::vector<float> a, std::vector<float> s) {
  return {Tensor::Scalar<int32_t>(n), Tensor::Vector<float>(std::move(a)),
          Tensor::Vector<float>(std::move(s))};
}

std::vector<float> Result(Session& session, const std::vector<Tensor>& feeds) {
  const auto got = session.Run(feeds);
  EXPECT_TRUE(got.ok()) << got.status();
  if (!got.ok()) return {};
  return {(*got)[0].flat<float>().begin(), (*got)[0].flat<float>().end()};
}

// The number of calls of TestTwice.
int Calls(Session& session, const std::vector<Tensor>& feeds) {
  calls = 0;
  Result(session, feeds);
  return calls;
}

TEST(LoopInvariants, AreComputedOnceInEachRun) {
  auto session = Make({});
  EXPECT_THAT(Result(*session, Feeds(3, {1, 2}, {10, 20})), ElementsAre(16, 32));
  EXPECT_THAT(Result(*session, Feeds(3, {2, 1}, {10, 20})), ElementsAre(22, 26));
  EXPECT_THAT(Result(*session, Feeds(0, {2, 1}, {10, 20})), ElementsAre(10, 20));
  EXPECT_EQ(Calls(*session, Feeds(0, {1, 2}, {0, 0})), 0);
  EXPECT_EQ(Calls(*session, Feeds(1, {1, 2}, {0, 0})), 1);
  EXPECT_EQ(Calls(*session, Feeds(7, {1, 2}, {0, 0})), 1);
}

TEST(LoopInvariants, FollowOneAnother) {
  LoopText chain;
  chain.body = R"(%t = TestTwice(%a)
%axes = Const() {dtype=int32, value=int32<>{0}}
%halves = Split(%axes, %t) {T=float, num_split=2}
%column = ExpandDims(%halves:1, %axes) {T=float, Tdim=int32}
%u = TestTwice(%column)
%row = Reshape(%u, %minus) {T=float, Tshape=int32}
%minus = Const() {dtype=int32, value=int32<1>{-1}}
%w = TestTwice(%s)
%sum = AddV2(%w, %row) {T=float}
%next = TestSetFirst(%sum, %v))";
  auto session = Make(chain);
  EXPECT_EQ(Calls(*session, Feeds(5, {1, 2, 3, 4}, {0, 0})), 2 + 5);
  EXPECT_THAT(Result(*session, Feeds(2, {1, 2, 3, 4}, {1, 1})), ElementsAre(1, 2 * 18 + 16));
}

TEST(LoopInvariants, AreNotWhatChangesOrHasAnEffect) {
  LoopText changes;
  changes.next_a = "%s";
  auto session = Make(changes);
  EXPECT_EQ(Calls(*session, Feeds(5, {1, 2}, {0, 0})), 5);
  EXPECT_THAT(Result(*session, Feeds(2, {1, 2}, {3, 4})), ElementsAre(5 + 6, 8 + 8));

  LoopText stateful;
  stateful.body = "%t = TestStatefulTwice(%a)\n%next = AddV2(%s, %t) {T=float}";
  session = Make(stateful);
  EXPECT_EQ(Calls(*session, Feeds(5, {1, 2}, {0, 0})), 5);
}

TEST(LoopInvariants, AreNotOverwritten) {
  LoopText in_place;
  in_place.body =
      "%t = TestTwice(%a)\n%u = TestTwice(%t)\n%sum = AddV2(%u, %s) {T=float}\n"
      "%set = TestSetFirst(%sum, %v)\n%next = AddV2(%set, %s) {T=float}";
  auto session = Make(in_place);
  EXPECT_THAT(Result(*session, Feeds(3, {1, 2}, {0, 0})), ElementsAre(3, 8 + 2 * 24));
  EXPECT_EQ(Calls(*session, Feeds(3, {1, 2}, {0, 0})), 2);

  // The changed tensor leaves the body.
  in_place.body = "%t = TestTwice(%a)\n%next = TestSetFirst(%t, %v)";
  session = Make(in_place);
  EXPECT_THAT(Result(*session, Feeds(3, {1, 2}, {0, 0})), ElementsAre(2, 4));

  // So does the invariant one, and the caller's next iteration changes it.
  in_place.body =
      "%t = TestTwice(%a)\n%set = TestSetFirst(%s, %v)\n%next = AddV2(%set, %t) {T=float}";
  in_place.next_s = "%t";
  session = Make(in_place);
  EXPECT_THAT(Result(*session, Feeds(3, {1, 2}, {0, 0})), ElementsAre(2, 4));
}

// Steps before and after it use the arena's memory again and again.
TEST(LoopInvariants, StayInTheArena) {
  LoopText busy;
  busy.body = "%c0 = TestTwice(%s)\n";
  for (int i = 1; i < 20; ++i) {
    if (i == 10) absl::StrAppend(&busy.body, "%t = TestTwice(%a)\n%u = TestTwice(%t)\n");
    absl::StrAppend(&busy.body, "%d", i, " = TestTwice(%c", i - 1, ")\n%c", i, " = Sub(%d", i,
                    ", %c", i - 1, ") {T=float}\n");  // the same again
  }
  absl::StrAppend(&busy.body, "%b = TestSetFirst(%c19, %v)\n%next = AddV2(%b, %u) {T=float}");
  auto session = Make(busy);
  EXPECT_THAT(Result(*session, Feeds(3, {1, 2}, {1, 1})), ElementsAre(2 + 4, 8 + 8 * 7));
  EXPECT_EQ(Calls(*session, Feeds(3, {1, 2}, {1, 1})), 2 + 3 * 20);
}

TEST(LoopInvariants, FailWhereTheyAreComputed) {
  auto session = Make({});
  EXPECT_THAT(Result(*session, Feeds(0, {-1, 2}, {10, 20})), ElementsAre(10, 20));
  const auto got = session->Run(Feeds(2, {-1, 2}, {10, 20}));
  EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << got.status();
  EXPECT_THAT(Result(*session, Feeds(2, {1, 2}, {10, 20})), ElementsAre(14, 28));
}

// The rest of a loop's body, i + 1 and s + 2 a.
constexpr char kAddTwice[] = R"(
INNER
%up = AddV2(%i, %one) {T=int32}
%t = TestTwice(%a)
%next = AddV2(%s, %t) {T=float}
out i = %up
out n = %n
out a = %a
out s = %next
}
)";

TEST(LoopInvariants, AreThoseOfTheInnerLoop) {
  LoopText nested;
  nested.functions = R"(function below {
INNER
%r = Less(%i, %n) {T=int32}
out r = %r
}
function inner {)" + std::string(kAddTwice);
  // The inner loop's invariant changes with the outer loop.
  nested.body =
      R"(%inner = While(%zero, %n, %s, %a) {T=[int32, int32, float, float], cond=@below, body=@inner}
%next = Identity(%inner:3) {T=float})";
  auto session = Make(nested);
  EXPECT_EQ(Calls(*session, Feeds(4, {1, 2}, {1, 1})), 4);
  // s = a + 2 n s
  EXPECT_THAT(Result(*session, Feeds(2, {1, 2}, {1, 1})), ElementsAre(1 + 4 * 5, 2 + 4 * 6));

  // The outer loop's invariant goes into the inner loop.
  nested.body = R"(%u = TestTwice(%a)
%inner = While(%zero, %n, %u, %s) {T=[int32, int32, float, float], cond=@below, body=@inner}
%next = Identity(%inner:3) {T=float})";
  session = Make(nested);
  EXPECT_EQ(Calls(*session, Feeds(4, {1, 2}, {1, 1})), 1 + 4);
  EXPECT_THAT(Result(*session, Feeds(2, {1, 2}, {1, 1})), ElementsAre(1 + 16, 1 + 32));
}

// A branch is called with other arguments each time.
TEST(LoopInvariants, AreOfLoopsAndNotOfBranches) {
  LoopText branch;
  branch.functions = absl::StrCat("function work {", kAddTwice);
  branch.body =
      R"(%if = If(%any, %i, %n, %s, %a) {Tcond=bool, Tin=[int32, int32, float, float], Tout=[int32, int32, float, float], then_branch=@work, else_branch=@work}
%any = Less(%i, %n) {T=int32}
%loop = While(%zero, %n, %a, %if:3) {T=[int32, int32, float, float], cond=@condition, body=@work}
%next = Identity(%loop:3) {T=float})";
  auto session = Make(branch);
  EXPECT_EQ(Calls(*session, Feeds(3, {1, 2}, {1, 1})), 3 + 3);
  // s = a + 2 s + 2 n a
  EXPECT_THAT(Result(*session, Feeds(2, {1, 2}, {1, 1})), ElementsAre(5 + 2 * 7, 10 + 2 * 12));
}

TEST(LoopInvariants, OfAConditionAreComputedOnce) {
  LoopText condition;
  condition.condition = R"(%t = TestTwice(%a)
%most = Sum(%t, %axis) {T=float, Tidx=int32, keep_dims=false}
%now = Sum(%s, %axis) {T=float, Tidx=int32, keep_dims=false}
%r = Less(%now, %most) {T=float})";
  condition.body = "%next = AddV2(%s, %a) {T=float}";
  auto session = Make(condition);
  EXPECT_THAT(Result(*session, Feeds(0, {1, 2}, {0, 0})), ElementsAre(2, 4));
  EXPECT_EQ(Calls(*session, Feeds(0, {1, 2}, {-9, -9})), 1);
}

TEST(LoopInvariants, HaveTheShapesOfTheRun) {
  auto session = Make({});
  for (const size_t size : {1, 4, 2, 4, 1000}) {
    EXPECT_EQ(Result(*session, Feeds(5, std::vector<float>(size, 1), std::vector<float>(size, 2))),
              std::vector<float>(size, 12));
    EXPECT_EQ(Calls(*session, Feeds(5, std::vector<float>(size, 1), std::vector<float>(size, 2))),
              1);
  }

  // A variable that grows: after the first few iterations, one plan serves all.
  LoopText grow;
  grow.body = R"(%t = TestTwice(%a)
%sums = Sum(%s, %axis) {T=float, Tidx=int32, keep_dims=true}
%new = Mul(%t, %sums) {T=float}
%axes = Const() {dtype=int32, value=int32<>{0}}
%half = Const() {dtype=float, value=float<1>{0.5}}
%last = Sub(%new, %sums) {T=float}
%w = Mul(%last, %half) {T=float}
%next = ConcatV2(%s, %w, %axes) {T=float, Tidx=int32, N=2})";
  session = Make(grow);
  std::vector<float> expected = {1};
  float sum = 1;
  for (int i = 0; i < 30; ++i) {
    expected.push_back((2 * 0.75f * sum - sum) * 0.5f);
    sum += expected.back();
  }
  const std::vector<float> got = Result(*session, Feeds(30, {0.75}, {1}));
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4 * expected[i]);
  EXPECT_LE(Calls(*session, Feeds(30, {0.75}, {1})), 10);
}

TEST(LoopInvariants, AreThoseOfEachConcurrentRun) {
  const auto session = Make({});
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&session, k] {
      const float a = static_cast<float>(k);
      for (int run = 0; run < 50; ++run) {
        EXPECT_THAT(Result(*session, Feeds(20, {a, 2}, {0, 0})), ElementsAre(40 * a, 80));
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(LoopInvariants, LeaveMostOfALimitedMemoryToTheLoop) {
  const std::vector<float> a(100000, 1), s(100000, 0);
  for (const int64_t limit : {int64_t{1500000}, int64_t{1} << 30}) {
    const auto session = Make({}, limit);
    EXPECT_EQ(Result(*session, Feeds(3, a, s)), std::vector<float>(100000, 6));
    EXPECT_EQ(Calls(*session, Feeds(3, a, s)), limit < 1 << 30 ? 3 : 1);
  }
}

}  // namespace
}  // namespace tenon

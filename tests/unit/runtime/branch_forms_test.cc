// Boolean inputs that decide branches: a form of the model for each value.
#include "runtime/plan/branch_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "env/flags.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

// A product, and behind it a branch: `not_training` or `training`, functions of %x.
std::string Model(const std::string& decide, const std::string& not_training,
                  const std::string& training, const std::string& shape = "<>") {
  return R"(
in x = %x
in training = %training
%x = Placeholder() {dtype=float, shape=<?,2>}
%training = Placeholder() {dtype=bool, shape=)" +
         shape + R"(}
%w = Const() {dtype=float, value=float<2,2>{1, 2, 3, -4}}
%p = MatMul(%x, %w) {T=float}
)" + decide +
         R"(
%y = StatelessIf(%decide, %p) {Tcond=bool, Tin=[float], Tout=[float], then_branch=@training, else_branch=@running}
out y = %y
function training {
  in x = %x
  %x = Placeholder() {dtype=float, shape=<?,2>}
  )" + training +
         R"(
  out y = %y
}
function running {
  in x = %x
  %x = Placeholder() {dtype=float, shape=<?,2>}
  )" + not_training +
         R"(
  out y = %y
}
)";
}

const char* const kPlain = "%decide = Identity(%training) {T=bool}";
const char* const kRelu = "%y = Relu(%x) {T=float}";
const char* const kDouble = "%y = AddV2(%x, %x) {T=float}";
const char* const kRandom = R"(%shape = Shape(%x) {T=float, out_type=int32}
  %y = RandomUniform(%shape) {T=int32, dtype=float, seed=3, seed2=5})";

Graph Parse(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  return *std::move(graph);
}

std::unique_ptr<Session> Make(const std::string& text, bool onednn = true) {
  SessionOptions options;
  options.flags = *Flags::From([&](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "TF_ENABLE_ONEDNN_OPTS") return onednn ? "1" : "0";
    return std::nullopt;
  });
  options.threads = 1;
  auto session = Session::Create(Parse(text), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<Tensor> Feeds(const Tensor& training) {
  const Tensor x = *Tensor::Allocate(DType::kFloat, Shape({1, 2}));
  Tensor(x).flat<float>()[0] = 1;
  Tensor(x).flat<float>()[1] = 2;
  return {x, training};
}

std::vector<float> Outcome(Session& session, const Tensor& training) {
  const auto got = session.Run(Feeds(training));
  EXPECT_TRUE(got.ok()) << got.status();
  if (!got.ok()) return {};
  const auto values = (*got)[0].flat<float>();
  return {values.begin(), values.end()};
}

std::vector<float> Outcome(Session& session, bool training) {
  return Outcome(session, Tensor::Scalar<bool>(training));
}

int Steps(Session& session, bool training) {
  const auto plan = session.PlanFor(Feeds(Tensor::Scalar<bool>(training)));
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? (*plan)->stats().steps : 0;
}

TEST(BranchForms, FuseWhatIsInTheBranchThatIsTaken) {
  auto session = Make(Model(kPlain, kRelu, kDouble));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Outcome(*session, false), ElementsAre(7, 0));
    EXPECT_THAT(Outcome(*session, true), ElementsAre(14, -12));
  }
  EXPECT_EQ(Steps(*session, false), 1);
  EXPECT_EQ(Steps(*session, true), 2);
  EXPECT_EQ(session->Plans().size(), 2);
}

TEST(BranchForms, FollowTheLogicOfPredicates) {
  auto session = Make(Model("%decide = LogicalNot(%training)", kRelu, kDouble));
  EXPECT_THAT(Outcome(*session, false), ElementsAre(14, -12));
  EXPECT_THAT(Outcome(*session, true), ElementsAre(7, 0));
  EXPECT_EQ(Steps(*session, true), 1);
}

TEST(BranchForms, AreNotMadeWithoutRewriting) {
  auto session = Make(Model(kPlain, kRelu, kDouble), false);
  EXPECT_THAT(Outcome(*session, false), ElementsAre(7, 0));
  EXPECT_THAT(Outcome(*session, true), ElementsAre(14, -12));
  EXPECT_EQ(session->Plans().size(), 1);
}

TEST(BranchForms, OfOtherTensorsThanScalarsAreTheModelItself) {
  auto session = Make(Model(kPlain, kRelu, kDouble, "<*>"));
  // A vector is true if it has elements.
  EXPECT_THAT(Outcome(*session, Tensor::Vector<bool>({false})), ElementsAre(14, -12));
  EXPECT_THAT(Outcome(*session, Tensor::Vector<bool>({true})), ElementsAre(14, -12));
  EXPECT_THAT(Outcome(*session, Tensor::Scalar<bool>(false)), ElementsAre(7, 0));
}

TEST(BranchForms, DoNotRepeatRandomNumbers) {
  const std::string model = Model(kPlain, kRelu, kRandom);
  auto session = Make(model), only_training = Make(model);
  const auto first = Outcome(*session, true);
  EXPECT_THAT(Outcome(*session, false), ElementsAre(7, 0));
  const auto second = Outcome(*session, true);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, Outcome(*only_training, true));
  EXPECT_EQ(second, Outcome(*only_training, true));
}

TEST(BranchForms, DoNotRepeatRandomNumbersOfFunctions) {
  // A branch in the branch, which depends on the data: it stays a call.
  const std::string training = R"(%shape = Shape(%x) {T=float, out_type=int32}
  %axes = Const() {dtype=int32, value=int32<2>{0, 1}}
  %sum = Sum(%x, %axes) {T=float, Tidx=int32}
  %zero = Const() {dtype=float, value=float<>{0}}
  %positive = Greater(%sum, %zero) {T=float}
  %y = StatelessIf(%positive, %shape) {Tcond=bool, Tin=[int32], Tout=[float], then_branch=@draw, else_branch=@draw})";
  const std::string model = Model(kPlain, kRelu, training, "<*>") + R"(
function draw {
  in shape = %shape
  %shape = Placeholder() {dtype=int32, shape=<2>}
  %y = RandomUniform(%shape) {T=int32, dtype=float, seed=3, seed2=5}
  out y = %y
}
)";
  auto session = Make(model), only_training = Make(model);
  // A vector with elements is true, too, but has no form: the same numbers must go on.
  const Tensor also_true = Tensor::Vector<bool>({true});
  const auto first = Outcome(*session, true);
  EXPECT_THAT(Outcome(*session, false), ElementsAre(7, 0));
  const auto second = Outcome(*session, also_true);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, Outcome(*only_training, true));
  EXPECT_EQ(second, Outcome(*only_training, true));
}

TEST(BranchForms, ServeSeveralThreads) {
  auto session = Make(Model(kPlain, kRelu, kDouble));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if ((i + t) % 2 == 0) {
          EXPECT_THAT(Outcome(*session, false), ElementsAre(7, 0));
        } else {
          EXPECT_THAT(Outcome(*session, true), ElementsAre(14, -12));
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(BranchForms, NeedABranch) {
  const auto forms = BranchForms::Of(Parse(Model(kPlain, kRelu, kDouble)));
  ASSERT_NE(forms, nullptr);
  EXPECT_THAT(forms->inputs(), ElementsAre(1));
  EXPECT_EQ(BranchForms::Of(Parse(R"(
in training = %training
%training = Placeholder() {dtype=bool, shape=<>}
%y = LogicalNot(%training)
out y = %y
)")),
            nullptr);
}

}  // namespace
}  // namespace tenon

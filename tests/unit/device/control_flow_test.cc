// Runs nodes of the sample plug-in's device (tests/plugin/apu) in functions that control flow
// calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "ops/control/on_device.h"
#include "tests/unit/device/apu_test.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

// Calls the function "step", which the tests define, three times.
constexpr char kCall[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?>}
%i = Const() {dtype=int32, value=int32<>{0}}
%before = Relu(%x) {T=float}
%loop = StatelessWhile(%i, %x, %before) {T=[int32, float, float], cond=@less, body=@step, output_shapes=[:shape], parallel_iterations=10}
%y = Neg(%loop:1) {T=float}
out y = %y
out kept = %loop:2
)";

// A function of the loop's variables.
std::string Function(const std::string& name, const std::string& text) {
  constexpr char kArguments[] = R"(
  in i = %i
  in x = %x
  in kept = %kept
  %i = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=<?>}
  %kept = Placeholder() {dtype=float, shape=<?>}
)";
  return absl::StrCat("function \"", name, "\" {", kArguments, text, "\n}\n");
}

std::string Loop() {
  return absl::StrCat(kCall, Function("less", R"(
  %three = Const() {dtype=int32, value=int32<>{3}}
  %more = Less(%i, %three) {T=int32}
  out more = %more
)"));
}

// The body of such a loop; `text` defines `result`.
std::string Step(const std::string& name, const std::string& text) {
  constexpr char kStart[] = R"(
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next = AddV2(%i, %one) {T=int32}
  %half = Const() {dtype=float, value=float<>{0.5}}
  out i = %next
  out x = %result
  out kept = %kept
)";
  return Function(name, absl::StrCat(kStart, text));
}

constexpr char kBranch[] = R"(
in x = %x
in flag = %flag
%x = Placeholder() {dtype=float, shape=<?>}
%flag = Placeholder() {dtype=bool, shape=<>}
%r = Relu(%x) {T=float}
%y = StatelessIf(%flag, %r, %x) {Tcond=bool, Tin=[float, float], Tout=[float], then_branch=@there, else_branch=@here, output_shapes=[:shape]}
out y = %y
function "there" {
  in r = %r
  in x = %x
  %r = Placeholder() {dtype=float, shape=<?>}
  %x = Placeholder() {dtype=float, shape=<?>}
  %a = Relu(%x) {T=float}
  %b = Relu(%a) {T=float}
  %y = AddV2(%b, %r) {T=float}
  out y = %y
}
function "here" {
  in r = %r
  in x = %x
  %r = Placeholder() {dtype=float, shape=<?>}
  %x = Placeholder() {dtype=float, shape=<?>}
  %a = Abs(%x) {T=float}
  %y = Neg(%a) {T=float}
  out y = %y
}
)";

class ControlFlowOnDevice : public ApuTest {
 protected:
  static std::unique_ptr<Session> Make(std::string text, const std::string& body = "",
                                       const std::string& device = "APU:0") {
    if (!body.empty()) text += Step("step", body);
    absl::StatusOr<Graph> graph = ParseGraph(text);
    EXPECT_TRUE(graph.ok()) << graph.status();
    return MakeSession(*std::move(graph), device);
  }
};

TEST_F(ControlFlowOnDevice, ALoopThatChangesDeviceInEachIteration) {
  const auto session =
      Make(Loop(), "%less = Sub(%x, %half) {T=float} %result = Relu(%less) {T=float}");
  EXPECT_EQ(session->nodes_on_devices(), 2);
  for (int run = 0; run < 2; ++run) {
    const ApuCounts since;
    const auto out = Run(*session, {Floats({-1, 1, 4})});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_THAT(out[0].flat<float>(), ElementsAre(0, 0, -2.5));
    EXPECT_THAT(out[1].flat<float>(), ElementsAre(0, 1, 4));
    EXPECT_EQ(since("kernel_runs"), 1 + 3);
    EXPECT_EQ(since("copies_to_device"), 1 + 3);
    EXPECT_EQ(since("copies_to_host"), 1 + 3);
    EXPECT_EQ(since("blocks_in_use"), 0);
  }
}

TEST_F(ControlFlowOnDevice, SeveralNodesOfABodyShareACopy) {
  const auto session = Make(Loop(),
                            "%a = Relu(%x) {T=float} %b = Relu(%a) {T=float} "
                            "%c = Relu(%x) {T=float} %result = AddV2(%b, %c) {T=float}");
  const ApuCounts since;
  const auto out = Run(*session, {Floats({-1, 2})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_THAT(out[0].flat<float>(), ElementsAre(0, -16));
  EXPECT_EQ(since("kernel_runs"), 1 + 9);
  EXPECT_EQ(since("copies_to_device"), 1 + 3);
  EXPECT_EQ(since("copies_to_host"), 1 + 6);  // b and c
}

TEST_F(ControlFlowOnDevice, ABranch) {
  const auto session = Make(kBranch);
  EXPECT_EQ(session->nodes_on_devices(), 3);
  for (const bool there : {true, false, true}) {
    const ApuCounts since;
    const auto out = Run(*session, {Floats({-1, 2}), Tensor::Scalar<bool>(there)});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_THAT(out[0].flat<float>(), there ? ElementsAre(0, 4) : ElementsAre(-1, -2));
    EXPECT_EQ(since("kernel_runs"), there ? 3 : 1);
    EXPECT_EQ(since("copies_to_device"), there ? 2 : 1);
    EXPECT_EQ(since("copies_to_host"), there ? 2 : 1);
    EXPECT_EQ(since("blocks_in_use"), 0);
  }
}

TEST_F(ControlFlowOnDevice, ALoopInABranchOfALoop) {
  // The loop's body is a branch, whose function is a loop.
  std::string text = Loop();
  text += R"(
function "inner" {
  in x = %x
  %x = Placeholder() {dtype=float, shape=<?>}
  %i = Const() {dtype=int32, value=int32<>{1}}
  %r = StatelessWhile(%i, %x, %x) {T=[int32, float, float], cond=@less, body=@shrink, output_shapes=[:shape], parallel_iterations=10}
  out r = %r:1
}
function "same" {
  in x = %x
  %x = Placeholder() {dtype=float, shape=<?>}
  out r = %x
}
)";
  text += Step("shrink", "%less = Sub(%x, %half) {T=float} %result = Relu(%less) {T=float}");
  const auto session = Make(text,
                            "%first = Equal(%i, %one) {T=int32, incompatible_shape_error=true} "
                            "%result = StatelessIf(%first, %x) {Tcond=bool, Tin=[float], "
                            "Tout=[float], then_branch=@inner, else_branch=@same, "
                            "output_shapes=[:shape]}");
  EXPECT_EQ(session->nodes_on_devices(), 2);
  const ApuCounts since;
  const auto out = Run(*session, {Floats({-1, 2})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_THAT(out[0].flat<float>(), ElementsAre(0, -1));
  EXPECT_EQ(since("kernel_runs"), 1 + 2);
  EXPECT_EQ(since("blocks_in_use"), 0);
}

TEST_F(ControlFlowOnDevice, ABodyMayFail) {
  const auto session = Make(Loop(), "%result = Relu(%x) {T=float}");
  const ApuCounts since;
  {
    const ApuFails failing("kernel");
    const absl::Status status = session->Run(std::vector<Tensor>{Floats({1})}).status();
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("the APU has lost its way"));
  }
  EXPECT_EQ(since("blocks_in_use"), 0);
  const auto out = Run(*session, {Floats({1})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_THAT(out[0].flat<float>(), ElementsAre(-1));
}

TEST_F(ControlFlowOnDevice, ANodeInABodyMayAskForItself) {
  const std::string body = "%result = Relu(%x) {T=float} on \"/device:APU:0\"";
  const auto session = Make(Loop(), body, "");
  EXPECT_EQ(session->nodes_on_devices(), 1);
  const ApuCounts since;
  const auto out = Run(*session, {Floats({-1, 2})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_THAT(out[0].flat<float>(), ElementsAre(0, -2));
  EXPECT_EQ(since("kernel_runs"), 3);
}

}  // namespace
}  // namespace tenon

#include "graph_rewrite/loop_invariants.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "ops/op.h"
#include "tests/unit/graph_rewrite/rewritten.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

// A loop over %i with the variables %a, which is the same in all iterations, and %s.
constexpr char kLoop[] = R"(
  %i = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {shape=<4,4>}
  %s = Placeholder() {shape=<4,4>}
  %loop = CALL
  out s = %loop:2
  function cond {
    in i = %i  %i = Placeholder() {dtype=int32, shape=<>}
    in a = %a  %a = Placeholder() {shape=<4,4>}
    in s = %s  %s = Placeholder() {shape=<4,4>}
    %four = Const() {value=int32<>{4}}
    %more = Less(%i, %four)
    out more = %more
  }
  function body {
    in i = %i  %i = Placeholder() {dtype=int32, shape=<>}
    in a = %a  %a = Placeholder() {shape=<4,4>}
    in s = %s  %s = Placeholder() {shape=<4,4>}
    %w = Const() {value=float<4,4>{random 1}}
    %one = Const() {value=int32<>{1}}
    %next = AddV2(%i, %one)
    BODY
    out i = %next
    out a = %a
    out s = %y
  }
)";
constexpr char kWhile[] = "While(%i, %a, %s) {T=[int32, float, float], cond=@cond, body=@body}";

Graph BodyOf(const std::string& body, const std::string& call = kWhile) {
  const std::string text = absl::StrReplaceAll(kLoop, {{"BODY", body}, {"CALL", call}});
  const Graph graph = Rewritten(text.c_str(), {.last = Phase::kFuse});
  const auto found = graph.functions().find("body");
  EXPECT_NE(found, graph.functions().end());
  return found == graph.functions().end() ? Graph() : *found->second;
}

TEST(LoopInvariants, AreTheArgumentsThatPassThrough) {
  EXPECT_THAT(InvariantArguments(BodyOf("%y = Tanh(%s)")), ElementsAre(false, true, false));
}

TEST(LoopInvariants, AreNotFusedWithWhatChanges) {
  const Graph body = BodyOf("%m = MatMul(%a, %w)\n%t = Tanh(%m)\n%y = AddV2(%t, %s)");
  EXPECT_EQ(CountOf(body, "_FusedMatMul"), 1);
  EXPECT_EQ(CountOf(body, "Tanh"), 0);
  EXPECT_EQ(CountOf(body, "AddV2"), 2) << PrintGraph(body);
}

TEST(LoopInvariants, AreFusedWithWhatIsTheirReadersOwnWork) {
  // The product changes, and the sum takes it in.
  const Graph body = BodyOf("%m = MatMul(%s, %w)\n%t = Tanh(%a)\n%y = AddV2(%m, %t)");
  EXPECT_EQ(CountOf(body, "_FusedMatMul"), 1);
  EXPECT_EQ(CountOf(body, "AddV2"), 1) << PrintGraph(body);
}

TEST(LoopInvariants, AreThoseOfLoopsOnly) {
  const Graph branch = BodyOf("%m = MatMul(%a, %w)\n%y = AddV2(%m, %s)",
                              "If(%i, %i, %a, %s) {Tcond=int32, Tin=[int32, float, float], "
                              "Tout=[int32, float, float], then_branch=@body, else_branch=@body}");
  EXPECT_EQ(CountOf(branch, "_FusedMatMul"), 1);
  EXPECT_EQ(CountOf(branch, "AddV2"), 1) << PrintGraph(branch);
}

}  // namespace
}  // namespace tenon

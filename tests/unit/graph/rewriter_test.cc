#include "graph/rewriter.h"

#include <random>

#include "gmock/gmock.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph Parse(absl::string_view text) {
  auto g = ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  return g.ok() ? *std::move(g) : Graph();
}

// Compares the use lists with those of a new rewriter.
void ExpectUsesRight(Rewriter& rw) {
  Graph copy = rw.graph();
  Rewriter fresh(copy);
  auto sorted = [](absl::Span<const Use> uses) {
    std::vector<std::tuple<NodeId, int, int>> out;
    for (const Use& u : uses) out.emplace_back(u.reader, u.slot, u.port);
    std::sort(out.begin(), out.end());
    return out;
  };
  for (NodeId id : copy.NodeIds()) EXPECT_EQ(sorted(rw.uses(id)), sorted(fresh.uses(id)));
  EXPECT_TRUE(VerifyGraph(copy).ok()) << VerifyGraph(copy);
}

TEST(Rewriter, ReplacesANodeAndKeepsItsName) {
  Graph g = Parse(R"(
    in x = %x
    %x = Placeholder()
    %conv = Conv2D(%x, %x)
    %relu = Relu(%conv)
    %late = NoOp() ^%relu
    %y = Add(%relu, %relu)
    out relu = %relu
    out y = %y
  )");
  Rewriter rw(g);
  rw.RecordDiffs(true);
  const NodeId conv = g.FindNode("conv")->id, relu = g.FindNode("relu")->id;
  EXPECT_EQ(rw.NumReaders({relu, 0}), 2);
  EXPECT_TRUE(rw.IsOutput({relu, 0}));
  EXPECT_FALSE(rw.IsOutput({conv, 0}));
  EXPECT_TRUE(rw.DependsOn(relu, g.FindNode("x")->id));
  EXPECT_FALSE(rw.DependsOn(conv, relu));

  rw.BeginStep("Fuse", "relu");
  const Node& c = rw.node(conv);
  Node fused;
  fused.name = "fused";
  fused.op = "_FusedConv2D";
  fused.inputs = c.inputs;
  const NodeId f = rw.AddNode(std::move(fused));
  rw.ReplaceNode(relu, {f, 0});
  rw.Remove(conv);
  EXPECT_TRUE(rw.EndStep());

  EXPECT_EQ(PrintGraph(g),
            "in x = %x\n%x = Placeholder()\n%relu = _FusedConv2D(%x, %x)\n%late = NoOp() ^%relu\n"
            "%y = Add(%relu, %relu)\nout relu = %relu\nout y = %y\n");
  ExpectUsesRight(rw);
  ASSERT_EQ(rw.steps().size(), 1u);
  EXPECT_EQ(rw.steps()[0].rule, "Fuse");
  EXPECT_THAT(rw.steps()[0].diff, ::testing::Contains("- %conv = Conv2D(%x, %x)"));
  EXPECT_THAT(rw.steps()[0].diff, ::testing::Contains("+ %relu = _FusedConv2D(%x, %x)"));
  rw.BeginStep("Nothing", "relu");
  EXPECT_FALSE(rw.EndStep());
  EXPECT_EQ(rw.steps().size(), 1u);
}

TEST(Rewriter, UseListsStayRightUnderRandomEdits) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 gen(seed);
    Graph g;
    Rewriter rw(g);
    auto pick = [&](NodeId below) {  // an earlier node, so that no cycle can arise
      std::vector<NodeId> ids;
      for (NodeId id : g.NodeIds()) {
        if (id < below) ids.push_back(id);
      }
      return ids.empty() ? kNoNode : ids[gen() % ids.size()];
    };
    for (int i = 0; i < 60; ++i) {
      const NodeId a = pick(g.end_id());
      const NodeId before = a == kNoNode ? kNoNode : pick(a);
      switch (gen() % 6) {
        case 0:
        case 1: {
          Node n;
          n.name = "n";
          n.op = "Add";
          if (a != kNoNode) n.inputs = {{a, 0}, {a, 1}};
          if (before != kNoNode) n.control_inputs = {before};
          rw.AddNode(std::move(n));
          break;
        }
        case 2:
          if (a != kNoNode && rw.uses(a).empty()) rw.Remove(a);
          break;
        case 3:
          if (before != kNoNode && !rw.node(a).inputs.empty()) rw.SetInput(a, 0, {before, 2});
          break;
        case 4:
          if (before != kNoNode) {
            rw.ReplaceAllUses({a, 0}, {before, 1});
            rw.ReplaceControlUses(a, before);
          }
          break;
        case 5:
          if (before != kNoNode) rw.SetControlInputs(a, {before});
          break;
      }
    }
    ExpectUsesRight(rw);
  }
}

TEST(Rewriter, TellsWhatChanged) {
  Graph g = Parse("%a = A()\n%b = B(%a)\n%c = C(%b)");
  Rewriter rw(g);
  const uint32_t version = rw.version(1);
  rw.SetAttr(1, "k", 3);
  EXPECT_GT(rw.version(1), version);
  EXPECT_THAT(rw.TakeTouched(), ElementsAre(1));
  EXPECT_THAT(rw.TakeTouched(), ElementsAre());
  AttrValue v = rw.TakeAttr(1, "k");
  EXPECT_EQ(v, AttrValue(3));
  EXPECT_TRUE(rw.node(1).attrs.empty());
}

TEST(Verify, FindsWhatIsWrong) {
  EXPECT_TRUE(VerifyGraph(Parse("%a = A()\n%b = B(%a:3)\nout y = %b")).ok());
  Graph missing;
  Node n;
  n.name = "n";
  n.op = "A";
  n.inputs = {{7, 0}};
  ASSERT_TRUE(missing.AddNode(n).ok());
  EXPECT_THAT(std::string(VerifyGraph(missing).message()), HasSubstr("input 0 of 'n'"));
  EXPECT_THAT(std::string(VerifyGraph(Parse("%a = A(%b)\n%b = B(%a)")).message()),
              HasSubstr("cycle"));
  const NodeCheck one_output = [](const Graph&, const Node& n) -> absl::StatusOr<int> {
    if (n.op == "Bad") return absl::InvalidArgumentError("bad op");
    return 1;
  };
  EXPECT_THAT(std::string(VerifyGraph(Parse("%a = A()\n%b = B(%a:1)"), one_output).message()),
              HasSubstr("port 1 of 'a'"));
  EXPECT_FALSE(VerifyGraph(Parse("%a = Bad()"), one_output).ok());
  EXPECT_FALSE(VerifyGraph(Parse("function f { %a = Bad() }"), one_output).ok());
  EXPECT_FALSE(VerifyGraph(Parse("%a = A() out y = %a:1"), one_output).ok());
}

TEST(Verify, NodesWithoutResultsMayBeWaitedForAndBeTargets) {
  const NodeCheck no_output = [](const Graph&, const Node&) -> absl::StatusOr<int> { return 0; };
  EXPECT_TRUE(VerifyGraph(Parse("%a = A()\n%b = B() ^%a\ntarget %b"), no_output).ok());
}

}  // namespace
}  // namespace tenon

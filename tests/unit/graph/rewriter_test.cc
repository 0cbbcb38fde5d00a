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

// By looking at every node above.
bool Depends(const Graph& g, NodeId node, NodeId from) {
  if (node == from) return true;
  const Node& n = g.node(node);
  return std::any_of(n.inputs.begin(), n.inputs.end(),
                     [&](const Endpoint& e) { return Depends(g, e.node, from); }) ||
         std::any_of(n.control_inputs.begin(), n.control_inputs.end(),
                     [&](NodeId c) { return Depends(g, c, from); });
}

TEST(Rewriter, QueriesStayRightUnderRandomEdits) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 gen(seed);
    Graph g;
    const auto pick = [&] {
      const std::vector<NodeId> ids = g.NodeIds();
      return ids[gen() % ids.size()];
    };
    const auto make = [&] {
      Node n;
      n.name = g.UniqueName("n");
      n.op = "Add";
      if (g.num_nodes() > 0) n.inputs = {{pick(), 0}, {pick(), static_cast<int>(gen() % 2)}};
      if (g.num_nodes() > 0 && gen() % 4 == 0) n.control_inputs = {pick()};
      return n;
    };
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(g.AddNode(make()).ok());
    g.AddInput({"x", 0});
    for (int i = 0; i < 6; ++i) {
      g.AddOutput({absl::StrCat("y", i), {pick(), static_cast<int>(gen() % 2)}});
    }
    g.AddTarget(pick());
    Rewriter rw(g);
    for (int edit = 0; edit < 60; ++edit) {
      const NodeId a = pick(), b = pick();
      EXPECT_EQ(rw.DependsOn(a, b), Depends(g, a, b));
      const int port = static_cast<int>(gen() % 2);
      switch (gen() % 4) {
        case 0:
          if (g.num_nodes() < 18) rw.AddNode(make());
          break;
        case 1:  // often an edge from a later node
          if (!rw.node(a).inputs.empty() && !Depends(g, b, a)) rw.SetInput(a, 1, {b, port});
          break;
        case 2:
          if (!Depends(g, b, a)) rw.ReplaceAllUses({a, port}, {b, 0});
          if (!Depends(g, b, a)) rw.ReplaceControlUses(a, b);
          break;
        case 3:
          if (rw.uses(a).empty() && !rw.IsKept(a) && g.num_nodes() > 8) rw.Remove(a);
          break;
      }
      for (NodeId id : g.NodeIds()) {
        const auto is = [&](const auto& named) { return named.source.node == id; };
        EXPECT_EQ(rw.IsKept(id), id == 0 || g.targets()[0] == id ||
                                     std::any_of(g.outputs().begin(), g.outputs().end(), is));
        for (int p = 0; p < 2; ++p) {
          const auto here = [&](const auto& o) { return o.source == Endpoint{id, p}; };
          EXPECT_EQ(rw.IsOutput({id, p}),
                    std::any_of(g.outputs().begin(), g.outputs().end(), here));
        }
      }
    }
    ExpectUsesRight(rw);
  }
}

TEST(Rewriter, DropsUsesOfATensorWithManyReaders) {
  Graph g = Parse("%x = A()\n%y = A()");
  for (int i = 0; i < 1000; ++i) {
    Node n;
    n.name = absl::StrCat("n", i);
    n.op = "B";
    n.inputs = {{0, i % 2}, {0, 0}};
    ASSERT_TRUE(g.AddNode(std::move(n)).ok());
  }
  Rewriter rw(g);
  std::mt19937 gen(7);
  for (NodeId id = 2; id < 400; ++id) rw.SetInput(id, 0, {1, 0});
  for (int i = 0; i < 300; ++i) rw.SetInput(static_cast<NodeId>(2 + gen() % 1000), 1, {1, 1});
  ExpectUsesRight(rw);
  rw.ReplaceAllUses({0, 0}, {1, 0});
  ExpectUsesRight(rw);
  EXPECT_EQ(rw.NumReaders({0, 0}), 0);
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

// Layers, scopes and places of `tenon explore`.
#include "runtime/explore/layout/layout.h"

#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/text.h"
#include "graph_rewrite/story.h"
#include "gtest/gtest.h"
#include "runtime/explore/layout/crossings.h"
#include "runtime/explore/layout/layers.h"
#include "runtime/explore/layout/scope_tree.h"
#include "runtime/explore/layout/slots.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

// ---- layers ----

void ExpectDownward(const std::vector<Edge>& edges, const Layering& layers) {
  for (const auto& [from, to] : edges) {
    EXPECT_LT(layers.layer[static_cast<size_t>(from)], layers.layer[static_cast<size_t>(to)])
        << from << " -> " << to;
  }
}

TEST(Layers, AreLongestPaths) {
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {1, 3}};
  const Layering layers = LayOutLayers(4, edges, std::vector<bool>(4));
  EXPECT_THAT(layers.layer, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(layers.order, ElementsAre(0, 0, 0, 0));
}

TEST(Layers, WhatFloatsIsAboveItsReader) {
  // 4 -> 5 -> 3: two constants in a row.
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 3}};
  std::vector<bool> floating(6);
  floating[4] = floating[5] = true;
  const Layering layers = LayOutLayers(6, edges, floating);
  EXPECT_THAT(layers.layer, ElementsAre(0, 1, 2, 3, 1, 2));
  ExpectDownward(edges, layers);
}

TEST(Layers, CyclesAndRepeatedEdgesDoNoHarm) {
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {2, 1}, {2, 2}, {0, 1}, {2, 3}};
  const Layering layers = LayOutLayers(4, edges, std::vector<bool>(4));
  EXPECT_THAT(layers.layer, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(LayOutLayers(0, {}, {}).layer, ElementsAre());
}

TEST(Layers, CrossingsAreCounted) {
  EXPECT_EQ(CountCrossings({{0, 0}, {1, 1}}), 0);
  EXPECT_EQ(CountCrossings({{0, 1}, {1, 0}}), 1);
  EXPECT_EQ(CountCrossings({{0, 2}, {1, 1}, {2, 0}}), 3);
  EXPECT_EQ(CountCrossings({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), 1);
  EXPECT_EQ(CountCrossings({}), 0);
}

TEST(Layers, ChainsSideBySideDoNotCross) {
  // Three chains, whose vertices come in another order in each layer.
  std::vector<Edge> edges;
  const int orders[4][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
  for (int layer = 0; layer + 1 < 4; ++layer) {
    for (int chain = 0; chain < 3; ++chain) {
      edges.emplace_back(3 * layer + orders[layer][chain],
                         3 * (layer + 1) + orders[layer + 1][chain]);
    }
  }
  const Layering layers = LayOutLayers(12, edges, std::vector<bool>(12));
  EXPECT_EQ(layers.crossings, 0);
  ExpectDownward(edges, layers);
}

TEST(Layers, ComponentsAreStrong) {
  const std::vector<int> c =
      StrongComponents(6, std::vector<Edge>{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 3}});
  EXPECT_EQ(c[0], c[1]);
  EXPECT_EQ(c[0], c[2]);
  EXPECT_EQ(c[3], c[4]);
  EXPECT_NE(c[0], c[3]);
  EXPECT_NE(c[5], c[3]);
}

// ---- scopes ----

std::vector<std::string> ScopeNames(const ScopeTree& tree) {
  std::vector<std::string> names;
  for (const ScopeTree::Scope& s : tree.scopes) names.push_back(s.name);
  return names;
}

TEST(ScopeTree, HoldsThreeOrMore) {
  const ScopeTree tree =
      ScopesByName({"a/x", "a/y", "b/c/x", "b/c/y", "b/c/z", "b/d/x", "b/d/y", "b/d/z", "e"});
  EXPECT_THAT(ScopeNames(tree), ElementsAre("b", "b/c", "b/d"));
  EXPECT_THAT(tree.scope_of, ElementsAre(-1, -1, 1, 1, 1, 2, 2, 2, -1));
  EXPECT_EQ(tree.scopes[1].label, "c");
  EXPECT_EQ(tree.scopes[1].parent, 0);
  EXPECT_EQ(tree.DepthOf(1), 2);
}

TEST(ScopeTree, ChainsAreOneScope) {
  const ScopeTree tree = ScopesByName({"a/b/c/x", "a/b/c/y", "a/b/c/z", "d"});
  EXPECT_THAT(ScopeNames(tree), ElementsAre("a/b/c"));
  EXPECT_EQ(tree.scopes[0].label, "a/b/c");
}

TEST(ScopeTree, NumberedNamesAreBlocks) {
  const ScopeTree tree =
      ScopesByName({"conv2_block1_1_conv/Conv2D", "conv2_block1_1_conv/w", "conv2_block1_add/add",
                    "conv2_block2_add/add", "conv2_block2_1_conv/Conv2D", "conv2_block2_out/Relu",
                    "conv2d_1/Conv2D", "conv2d_2/Conv2D", "conv2d_3/Conv2D"});
  EXPECT_THAT(ScopeNames(tree), ElementsAre("conv2", "conv2_block1", "conv2_block2"));
  EXPECT_EQ(tree.scopes[1].label, "block1");
}

TEST(ScopeTree, HostileNames) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "a/";
  const ScopeTree tree =
      ScopesByName({deep + "x", deep + "y", deep + "z", "", "/", "//", "1_", "_1_"});
  EXPECT_EQ(tree.scope_of.size(), 8u);
  EXPECT_LE(tree.scopes.size(), 1u);
}

// ---- layouts ----

absl::StatusOr<Story> StoryOf(absl::string_view text) {
  static const Flags* const flags = new Flags;
  static const Services* const services = new Services{.flags = flags, .threads = 1};
  RewriteOptions options;
  options.services = services;
  options.precision = Precision::kFloat;
  TENON_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text));
  TENON_RETURN_IF_ERROR(testing::CompleteGraph(graph));
  StoryOptions wanted;
  wanted.near_misses = false;
  return TellStory(graph, options, wanted);
}

std::string Block(const std::string& name, const std::string& input) {
  return absl::StrCat("%", name, "/w = Const() {value=float<3,3,4,4>{random 1}}\n%", name,
                      "/b = Const() {value=float<4>{random 2}}\n%", name, "/conv = Conv2D(%", input,
                      ", %", name, "/w) {strides=[1, 1, 1, 1], padding=\"SAME\"}\n%", name,
                      "/biased = BiasAdd(%", name, "/conv, %", name, "/b)\n%", name,
                      "/relu = Relu(%", name, "/biased)\n");
}

std::string Chain(int blocks) {
  std::string text = "in x = %x\n%x = Placeholder() {shape=<1,5,6,4>}\n", last = "x";
  for (int i = 0; i < blocks; ++i) {
    const std::string name = absl::StrCat("layer_", i);
    absl::StrAppend(&text, Block(name, last));
    last = name + "/relu";
  }
  return absl::StrCat(text, "out y = %", last, "\n");
}

struct Placed {
  explicit Placed(const Story& story, const std::string& prefix = "")
      : layout(LayOut(story, prefix)) {
    for (const Layout::Place& p : layout.nodes) place[p.node] = p;
  }
  // Positions from the outermost scope to the node.
  std::vector<std::pair<int, int>> Path(NodeId id) const {
    const Layout::Place& p = place.at(id);
    std::vector<std::pair<int, int>> path = {{p.layer, p.order}};
    for (int s = p.scope; s >= 0; s = layout.scopes[static_cast<size_t>(s)].parent) {
      const Layout::Scope& scope = layout.scopes[static_cast<size_t>(s)];
      path.insert(path.begin(), {scope.layer, scope.order});
    }
    return path;
  }
  Layout layout;
  std::map<NodeId, Layout::Place> place;
};

// Edges of the graph lead downward in the innermost scope that holds both ends, and no two of its
// nodes are in one place.
void ExpectDrawable(const Graph& graph, const Placed& placed) {
  std::set<std::vector<std::pair<int, int>>> taken;
  for (NodeId id : graph.NodeIds()) {
    ASSERT_TRUE(placed.place.contains(id)) << graph.node(id).name;
    EXPECT_TRUE(taken.insert(placed.Path(id)).second) << graph.node(id).name;
    for (const Endpoint& e : graph.node(id).inputs) {
      const auto from = placed.Path(e.node), to = placed.Path(id);
      size_t i = 0;
      while (i + 1 < std::min(from.size(), to.size()) && from[i] == to[i]) ++i;
      EXPECT_LT(from[i].first, to[i].first)
          << graph.node(e.node).name << " -> " << graph.node(id).name;
    }
  }
}

TEST(Layout, BlocksAreScopes) {
  const auto story = StoryOf(Chain(3));
  ASSERT_TRUE(story.ok()) << story.status();
  const Placed placed(*story);
  ASSERT_EQ(placed.layout.scopes.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(placed.layout.scopes[i].name, absl::StrCat("layer_", i));
    EXPECT_EQ(placed.layout.scopes[i].layer, static_cast<int>(i) + 1);  // below the input
  }
}

TEST(Layout, EdgesLeadDownInEveryPhase) {
  const auto story = StoryOf(Chain(4));
  ASSERT_TRUE(story.ok()) << story.status();
  const Placed placed(*story);
  ASSERT_GT(story->report.Fired("FuseConv2D"), 0);
  for (const Story::Snapshot& s : story->snapshots) {
    SCOPED_TRACE(s.name);
    ExpectDrawable(s.graph, placed);
  }
}

// What became of a node is where the last one was that it replaced, and what stayed did not move.
TEST(Layout, FusedNodesStayWhereTheyWere) {
  const auto story = StoryOf(Chain(2));
  ASSERT_TRUE(story.ok()) << story.status();
  const Placed placed(*story);
  const Node* before = story->loaded().FindNode("layer_1/relu");
  const Node* after = story->rewritten().FindNode("layer_1/relu");
  ASSERT_NE(before, nullptr);
  ASSERT_NE(after, nullptr);
  EXPECT_NE(before->op, after->op);
  EXPECT_EQ(placed.Path(before->id), placed.Path(after->id));
}

TEST(Layout, ConstantsAreAboveTheirReaders) {
  const auto story = StoryOf(Chain(2));
  ASSERT_TRUE(story.ok()) << story.status();
  const Placed placed(*story);
  const Graph& g = story->loaded();
  for (const char* name : {"layer_1/w", "layer_1/b"}) {
    const Layout::Place& constant = placed.place.at(g.FindNode(name)->id);
    const char* const reader = name[8] == 'w' ? "layer_1/conv" : "layer_1/biased";
    const Layout::Place& reads = placed.place.at(g.FindNode(reader)->id);
    EXPECT_EQ(constant.scope, reads.scope);
    EXPECT_EQ(constant.layer, reads.layer - 1);
  }
}

// "a" would have to be above "b" and below it, whatever becomes of one of them.
TEST(Layout, InterlacedScopesAreDissolved) {
  const auto story = StoryOf(R"(
    in x = %x
    %x = Placeholder() {shape=<1,4>}
    %a/1 = Exp(%x) %a/2 = Exp(%a/1) %b/1 = Exp(%a/2) %b/2 = Exp(%b/1)
    %a/3 = Exp(%b/2) %a/4 = Exp(%a/3) %b/3 = Exp(%a/2)
    out y = %a/4 out z = %b/3
  )");
  ASSERT_TRUE(story.ok()) << story.status();
  const Placed placed(*story);
  EXPECT_TRUE(placed.layout.scopes.empty());
  ExpectDrawable(story->loaded(), placed);
}

// Some of "b" is above "a", and the rest below it: without "b", "a" is a block.
TEST(Layout, TheLargerOfTwoScopesStays) {
  const auto story = StoryOf(R"(
    in x = %x
    %x = Placeholder() {shape=<1,4>}
    %b/1 = Exp(%x) %a/1 = Exp(%b/1) %a/2 = Exp(%a/1) %a/3 = Exp(%a/2) %a/4 = Exp(%a/3)
    %b/2 = Exp(%a/4) %b/3 = Exp(%b/2)
    out y = %b/3
  )");
  ASSERT_TRUE(story.ok()) << story.status();
  const Placed placed(*story);
  ASSERT_EQ(placed.layout.scopes.size(), 1u);
  EXPECT_EQ(placed.layout.scopes[0].name, "a");
  EXPECT_EQ(placed.layout.scopes[0].layer, 2);
  ExpectDrawable(story->loaded(), placed);
}

TEST(Layout, IsDeterministic) {
  const auto story = StoryOf(Chain(5)), again = StoryOf(Chain(5));
  ASSERT_TRUE(story.ok() && again.ok());
  const Placed a(*story), b(*again);
  ASSERT_EQ(a.place.size(), b.place.size());
  for (const auto& [id, place] : a.place) EXPECT_EQ(a.Path(id), b.Path(id));
}

// Layers of the given width, each node of which reads two of the layer above.
std::string Wide(int layers, int width) {
  std::string text = "in x = %x\n%x = Placeholder() {shape=<1,4>}\n";
  for (int l = 0; l < layers; ++l) {
    for (int i = 0; i < width; ++i) {
      const auto above = [&](int j) {
        return l == 0 ? std::string("x") : absl::StrCat("l", l - 1, "/n", j % width);
      };
      absl::StrAppend(&text, "%l", l, "/n", i, " = Sub(%", above(i), ", %", above(i * 7 + 1),
                      ")\n");
    }
  }
  for (int i = 0; i < width; ++i) {
    absl::StrAppend(&text, "out y", i, " = %l", layers - 1, "/n", i, "\n");
  }
  return text;
}

// Ten times the nodes: about ten times the work.
TEST(Layout, WorkGrowsWithTheGraph) {
  const auto visits = [](const std::string& text) {
    const auto story = StoryOf(text);
    EXPECT_TRUE(story.ok()) << story.status();
    return story.ok() ? LayOut(*story, "").visits : 0;
  };
  EXPECT_LT(visits(Wide(200, 10)), 12 * visits(Wide(20, 10)));
  EXPECT_LT(visits(Wide(10, 200)), 12 * visits(Wide(10, 20)));
  EXPECT_LT(visits(Chain(400)), 12 * visits(Chain(40)));
  // One tensor that all read: long edges do not become chains of points without end.
  const auto star = [](int nodes) {
    std::string text = "in x = %x\n%x = Placeholder() {shape=<1,4>}\n", last = "x";
    for (int i = 0; i < nodes; ++i) {
      absl::StrAppend(&text, "%n", i, "x = Sub(%", last, ", %x)\n");
      last = absl::StrCat("n", i, "x");
    }
    return absl::StrCat(text, "out y = %", last, "\n");
  };
  EXPECT_LT(visits(star(2000)), 12 * visits(star(200)));
}

}  // namespace
}  // namespace tenon

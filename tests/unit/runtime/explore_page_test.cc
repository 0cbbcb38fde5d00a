// The page of `tenon explore`, its data, and comparisons.
#include "runtime/explore/explore_page.h"

#include <zlib.h>

#include <cstring>
#include <numeric>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "runtime/explore/comparison.h"
#include "runtime/explore/model_explorer.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

Model ModelOf(absl::string_view text) {
  Model model;
  model.source = "models/two/saved_model";
  auto g = ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  EXPECT_TRUE(testing::CompleteGraph(*g).ok());
  model.graph = *std::move(g);
  return model;
}

constexpr char kProducts[] = R"(
  in x = %x
  %x = Placeholder() {shape=<4,256>}
  %w = Const() {value=float<256,128>{random 1}}
  %b = Const() {value=float<128>{random 2}}
  %p = MatMul(%x, %w)
  %s = BiasAdd(%p, %b)
  %y = Relu(%s)
  %z = Softmax(%y)
  out z = %z
)";

Exploration ExploreText(const Model& model, const std::string& disabled = "", double seconds = 0) {
  SessionOptions options;
  options.flags = Flags();
  options.flags->disabled_rules = disabled;
  options.threads = 1;
  options.precision = Precision::kFloat;
  ExploreOptions wanted;
  wanted.seconds = seconds;
  wanted.weights = true;
  wanted.inputs = [](const Session& session) -> absl::StatusOr<std::vector<Tensor>> {
    std::vector<Tensor> out;
    for (const TensorInfo& in : session.inputs()) {
      TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(in.dtype, in.shape));
      std::memset(t.raw(), 0, t.bytes());
      out.push_back(std::move(t));
    }
    return out;
  };
  auto e = Explore(model, options, wanted);
  EXPECT_TRUE(e.ok()) << e.status();
  return e.ok() ? *std::move(e) : Exploration();
}

std::string Gunzip(const std::string& packed) {
  std::string text(64 << 20, '\0');
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

// The data of a page.
Json DataOf(const std::string& page) {
  constexpr absl::string_view kBegin = "id=\"tenon-data\">";
  const size_t begin = absl::string_view(page).find(kBegin);
  if (begin == std::string::npos) return nullptr;
  const size_t end = page.find('<', begin + kBegin.size());
  std::string packed;
  EXPECT_TRUE(absl::Base64Unescape(
      absl::string_view(page).substr(begin + kBegin.size(), end - begin - kBegin.size()), &packed));
  EXPECT_TRUE(absl::StartsWith(absl::string_view(page).substr(end), "</script>"));
  return Json::parse(Gunzip(packed));
}

TEST(ExplorePage, HoldsItsData) {
  const Model model = ModelOf(kProducts);
  const Exploration e = ExploreText(model, "", 0.01);
  ASSERT_TRUE(e.planning.ok()) << e.planning;
  const auto page = ExplorePage(ExplorePageJson(std::vector<ExploredModel>{{&model, &e, {}}}));
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(*page, ::testing::Not(HasSubstr("@@TENON_EXPLORE_DATA@@")));
  const Json data = DataOf(*page);
  EXPECT_EQ(data["schema"], "tenon.explore.page");
  EXPECT_EQ(data["models"].size(), 1u);
  EXPECT_TRUE(data["comparison"].is_null());
  EXPECT_EQ(data["models"][0]["title"], "two");
  const Json& report = data["models"][0]["report"];
  EXPECT_EQ(report["schema"], "tenon.explore");
  EXPECT_EQ(report["timeline"]["events"].size(), report["steps"].size());
  const Json& nodes = data["models"][0]["layout"]["nodes"];
  EXPECT_EQ(nodes["id"].size(), nodes["layer"].size());
  EXPECT_EQ(nodes["id"].size(), nodes["scope"].size());
  EXPECT_EQ(nodes["id"].size(), nodes["order"].size());
}

TEST(ExplorePage, NamesCannotBreakOut) {
  const std::string names[] = {"</script><script>alert(1)</script>", std::string(10000, 'x'),
                               "\u202eright to left", "\xff\xfe not UTF-8",
                               "@@TENON_EXPLORE_DATA@@"};
  Model model;
  Node in;
  in.name = "in";
  in.op = "Placeholder";
  in.attrs["dtype"] = DType::kFloat;
  in.attrs["shape"] = Shape({4});
  NodeId last = *model.graph.AddNode(in);
  model.graph.AddInput({"in", last});
  for (const std::string& name : names) {
    Node n;
    n.name = name;
    n.op = "Exp";
    n.attrs["T"] = DType::kFloat;
    n.inputs = {{last, 0}};
    last = *model.graph.AddNode(n);
  }
  model.graph.AddOutput({"y", {last, 0}});
  const Exploration e = ExploreText(model);
  const auto page = ExplorePage(ExplorePageJson(std::vector<ExploredModel>{{&model, &e, {}}}));
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(*page, ::testing::Not(HasSubstr("alert(1)")));
  const Json data = DataOf(*page);
  std::vector<std::string> found;
  for (const Json& n : data["models"][0]["report"]["loaded"]) found.push_back(n["name"]);
  EXPECT_THAT(found, Contains(names[0]));
  EXPECT_THAT(found, Contains(names[1]));
  EXPECT_THAT(found, Contains(names[2]));
  EXPECT_THAT(found, Contains("\ufffd\ufffd not UTF-8"));
  EXPECT_THAT(found, Contains(names[4]));
}

TEST(ExplorePage, Titles) {
  const auto title = [](const char* source) {
    Model model;
    model.source = source;
    return TitleOf(model);
  };
  EXPECT_EQ(title("models/resnet50/saved_model"), "resnet50");
  EXPECT_EQ(title("models/resnet50/saved_model/"), "resnet50");
  EXPECT_EQ(title("models/resnet50"), "resnet50");
  EXPECT_EQ(title("frozen.pb"), "frozen");
  EXPECT_EQ(title("a/b.pbtxt"), "b");
  EXPECT_EQ(title("saved_model"), "saved_model");
  EXPECT_EQ(title("./saved_model"), "saved_model");
  EXPECT_EQ(title(""), "model");
  EXPECT_EQ(title(".."), "model");
}

std::vector<Mark> MarksOf(const OrderedMap<NodeId, std::vector<Mark>>& marks, const Exploration& e,
                          const char* name) {
  const Node* const node = e.graph().FindNode(name);
  EXPECT_NE(node, nullptr) << name;
  const auto it = node == nullptr ? marks.end() : marks.find(node->id);
  return it == marks.end() ? std::vector<Mark>() : it->second;
}

TEST(Comparison, OfTheSameIsEmpty) {
  const Model model = ModelOf(kProducts);
  const Exploration a = ExploreText(model), b = ExploreText(model);
  const Comparison c = Compare(a, "a", b, "b");
  EXPECT_EQ(c.pairs.size(), 2u);  // the product and the softmax
  EXPECT_TRUE(c.of_a.empty());
  EXPECT_TRUE(c.of_b.empty());
  EXPECT_TRUE(c.rows.empty());
}

TEST(Comparison, FindsWhatIsNoLongerFused) {
  const Model model = ModelOf(kProducts);
  const Exploration a = ExploreText(model), b = ExploreText(model, "FuseMatMul");
  const Comparison c = Compare(a, "fused", b, "apart");
  EXPECT_THAT(MarksOf(c.of_a, a, "y"), Contains(Mark::kFused));
  for (const char* name : {"p", "y"}) {  // the elementwise ops become one node, y
    EXPECT_THAT(MarksOf(c.of_b, b, name), Contains(Mark::kUnfused)) << name;
  }
  EXPECT_THAT(MarksOf(c.of_b, b, "z"), ElementsAre());
  EXPECT_FALSE(c.rows.empty());
  // And the other way round.
  const Comparison back = Compare(b, "apart", a, "fused");
  EXPECT_THAT(MarksOf(back.of_b, a, "y"), Contains(Mark::kFused));
}

TEST(Comparison, FindsWhatIsNewOrSlower) {
  const Model model = ModelOf(kProducts);
  const Model more = ModelOf(std::string(kProducts) + "%n = Exp(%z) out n = %n");
  Exploration a = ExploreText(model), b = ExploreText(more);
  for (Exploration* e : {&a, &b}) {
    e->runs = 1;
    for (ExploredStep& s : e->steps) s.ms = s.info.node == "z" && e == &b ? 3 : 1;
    e->total_ms = 10;
  }
  const Comparison c = Compare(a, "a", b, "b");
  EXPECT_THAT(MarksOf(c.of_b, b, "n"), ElementsAre(Mark::kNew));
  EXPECT_THAT(MarksOf(c.of_b, b, "z"), ElementsAre(Mark::kSlower));
  EXPECT_THAT(MarksOf(c.of_a, a, "z"), ElementsAre(Mark::kFaster));
  ASSERT_FALSE(c.rows.empty());
  EXPECT_EQ(c.rows[0].b, b.graph().FindNode("z")->id);
  EXPECT_THAT(c.rows[0].marks, ElementsAre(Mark::kSlower));
  EXPECT_THAT(c.rows[0].text, HasSubstr("'z'"));
}

TEST(WeightStats, AreThoseOfTheElements) {
  auto g = ParseGraph(R"(
    %a = Const() {value=float<16>{1, -2, 0, 0, inf, nan, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}}
    %b = Const() {value=int32<20>{= 7}}
    %c = Const() {value=float<3>{1, 2, 3}}
    %d = Const() {value=float<16>{= nan}}
    out a = %a
  )");
  ASSERT_TRUE(g.ok()) << g.status();
  const std::vector<WeightStats> stats = StatsOfWeights(*g);
  ASSERT_EQ(stats.size(), 3u);
  EXPECT_EQ(stats[0].min, -2);
  EXPECT_EQ(stats[0].max, 3);
  EXPECT_DOUBLE_EQ(stats[0].mean, 11.0 / 14);
  EXPECT_EQ(stats[0].zeros, 2);
  EXPECT_EQ(stats[0].nonfinite, 2);
  EXPECT_EQ(std::accumulate(stats[0].histogram.begin(), stats[0].histogram.end(), int64_t{0}), 14);
  EXPECT_EQ(stats[0].histogram.front(), 1);
  EXPECT_EQ(stats[0].histogram.back(), 1);
  EXPECT_EQ(stats[1].mean, 7);
  EXPECT_EQ(stats[1].stddev, 0);
  EXPECT_EQ(stats[2].finite, 0);
}

TEST(ModelExplorer, HasNodesWithEdges) {
  const Model model = ModelOf(kProducts);
  const Exploration e = ExploreText(model);
  const Json json = ModelExplorerJson(std::vector<ExploredModel>{{&model, &e, {}}});
  EXPECT_EQ(json["label"], "two");
  ASSERT_EQ(json["graphs"].size(), 2u);
  for (const Json& graph : json["graphs"]) {
    std::set<std::string> ids;
    for (const Json& n : graph["nodes"]) EXPECT_TRUE(ids.insert(n["id"]).second);
    for (const Json& n : graph["nodes"]) {
      for (const Json& edge : n["incomingEdges"]) {
        EXPECT_TRUE(ids.contains(edge["sourceNodeId"])) << edge;
      }
    }
  }
}

TEST(PlanDetails, SayWhyAKernelRefused) {
  // Sums over axes that are not adjacent.
  const Model model = ModelOf(R"(
    in x = %x
    %x = Placeholder() {shape=<3,4,5,6>}
    %axes = Const() {value=int32<2>{0, 2}}
    %y = Sum(%x, %axes) {keep_dims=false}
    out y = %y
  )");
  const Exploration e = ExploreText(model);
  ASSERT_EQ(e.steps.size(), 1u);
  ASSERT_FALSE(e.steps[0].info.accelerated) << "choose another kernel for this test";
  const Reason why = e.WhyReference(e.steps[0]);
  EXPECT_EQ(why.kind, ReasonKind::kKernelRefused);
  EXPECT_THAT(why.Text(), HasSubstr("not adjacent"));
  EXPECT_THAT(why.change, HasSubstr("transpose"));
}

TEST(PlanDetails, KnowShapes) {
  const Model model = ModelOf(kProducts);
  const Exploration e = ExploreText(model);
  const NodeId z = e.graph().FindNode("z")->id;
  ASSERT_GT(e.details.outputs.size(), static_cast<size_t>(z));
  ASSERT_EQ(e.details.outputs[static_cast<size_t>(z)].size(), 1u);
  EXPECT_EQ(e.details.outputs[static_cast<size_t>(z)][0].shape, Shape({4, 128}));
}

}  // namespace
}  // namespace tenon

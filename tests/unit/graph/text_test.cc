#include "graph/text.h"

#include <cmath>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

Graph Parse(absl::string_view text) {
  auto g = ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  return g.ok() ? *std::move(g) : Graph();
}

void ExpectRoundTrip(const Graph& g) {
  const std::string text = PrintGraph(g);
  auto back = ParseGraph(text);
  ASSERT_TRUE(back.ok()) << back.status() << "\n" << text;
  EXPECT_EQ(GraphDifference(g, *back), "") << text;
  EXPECT_EQ(PrintGraph(*back), text);
}

TEST(Text, ReadsTheFormOfTheHeader) {
  const Graph g = Parse(R"(
    in image = %x   # a comment
    %x = Placeholder() {dtype=float, shape=<?,8,8,3>}
    %init = NoOp()
    %conv = Conv2D(%x, %w) {T=float, strides=[1, 2, 2, 1], padding="SAME"} on "/cpu:0" ^%init
    %w = Const() {dtype=float, value=float<2,2>{1, 2.5, -inf, 4}}
    out probs = %conv:1
    target %init
    function "body" { in a = %a  %a = Placeholder() out r = %a }
  )");
  ASSERT_EQ(g.num_nodes(), 4u);
  const Node* conv = g.FindNode("conv");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->device, "/cpu:0");
  EXPECT_EQ(conv->control_inputs.size(), 1u);
  EXPECT_EQ(*conv->attr<std::vector<int64_t>>("strides"), std::vector<int64_t>({1, 2, 2, 1}));
  EXPECT_EQ(*g.FindNode("x")->attr<Shape>("shape"), Shape({-1, 8, 8, 3}));
  EXPECT_EQ(g.outputs()[0].source.port, 1);
  EXPECT_EQ(g.functions().at("body")->inputs()[0].name, "a");
  EXPECT_EQ(g.FindNode("w")->attr<Tensor>("value")->data<float>()[2],
            -std::numeric_limits<float>::infinity());
  ExpectRoundTrip(g);
}

TEST(Text, SmallNumbers) {
  const Graph g = Parse(R"(
    %a = Const() {dtype=float8_e5m2, value=float8_e5m2<4>{1, -1.75, inf, 57344}}
    %b = Const() {dtype=float8_e4m3fn, value=float8_e4m3fn<2>{448, -0}}
    %c = Const() {dtype=int4, value=int4<2>{-8, 7}}
    %d = Const() {dtype=uint4, value=uint4<2>{0, 15}}
  )");
  EXPECT_EQ(g.FindNode("a")->attr<Tensor>("value")->data<uint8_t>()[1], 0xBF);
  EXPECT_EQ(g.FindNode("b")->attr<Tensor>("value")->data<uint8_t>()[0], 0x7E);
  ExpectRoundTrip(g);
}

TEST(Text, KeepsEveryKindOfAttribute) {
  Graph g;
  Node n;
  n.name = "a b\"\n\xff%";
  n.op = "weird op";
  auto nested = std::make_shared<AttrMap>();
  (*nested)["T"] = DType::kHalf;
  (*nested)["f"] = FuncRef{"inner", nullptr};
  n.attrs["none"] = AttrValue();
  n.attrs["int"] = int64_t{-5};
  n.attrs["float"] = 1.0f;
  n.attrs["tiny"] = std::numeric_limits<float>::denorm_min();
  n.attrs["big"] = 3.4e38f;
  n.attrs["inf"] = -std::numeric_limits<float>::infinity();
  n.attrs["bool"] = true;
  n.attrs["string"] = std::string("a\0b", 3);
  n.attrs["type"] = DType::kBfloat16;
  n.attrs["odd type"] = static_cast<DType>(101);
  n.attrs["shape"] = Shape({2, -1});
  n.attrs["scalar"] = Shape();
  n.attrs["any"] = Shape::Unknown();
  n.attrs["func"] = FuncRef{"f g", nested};
  n.attrs["ints"] = std::vector<int64_t>{1, 2};
  n.attrs["floats"] = std::vector<float>{1, 0.1f};
  n.attrs["bools"] = std::vector<bool>{true, false};
  n.attrs["strings"] = std::vector<std::string>{"", "]"};
  n.attrs["types"] = std::vector<DType>{DType::kInt32, DType::kString};
  n.attrs["shapes"] = std::vector<Shape>{Shape::Unknown(), Shape({1})};
  n.attrs["tensors"] = std::vector<Tensor>{Tensor::Scalar<float>(1), Tensor::Vector<int64_t>({})};
  n.attrs["funcs"] = std::vector<FuncRef>{FuncRef{"f", nullptr}};
  n.attrs["e1"] = std::vector<int64_t>{};
  n.attrs["e2"] = std::vector<float>{};
  n.attrs["e3"] = std::vector<bool>{};
  n.attrs["e4"] = std::vector<std::string>{};
  n.attrs["e5"] = std::vector<DType>{};
  n.attrs["e6"] = std::vector<Shape>{};
  n.attrs["e7"] = std::vector<Tensor>{};
  n.attrs["e8"] = std::vector<FuncRef>{};
  n.attrs["strings tensor"] = Tensor::Vector<std::string>({"x", "y\"z"});
  n.attrs["no tensor"] = Tensor();
  n.attrs["complex"] = Tensor::Vector<std::complex<float>>({{1, -2}, {0.5f, 3}});
  const Node original = n;
  ASSERT_TRUE(g.AddNode(std::move(n)).ok());
  ExpectRoundTrip(g);
  const Graph back = Parse(PrintGraph(g));
  for (const auto& [name, value] : original.attrs) {
    if (name == "no tensor") continue;  // Identical() does not compare two invalid tensors
    EXPECT_EQ(back.node(0).attrs.at(name), value) << name;
  }
}

// Every bit pattern of the small floats, and random ones of the large, survive a round trip.
TEST(Text, KeepsTheBitsOfTensors) {
  std::mt19937_64 gen(7);
  for (DType dtype :
       {DType::kFloat, DType::kDouble, DType::kInt32, DType::kUint8, DType::kInt16, DType::kInt8,
        DType::kInt64, DType::kQint8, DType::kQuint8, DType::kQint32, DType::kBfloat16,
        DType::kUint16, DType::kHalf, DType::kUint32, DType::kUint64, DType::kComplex64,
        DType::kComplex128, DType::kQint16, DType::kQuint16}) {
    Tensor t = *Tensor::Allocate(dtype, Shape({4, 2000}));
    for (size_t i = 0; i < t.bytes(); ++i) t.data<uint8_t>()[i] = static_cast<uint8_t>(gen());
    Graph g;
    Node n;
    n.name = "c";
    n.op = "Const";
    n.attrs["value"] = t;
    ASSERT_TRUE(g.AddNode(std::move(n)).ok());
    const Graph back = Parse(PrintGraph(g));
    ASSERT_EQ(back.num_nodes(), 1u) << Name(dtype);
    EXPECT_TRUE(Identical(*back.node(0).attr<Tensor>("value"), t)) << Name(dtype);
  }
}

TEST(Text, RoundTripsRandomGraphs) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 gen(seed);
    Graph g;
    const int count = 1 + static_cast<int>(gen() % 12);
    for (int i = 0; i < count; ++i) {
      Node n;
      n.name = absl::StrCat(gen() % 3 == 0 ? "odd name \t" : "n/", i);
      n.op = gen() % 5 == 0 ? "Op>V2" : "Add";
      if (gen() % 6 == 0) n.device = "/job:x";
      for (uint32_t k = gen() % 3; i > 0 && k > 0; --k) {
        n.inputs.push_back(
            {static_cast<NodeId>(gen() % static_cast<uint32_t>(i)), static_cast<int>(gen() % 3)});
      }
      if (i > 0 && gen() % 4 == 0) {
        n.control_inputs.push_back(static_cast<NodeId>(gen() % static_cast<uint32_t>(i)));
      }
      if (gen() % 2) n.attrs["i"] = static_cast<int64_t>(gen()) - (int64_t{1} << 31);
      if (gen() % 2) n.attrs["f"] = std::ldexp(static_cast<float>(gen()), int(gen() % 200) - 120);
      if (gen() % 3 == 0) {
        Tensor t = *Tensor::Allocate(DType::kFloat, Shape({int64_t(gen() % 3), 3}));
        for (float& v : t.flat<float>()) v = gen() % 2 ? 1.5f : static_cast<float>(gen()) * 1e-7f;
        n.attrs["value"] = t;
      }
      ASSERT_TRUE(g.AddNode(std::move(n)).ok());
    }
    g.AddOutput({"out put", {0, 1}});
    g.AddInput({"x", 0});
    ExpectRoundTrip(g);
  }
}

TEST(Text, ElidesLargeTensorsForPeopleOnly) {
  const Graph g = Parse("%w = Const() {value=float<100>{random 3}}");
  const std::string text = PrintGraph(g, {.max_elements = 8});
  EXPECT_THAT(text, HasSubstr("float<100>{...}"));
  EXPECT_FALSE(ParseGraph(text).ok());
}

TEST(Text, ErrorsCarryTheLine) {
  EXPECT_THAT(std::string(ParseGraph("%a = A()\n%b = B(%c)").status().message()),
              HasSubstr("line 2: no node is named %c"));
  EXPECT_THAT(std::string(ParseGraph("%a = A()\n\n%a = B()").status().message()),
              HasSubstr("line 3"));
  EXPECT_THAT(std::string(ParseGraph("%a = A() {x=float<3>{1, 2}}").status().message()),
              HasSubstr("line 1: a tensor of shape [3] has 2 elements"));
}

// Truncated or changed text gives a graph or an error, nothing else.
TEST(Text, SurvivesDamagedText) {
  const std::string text =
      "in x = %x\n%x = Placeholder() {dtype=float, shape=<?,8>, f=@g{a=[1.0, 2.5]}}\n"
      "%\"w w\" = Const() {value=float<2,2>{1, -inf, nan, 4}, s=string<1>{\"q\\x00\"}}\n"
      "%y = MatMul(%x:0, %\"w w\") {l=[:string], t=float, r=float<9>{random 1 0 1}} on \"d\" ^%x\n"
      "out y = %y:1\nfunction f { %a = A() }\ntarget %y\n";
  ASSERT_TRUE(ParseGraph(text).ok()) << ParseGraph(text).status();
  const ParseOptions small{.pattern = false, .max_generated_bytes = 1 << 16};
  for (size_t cut = 0; cut < text.size(); ++cut) {
    (void)ParseGraph(text.substr(0, cut), small);
    for (char c : {'\0', '"', '{', '}', '9', '<', '[', '%', '\xff', ':'}) {
      std::string damaged = text;
      damaged[cut] = c;
      (void)ParseGraph(damaged, small);
    }
  }
  std::string deep = "%a = A() {f=";
  for (int i = 0; i < 100000; ++i) deep += "[";
  EXPECT_FALSE(ParseGraph(deep).ok());
  EXPECT_FALSE(ParseGraph("%a = A() {f=float<99999999999>{= 1}}").ok());
  EXPECT_FALSE(ParseGraph("%a = A() {f=float<9223372036854775807,9>{= 1}}").ok());
}

TEST(Text, PatternsHaveCapturesAndLiterals) {
  auto g = ParseGraph("%y = Mul|RealDiv(%x, 0.5)", {.pattern = true});
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(g->FindNode("x")->op, "_Capture");
  EXPECT_EQ(g->FindNode("y")->op, "Mul|RealDiv");
  EXPECT_EQ(g->node(g->FindNode("y")->inputs[1].node).attr<Tensor>("value")->data<float>()[0],
            0.5f);
}

}  // namespace
}  // namespace tenon

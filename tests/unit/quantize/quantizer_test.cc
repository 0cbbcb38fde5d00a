// What the quantizer leaves as it is.
#include "runtime/quantize/quantizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

Graph Parsed(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(testing::CompleteGraph(*graph).ok());
  return *std::move(graph);
}

std::vector<NamedTensor> Outputs(const Graph& graph, const std::vector<NamedTensor>& inputs) {
  auto session = Session::Create(graph, SessionOptions());
  EXPECT_TRUE(session.ok()) << session.status();
  auto outputs = (*session)->Run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return *std::move(outputs);
}

// 16 rows; column 0 has whole numbers up to 1,000.
Tensor Rows() {
  Tensor x = *Tensor::Allocate(DType::kFloat, Shape({16, 4}));
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = i % 4 == 0 ? static_cast<float>(i * 997 % 1001) : 0.1f * (i % 7);
  }
  return x;
}

// An index in a column of a layer's input, a comparison and a rounded number.
TEST(Quantize, WholeNumbersStayExact) {
  const Graph graph = Parsed(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,3>{random 1 -1 1}}
%y = MatMul(%x, %w)
%begin = Const() {value=int32<2>{0, 0}}
%end = Const() {value=int32<2>{0, 1}}
%step = Const() {value=int32<2>{1, 1}}
%column = StridedSlice(%x, %begin, %end, %step) {begin_mask=1, end_mask=1, shrink_axis_mask=2}
%id = Cast(%column) {SrcT=float, DstT=int32}
%limit = Const() {value=float<>{500}}
%large = Greater(%x, %limit)
%whole = Rint(%x)
in x = %x
out y = %y
out id = %id
out large = %large
out whole = %whole
)");
  const std::vector<NamedTensor> inputs = {{"x", Rows()}};
  auto quantized = Quantize(graph, inputs, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  EXPECT_EQ(quantized->report.layers.at(0).kept, "");
  const auto want = Outputs(graph, inputs), got = Outputs(quantized->graph, inputs);
  for (size_t i = 1; i < want.size(); ++i) {
    EXPECT_TRUE(Identical(want[i].second, got[i].second)) << want[i].first;
  }
  EXPECT_FALSE(Identical(want[0].second, got[0].second));
}

// One range for all columns leaves nothing of the small ones, on which the result depends.
TEST(Quantize, ALayerWithAVeryLargeErrorStaysInFloat) {
  const Graph graph = Parsed(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,2>{1e-6, -1e-6, 0.5, -0.25, 0.125, 0.75, -0.5, 0.5}}
%y = MatMul(%x, %w)
%v = Const() {value=float<2,3>{random 1 -1 1}}
%z = MatMul(%y, %v)
in x = %x
out y = %y
out z = %z
)");
  const std::vector<NamedTensor> inputs = {{"x", Rows()}};
  const auto quantized = Quantize(graph, inputs, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  EXPECT_EQ(quantized->report.layers.at(0).kept, "its error is above 30 %");
  EXPECT_EQ(quantized->report.layers.at(1).kept, "");
  EXPECT_TRUE(
      Identical(Outputs(graph, inputs)[0].second, Outputs(quantized->graph, inputs)[0].second));
  QuantizeOptions no_limit;
  no_limit.max_error = 0;
  const auto anyway = Quantize(graph, inputs, no_limit);
  ASSERT_TRUE(anyway.ok()) << anyway.status();
  EXPECT_EQ(anyway->report.layers.at(0).kept, "");
}

// Keras counts the calls of layers with dropout.
TEST(Quantize, AVariableThatIsNoWeightIsKept) {
  const Graph graph = Parsed(R"(
%seed = VarHandleOp() {dtype=int64, shape=<2>, _initial_value=int64<2>{7, 0}}
%one = Const() {value=int64<2>{0, 1}}
%next = AssignAddVariableOp(%seed, %one) {dtype=int64}
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,3>{random 1 -1 1}}
%y = MatMul(%x, %w)
in x = %x
out y = %y
target %next
)");
  const auto quantized = Quantize(graph, {{"x", Rows()}}, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  EXPECT_EQ(quantized->report.layers.at(0).kept, "");
  const NodeId seed = quantized->graph.FindNode("seed")->id;
  const Tensor* const value = quantized->graph.node(seed).attr<Tensor>("_initial_value");
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->data<int64_t>()[1], 0);  // not what calibration left
}

// PyTorch's max pools, as converters write them.
TEST(Quantize, PadsBelowAllNumbersBeforeAMaxPool) {
  for (const char* fill : {"-3.4028235e38", "-inf", "-1e9", "0"}) {
    for (const char* activation : {"Relu", "Identity"}) {
      SCOPED_TRACE(absl::StrCat(fill, " ", activation));
      const Graph graph = Parsed(absl::StrCat(R"(
%x = Placeholder() {dtype=float, shape=<?,8,8,2>}
%w = Const() {value=float<3,3,2,16>{random 1 -1 1}}
%y = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
%a = )",
                                              activation, R"((%y)
%pads = Const() {value=int32<4,2>{0, 0, 1, 1, 1, 1, 0, 0}}
%fill = Const() {value=float<>{)",
                                              fill, R"(}}
%padded = PadV2(%a, %pads, %fill)
%pool = MaxPool(%padded) {ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="VALID"}
%v = Const() {value=float<3,3,16,16>{random 2 -1 1}}
%z = Conv2D(%pool, %v) {strides=[1, 1, 1, 1], padding="SAME"}
in x = %x
out z = %z
)"));
      Tensor x = *Tensor::Allocate(DType::kFloat, Shape({4, 8, 8, 2}));
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        x.data<float>()[i] = 0.1f * static_cast<float>(i * 37 % 41 - 20);
      }
      const std::vector<NamedTensor> inputs = {{"x", x}};
      const auto quantized = Quantize(graph, inputs, {});
      ASSERT_TRUE(quantized.ok()) << quantized.status();
      for (const auto& layer : quantized->report.layers) EXPECT_EQ(layer.kept, "");
      EXPECT_LT(quantized->report.outputs.at(0).error, 0.03);
    }
  }
}

// As in decision trees that are written as products: one input for each node, and its threshold.
TEST(Quantize, ProductsThatChooseAndThoseThatAreComparedStayInFloat) {
  const Graph graph = Parsed(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%choice = Const() {value=float<4,3>{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2}}
%chosen = MatMul(%x, %choice)
%w = Const() {value=float<3,8>{random 1 -1 1}}
%sums = MatMul(%chosen, %w)
%bias = Const() {value=float<8>{random 2 -1 1}}
%shifted = BiasAdd(%sums, %bias)
%limit = Const() {value=float<>{0.5}}
%over = Greater(%shifted, %limit)
%numbers = Cast(%over) {SrcT=bool, DstT=float}
%v = Const() {value=float<8,3>{random 3 -1 1}}
%y = MatMul(%numbers, %v)
in x = %x
out y = %y
)");
  const auto quantized = Quantize(graph, {{"x", Rows()}}, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  ASSERT_EQ(quantized->report.layers.size(), 3u);
  EXPECT_EQ(quantized->report.layers[0].kept, "it sums nothing");
  EXPECT_EQ(quantized->report.layers[1].kept, "its result is compared");
  EXPECT_EQ(quantized->report.layers[2].kept, "");
}

// A part that is much smaller than the others keeps its own range.
TEST(Quantize, JoinedTensorsOfDifferentSizesHaveTheirOwnRanges) {
  const Graph graph = Parsed(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%large = Const() {value=float<>{10000}}
%t = Mul(%x, %large)
%axis = Const() {value=int32<>{1}}
%c = ConcatV2(%x, %t, %axis)
%w = Const() {value=float<8,3>{random 1 -1 1}}
%v = Const() {value=float<4,3>{random 2 -1 1}}
%y = MatMul(%c, %w)
%z = MatMul(%x, %v)
in x = %x
out y = %y
out z = %z
)");
  auto quantized = Quantize(graph, {{"x", Rows()}}, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  for (const OutputReport& output : quantized->report.outputs) {
    EXPECT_LT(output.error, 0.05) << output.name;
  }
}

TEST(Quantize, AScalarInputHasOneValueForAllBatches) {
  const Graph graph = Parsed(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%t = Placeholder() {dtype=float, shape=<>}
%w = Const() {value=float<4,3>{random 1 -1 1}}
%m = MatMul(%x, %w)
%y = Mul(%m, %t)
in x = %x
in t = %t
out y = %y
)");
  const std::vector<NamedTensor> inputs = {{"x", Rows()}, {"t", Tensor::Scalar(2.0f)}};
  auto quantized = Quantize(graph, inputs, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  EXPECT_LT(quantized->report.outputs.at(0).error, 0.02);
  const auto refused = Quantize(graph, {{"x", Rows()}, {"t", Rows()}}, {});
  EXPECT_EQ(refused.status().message(), "input 't' is a scalar, but the data have [16,4]");
}

TEST(Quantize, InputsAndOutputsAreNamedByTheirKeys) {
  // The output has the input's key, and an inner node the other output's.
  const Graph graph = Parsed(R"(
%given = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,3>{random 1 -1 1}}
%x = MatMul(%given, %w)
%y = Relu(%x)
%z = Neg(%x)
in x = %given
out x = %y
out y = %z
)");
  auto quantized = Quantize(graph, {{"x", Rows()}}, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  const Graph& g = quantized->graph;
  ASSERT_EQ(g.inputs().size(), 1u);
  EXPECT_EQ(g.node(g.inputs()[0].node).name, "x");
  EXPECT_EQ(g.node(g.outputs()[1].source.node).name, "y");
}

TEST(Quantize, TensorsThatAreFetchedKeepTheirNames) {
  // Transposes that cancel, so that the output is another node's result.
  Graph graph = Parsed(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,3>{random 1 -1 1}}
%order = Const() {value=int32<2>{1, 0}}
%m = MatMul(%x, %w)
%r = Relu(%m)
%t = Transpose(%r, %order)
%y = Transpose(%t, %order)
in x = %x
out y = %y
)");
  graph.SetOutputs({{"y:0", graph.outputs()[0].source}});
  auto quantized = Quantize(graph, {{"x", Rows()}}, {});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  const Graph& g = quantized->graph;
  EXPECT_EQ(g.node(g.outputs()[0].source.node).name, "y");
  EXPECT_EQ(g.outputs()[0].source.port, 0);
}

}  // namespace
}  // namespace tenon

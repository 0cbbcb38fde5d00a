// Programs: parsing, joining instructions, and the vector kernel against the reference kernel.
#include <cstring>

#include "Eigen/Core"
#include "env/flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/elementwise/program.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;
using testing::HasSubstr;

TEST(ParseProgram, ReadsOperandsAndParameters) {
  const std::vector<std::string> text = {"Mul $0 $1", "LeakyRelu:alpha=0.5 %0", "AddV2 %1 $0"};
  const auto program = ParseProgram(text, 2);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->size(), 3u);
  EXPECT_EQ((*program)[0].op, ElementwiseOp::kMul);
  EXPECT_EQ((*program)[1].parameter, 0.5f);
  EXPECT_EQ((*program)[2].operands[0], (Operand{Operand::Kind::kResult, 1}));
  EXPECT_EQ((*program)[2].operands[1], (Operand{Operand::Kind::kInput, 0}));
}

TEST(ParseProgram, SaysWhatIsWrong) {
  const auto error = [](std::vector<std::string> text, int inputs) {
    return std::string(ParseProgram(text, inputs).status().message());
  };
  EXPECT_THAT(error({}, 0), HasSubstr("empty"));
  EXPECT_THAT(error({"Frob $0"}, 1), HasSubstr("'Frob' is no elementwise op"));
  EXPECT_THAT(error({"Mul $0"}, 1), HasSubstr("takes 2 operands"));
  EXPECT_THAT(error({"Relu $1"}, 1), HasSubstr("'$1' does not exist"));
  EXPECT_THAT(error({"Relu $-1"}, 1), HasSubstr("does not exist"));
  EXPECT_THAT(error({"Relu %0"}, 1), HasSubstr("'%0' does not exist"));
  EXPECT_THAT(error({"Relu x"}, 1), HasSubstr("neither"));
  EXPECT_THAT(error({"Relu x0"}, 1), HasSubstr("does not exist"));
  EXPECT_THAT(error({"Relu:alpha=1 $0"}, 1), HasSubstr("bad parameter"));
  EXPECT_THAT(error({"LeakyRelu:alpha=q $0"}, 1), HasSubstr("bad parameter"));
  EXPECT_THAT(error({"Relu $0"}, 2), HasSubstr("nothing reads input $1"));
}

TEST(OptimizeProgram, JoinsOnlyWhatNobodyElseReads) {
  const auto optimized = [](std::vector<std::string> text, int inputs) {
    return OptimizeProgram(*ParseProgram(text, inputs));
  };
  const Program joined = optimized({"Mul $0 $1", "Add $2 %0", "Relu %1"}, 3);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].op, ElementwiseOp::kMulAddRelu);
  EXPECT_EQ(joined[0].operands[2], (Operand{Operand::Kind::kInput, 2}));
  EXPECT_EQ(optimized({"Mul $0 $1", "Add %0 $2", "Mul %0 %1"}, 3).size(), 3u);
  EXPECT_EQ(optimized({"Mul $0 $1", "Add %0 %0"}, 2).size(), 2u);
  const Program kept = optimized({"Mul $0 $1", "Tanh $2", "Add %0 %1", "Exp %2"}, 3);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[2].operands[0], (Operand{Operand::Kind::kResult, 1}));
}

struct Case {
  std::vector<std::string> program;
  std::vector<Shape> inputs;
  friend void PrintTo(const Case& c, std::ostream* os) {
    for (const std::string& line : c.program) *os << line << "; ";
    for (const Shape& s : c.inputs) *os << s.ToString();
  }
};

class FusedElementwiseTest : public TargetTest<Case> {};

Node NodeOf(const Case& c, const std::string& op, DType dtype) {
  Node node = MakeNode(op);
  node.attrs["N"] = AttrValue(static_cast<int64_t>(c.inputs.size()));
  node.attrs["T"] = AttrValue(dtype);
  node.attrs["program"] = AttrValue(c.program);
  return node;
}

TEST_P(FusedElementwiseTest, AgreesWithTheStandardKernelInDouble) {
  const Case& c = GetCase();
  Flags flags;
  Services services;
  services.flags = &flags;
  std::vector<Tensor> inputs, wide;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    inputs.push_back(Uniform(c.inputs[i], static_cast<unsigned>(i) + 1));
    wide.push_back(*Tensor::Allocate(DType::kDouble, c.inputs[i]));
    for (int64_t k = 0; k < wide[i].num_elements(); ++k) {
      wide[i].data<double>()[k] = inputs[i].data<float>()[k];
    }
  }
  const auto expected = Evaluate(NodeOf(c, "_FusedElementwise", DType::kDouble), wide, services);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const Node node = NodeOf(c, "_MklNativeFusedElementwise", DType::kFloat);
  const auto one = Evaluate(node, inputs, services);
  ASSERT_TRUE(one.ok()) << one.status();
  services.threads = 2;
  const auto two = Evaluate(node, inputs, services);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_TRUE(Identical((*one)[0], (*two)[0]));
  // Each instruction adds a few roundings of values of about 10 at most; when terms cancel, the
  // error is relative to the terms, not to the result.
  const double tolerance = 4.0 * static_cast<double>(c.program.size()) * 0x1p-23 * 10;
  ASSERT_EQ((*one)[0].shape(), (*expected)[0].shape());
  for (int64_t i = 0; i < (*one)[0].num_elements(); ++i) {
    ASSERT_NEAR((*one)[0].data<float>()[i], (*expected)[0].data<double>()[i], tolerance) << i;
  }
  // bfloat16 in and out, within one rounding of the float result on the same inputs.
  std::vector<Tensor> narrow, rounded;
  for (const Tensor& t : inputs) {
    narrow.push_back(*Tensor::Allocate(DType::kBfloat16, t.shape()));
    rounded.push_back(*Tensor::Allocate(DType::kFloat, t.shape()));
    for (int64_t k = 0; k < t.num_elements(); ++k) {
      narrow.back().data<bfloat16>()[k] = static_cast<bfloat16>(t.data<float>()[k]);
      rounded.back().data<float>()[k] = static_cast<float>(narrow.back().data<bfloat16>()[k]);
    }
  }
  const auto half = Evaluate(NodeOf(c, node.op, DType::kBfloat16), narrow, services);
  ASSERT_TRUE(half.ok()) << half.status();
  const auto exact = Evaluate(node, rounded, services);
  ASSERT_TRUE(exact.ok()) << exact.status();
  for (int64_t i = 0; i < (*one)[0].num_elements(); ++i) {
    ASSERT_EQ(static_cast<float>((*half)[0].data<bfloat16>()[i]),
              static_cast<float>(static_cast<bfloat16>((*exact)[0].data<float>()[i])))
        << i;
  }
}

const std::vector<std::string> kBatchNorm = {"Mul $0 $1", "AddV2 %0 $2", "Relu %1"};
const std::vector<std::string> kMixed = {"Sigmoid $1", "Mul $0 %0", "AddV2 %1 $2",
                                         "LeakyRelu:alpha=0.1 %2"};
const std::vector<std::string> kMany = {
    "Square $0", "Tanh $0",       "Sub %0 %1",     "Mul %2 %0",   "Maximum %3 %1", "AddV2 %4 $1",
    "Sub %5 $2", "_GeluExact %6", "Minimum %7 %7", "AddV2 %8 %2", "Mul %9 $1"};

INSTANTIATE_TEST_SUITE_P(
    Programs, FusedElementwiseTest,
    testing::Combine(
        testing::ValuesIn(Targets()),
        testing::Values(
            Case{kBatchNorm, {{1, 8, 8, 256}, {256}, {256}}},
            Case{kBatchNorm, {{1, 7, 9, 33}, {33}, {33}}},
            Case{kBatchNorm, {{2, 5, 5, 1000}, {1000}, {1000}}},
            Case{kBatchNorm, {{2, 31, 31, 640}, {640}, {640}}},
            Case{kBatchNorm, {{56, 56, 64}, {}, {64}}}, Case{kBatchNorm, {{3, 1025}, {}, {1}}},
            Case{kBatchNorm, {{}, {}, {}}}, Case{kBatchNorm, {{0, 4}, {4}, {4}}},
            Case{kBatchNorm, {{4}, {3, 1}, {2, 1, 1}}}, Case{kBatchNorm, {{50, 3}, {50, 1}, {3}}},
            Case{kMixed, {{2, 14, 14, 96}, {2, 1, 1, 96}, {2, 14, 14, 96}}},
            Case{kMixed, {{2, 3, 1100}, {2, 1, 1100}, {2, 3, 1}}},
            Case{kMixed, {{3, 4, 1, 6}, {1, 4, 5, 1}, {6}}},
            Case{kMany, {{2, 300, 17}, {17}, {2, 1, 17}}}, Case{kMany, {{5000}, {}, {5000}}},
            Case{kMany, {{9, 1, 5}, {9, 8, 1}, {1, 8, 5}}}, Case{{"Relu $0"}, {{17}}},
            Case{{"Add $0 $0"}, {{1}}}, Case{{"Mul $0 $1", "Exp %0"}, {{}, {3, 5}}},
            Case{{"Tanh $1", "Add %0 $0"}, {{70, 90}, {}}})));

TEST(FusedElementwise, MayRunInPlace) {
  const Case c{kBatchNorm, {{4, 40}, {40}, {40}}};
  const Tensor scale = Uniform(c.inputs[1], 1), shift = Uniform(c.inputs[2], 2);
  Tensor x = Uniform(c.inputs[0], 3);
  Flags flags;
  Services services;
  services.flags = &flags;
  const Node node = NodeOf(c, "_MklNativeFusedElementwise", DType::kFloat);
  const auto expected = Evaluate(node, {x, scale, shift}, services);
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::vector<TensorSpec> specs;
  for (const Shape& s : c.inputs) specs.push_back({DType::kFloat, s, nullptr});
  const auto prepared = PrepareNode(node, specs, {}, services);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_TRUE(prepared->accelerated);
  EXPECT_THAT(prepared->in_place, testing::ElementsAre(std::make_pair(0, 0)));
  const void* in[] = {x.raw(), scale.raw(), shift.raw()};
  void* out[] = {x.raw()};
  Tensor scratch =
      *Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(prepared->scratch_bytes)}));
  RunContext run(in, out, scratch.raw());
  ASSERT_TRUE(prepared->kernel->Run(run).ok());
  EXPECT_TRUE(Identical(x, (*expected)[0]));
}

}  // namespace
}  // namespace tenon

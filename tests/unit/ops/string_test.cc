// Array ops on string tensors, which golden cases do not cover, and errors that say what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/ops/run_op.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The strings of output 0.
std::vector<std::string> Strings(const std::string& op, const std::vector<Tensor>& inputs,
                                 const AttrMap& attrs) {
  const auto outputs = RunOp(op, attrs, inputs);
  if (!outputs.ok()) return {outputs.status().ToString()};
  const auto flat = (*outputs)[0].flat<std::string>();
  return {flat.begin(), flat.end()};
}

Tensor Words(std::vector<std::string> words) { return Tensor::Vector(std::move(words)); }
Tensor Grid() {
  return Tensor::From<std::string>(Shape({2, 2}), {"a", "b", "c", "a longer string on the heap"});
}
Tensor Ints(std::vector<int32_t> v) { return Tensor::Vector(std::move(v)); }
Tensor Int(int32_t v) { return Tensor::Scalar(v); }

const std::pair<std::string, AttrValue> kT = {"T", DType::kString};

TEST(StringOps, KeepElements) {
  EXPECT_THAT(Strings("Identity", {Words({"x", "yy"})}, {kT}), ElementsAre("x", "yy"));
  EXPECT_THAT(Strings("Reshape", {Grid(), Ints({4})}, {kT}),
              ElementsAre("a", "b", "c", "a longer string on the heap"));
}

TEST(StringOps, JoinAndSplit) {
  EXPECT_THAT(Strings("ConcatV2", {Words({"a"}), Words({"b", "c"}), Int(0)}, {kT, {"N", 2}}),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(Strings("_MklNativeConcatV2", {Words({"a"}), Words({"b"}), Int(0)}, {kT, {"N", 2}}),
              ElementsAre("a", "b"));
  EXPECT_THAT(Strings("Pack", {Words({"a", "b"}), Words({"c", "d"})}, {kT, {"N", 2}, {"axis", 1}}),
              ElementsAre("a", "c", "b", "d"));
  EXPECT_THAT(Strings("Split", {Int(1), Grid()}, {kT, {"num_split", 2}}), ElementsAre("a", "c"));
}

TEST(StringOps, MoveElements) {
  EXPECT_THAT(
      Strings("GatherV2", {Words({"a", "b", "c"}), Ints({2, 0}), Int(0)},
              {{"Tparams", DType::kString}, {"Tindices", DType::kInt32}, {"Taxis", DType::kInt32}}),
      ElementsAre("c", "a"));
  EXPECT_THAT(Strings("Transpose", {Grid(), Ints({1, 0})}, {kT}),
              ElementsAre("a", "c", "b", "a longer string on the heap"));
  EXPECT_THAT(Strings("Tile", {Words({"a", "b"}), Ints({2})}, {kT}),
              ElementsAre("a", "b", "a", "b"));
  EXPECT_THAT(Strings("Fill", {Ints({2}), Tensor::Scalar<std::string>("z")}, {kT}),
              ElementsAre("z", "z"));
  EXPECT_THAT(Strings("StridedSlice", {Words({"a", "b", "c"}), Ints({2}), Ints({0}), Ints({-1})},
                      {kT, {"Index", DType::kInt32}}),
              ElementsAre("c", "b"));
  EXPECT_THAT(Strings("PadV2",
                      {Words({"a"}), Tensor::From<int32_t>(Shape({1, 2}), {1, 1}),
                       Tensor::Scalar<std::string>("-")},
                      {kT}),
              ElementsAre("-", "a", "-"));
}

TEST(StringOps, CompareAndChoose) {
  const auto equal = RunOp("Equal", {kT}, {Words({"a", "b"}), Words({"a", "c"})});
  ASSERT_TRUE(equal.ok()) << equal.status();
  EXPECT_TRUE((*equal)[0].flat<bool>()[0]);
  EXPECT_FALSE((*equal)[0].flat<bool>()[1]);
  EXPECT_THAT(Strings("SelectV2", {(*equal)[0], Words({"x", "y"}), Words({"z"})}, {kT}),
              ElementsAre("x", "z"));
  EXPECT_THAT(Strings("Add", {Words({"a", "b"}), Words({"1"})}, {kT}), ElementsAre("a1", "b1"));
}

struct BadNode {
  const char* name;
  std::string op;
  std::vector<Tensor> inputs;
  AttrMap attrs;
  const char* message;
};

TEST(OpErrors, NameTheNodeAndTheReason) {
  const AttrMap i32 = {{"T", DType::kInt32}};
  const AttrMap f32 = {{"T", DType::kFloat}};
  const Tensor floats = Tensor::Vector<float>({1, 2, 3});
  const std::vector<BadNode> cases = {
      {"division", "FloorDiv", {Ints({1}), Ints({0})}, i32, "division by zero"},
      {"remainder", "FloorMod", {Ints({1, 2}), Ints({1, 0})}, i32, "division by zero"},
      {"power", "Pow", {Ints({2}), Ints({-1})}, i32, "negative integer powers"},
      {"broadcast", "AddV2", {Ints({1, 2}), Ints({1, 2, 3})}, i32, "[2] vs. [3]"},
      {"dtype", "AddV2", {floats, Ints({1, 2, 3})}, f32, "input 1 must be float"},
      {"count", "AddV2", {floats}, f32, "takes 2 inputs"},
      {"reshape", "Reshape", {floats, Ints({2, 2})}, f32, "cannot reshape [3]"},
      {"axis", "Mean", {floats, Ints({1})}, f32, "axis 1"},
      {"index",
       "Gather",
       {floats, Ints({3})},
       {{"Tparams", DType::kFloat}, {"Tindices", DType::kInt32}},
       "is 3, which is not in [0, 3)"},
      {"assertion",
       "Assert",
       {Tensor::Scalar(false), Tensor::Scalar<std::string>("too bad")},
       {{"T", std::vector<DType>{DType::kString}}},
       "too bad"},
      {"numerics",
       "CheckNumerics",
       {Tensor::Vector<float>({1, INFINITY})},
       {{"T", DType::kFloat}, {"message", "layer 3"}},
       "layer 3"},
  };
  for (const BadNode& bad : cases) {
    SCOPED_TRACE(bad.name);
    const auto outputs = RunOp(bad.op, bad.attrs, bad.inputs, 1, "n");
    ASSERT_FALSE(outputs.ok());
    EXPECT_TRUE(absl::IsInvalidArgument(outputs.status())) << outputs.status();
    EXPECT_THAT(std::string(outputs.status().message()), HasSubstr(bad.message));
    EXPECT_THAT(std::string(outputs.status().message()), HasSubstr("'n'"));
  }
}

TEST(IntegerOps, WrapAround) {
  const int32_t lowest = INT32_MIN;
  const AttrMap i32 = {{"T", DType::kInt32}};
  auto one = [&](const std::string& op, std::vector<Tensor> in) {
    const auto out = RunOp(op, i32, in);
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? (*out)[0].flat<int32_t>()[0] : 0;
  };
  EXPECT_EQ(one("AddV2", {Ints({INT32_MAX}), Ints({1})}), lowest);
  EXPECT_EQ(one("Mul", {Ints({lowest}), Ints({-1})}), lowest);
  EXPECT_EQ(one("TruncateDiv", {Ints({lowest}), Ints({-1})}), lowest);
  EXPECT_EQ(one("FloorMod", {Ints({lowest}), Ints({-1})}), 0);
  EXPECT_EQ(one("FloorMod", {Ints({-7}), Ints({3})}), 2);
  EXPECT_EQ(one("FloorMod", {Ints({7}), Ints({-3})}), -2);
  EXPECT_EQ(one("FloorDiv", {Ints({-7}), Ints({3})}), -3);
  EXPECT_EQ(one("Round", {Ints({-7})}), -7);
}

}  // namespace
}  // namespace tenon

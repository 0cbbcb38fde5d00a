// Tensor arrays and their gradients: what TensorFlow refuses, and what it gives for elements that
// were never written.
#include "kernels/lists/tensor_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/evaluate.h"

namespace tenon {
namespace {

using Item = TensorArray::Item;

Item Of(std::vector<float> values) {
  return std::make_shared<const Tensor>(Tensor::Vector<float>(std::move(values)));
}

TensorArray::Form Floats() { return {.dtype = DType::kFloat}; }

std::vector<float> Read(TensorArray& array, int64_t index) {
  const auto item = array.Read(index, DType::kFloat);
  if (!item.ok()) return {-1234};
  return {(*item)->flat<float>().begin(), (*item)->flat<float>().end()};
}

bool Refuses(const absl::Status& status) { return absl::IsInvalidArgument(status); }

TEST(TensorArray, ElementsAreWrittenOnceAndReadAfterwards) {
  TensorArray array(Floats(), 2);
  EXPECT_TRUE(Refuses(array.Read(0, DType::kFloat).status()));  // nothing tells its shape
  EXPECT_TRUE(array.Write(0, Of({1, 2})).ok());
  EXPECT_TRUE(Refuses(array.Write(0, Of({1, 2}))));
  EXPECT_TRUE(Refuses(array.Write(2, Of({1}))));
  EXPECT_TRUE(Refuses(array.Write(-1, Of({1}))));
  EXPECT_TRUE(Refuses(array.Write(1, std::make_shared<const Tensor>(Tensor::Scalar<int32_t>(1)))));
  EXPECT_THAT(Read(array, 0), testing::ElementsAre(1, 2));
  EXPECT_THAT(Read(array, 0), testing::ElementsAre(1, 2));
  EXPECT_TRUE(Refuses(array.Read(0, DType::kInt32).status()));
  EXPECT_TRUE(Refuses(array.Read(2, DType::kFloat).status()));
  EXPECT_TRUE(Refuses(array.Read(-1, DType::kFloat).status()));
  array.Close();
  EXPECT_TRUE(Refuses(array.Read(0, DType::kFloat).status()));
  EXPECT_TRUE(Refuses(array.Write(1, Of({1}))));
  EXPECT_TRUE(Refuses(array.size().status()));
  EXPECT_TRUE(Refuses(array.Gradient("g", Shape()).status()));
}

TEST(TensorArray, ReadingMayClear) {
  TensorArray::Form form = Floats();
  form.clear = true;
  TensorArray array(form, 1);
  ASSERT_TRUE(array.Write(0, Of({3})).ok());
  EXPECT_THAT(Read(array, 0), testing::ElementsAre(3));
  EXPECT_TRUE(Refuses(array.Read(0, DType::kFloat).status()));
  EXPECT_TRUE(Refuses(array.Write(0, Of({3}))));
}

TEST(TensorArray, GrowsAndKeepsToItsShape) {
  TensorArray::Form form = Floats();
  form.dynamic = form.identical = true;
  TensorArray array(form, 0);
  EXPECT_TRUE(array.empty());
  EXPECT_TRUE(array.Write(3, Of({1, 2})).ok());
  EXPECT_EQ(*array.size(), 4);
  EXPECT_TRUE(Refuses(array.Write(0, Of({1}))));  // of another shape than the first
  EXPECT_TRUE(Refuses(array.Write(int64_t{1} << 40, Of({1, 2}))));
  EXPECT_THAT(Read(array, 1), testing::ElementsAre(0, 0));
  EXPECT_EQ(array.CommonShape(), Shape({2}));
  ASSERT_TRUE(array.Gradient("g", Shape()).ok());
  EXPECT_TRUE(Refuses(array.Write(4, Of({1, 2}))));  // now its size is fixed
}

TEST(TensorArray, GradientsAddUp) {
  TensorArray array(Floats(), 3);
  ASSERT_TRUE(array.Write(0, Of({1, 2})).ok());
  const auto gradient = *array.Gradient("g", Shape());
  EXPECT_EQ(*array.Gradient("g", Shape()), gradient);
  EXPECT_NE(*array.Gradient("h", Shape()), gradient);
  EXPECT_TRUE(Refuses(gradient->Gradient("g", Shape()).status()));
  EXPECT_TRUE(Refuses(gradient->Write(0, Of({1}))));  // of another shape than the element
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(gradient->Write(0, Of({1, 10})).ok());
  EXPECT_THAT(Read(*gradient, 0), testing::ElementsAre(3, 30));
  EXPECT_TRUE(Refuses(gradient->Read(0, DType::kFloat).status()));
  EXPECT_TRUE(Refuses(gradient->Write(0, Of({1, 10}))));
  EXPECT_TRUE(Refuses(gradient->Read(1, DType::kFloat).status()));
  EXPECT_EQ(array.CommonShape(), Shape({2}));
  ASSERT_TRUE(gradient->Write(2, Of({1, 2, 3})).ok());
  EXPECT_FALSE(array.CommonShape().has_rank());  // elements of gradients count
  EXPECT_THAT(Read(**array.Gradient("h", Shape()), 0), testing::ElementsAre(0, 0));
  EXPECT_THAT(Read(**array.Gradient("wide", Shape({2})), 0), testing::ElementsAre(0, 0, 0, 0));
}

TEST(TensorArray, ZerosAreOfNumbers) {
  TensorArray array({.dtype = DType::kString}, 1);
  ASSERT_TRUE(
      array.Write(0, std::make_shared<const Tensor>(Tensor::Scalar<std::string>("a"))).ok());
  const auto gradient = *array.Gradient("g", Shape());
  EXPECT_TRUE(Refuses(gradient->Read(0, DType::kString).status()));
  const auto text = std::make_shared<const Tensor>(Tensor::Scalar<std::string>("b"));
  EXPECT_TRUE(gradient->Write(0, text).ok());
  EXPECT_TRUE(Refuses(gradient->Write(0, text)));  // strings have no sums
}

// ---- kernels ----

class Ops : public testing::Test {
 protected:
  static Node Make(const char* op, AttrMap attrs) {
    Node node;
    node.name = op;
    node.op = op;
    node.attrs = std::move(attrs);
    return node;
  }
  absl::StatusOr<std::vector<Tensor>> Call(const char* op, AttrMap attrs,
                                           std::vector<Tensor> inputs) {
    Node node = Make(op, std::move(attrs));
    TENON_RETURN_IF_ERROR(CompleteAttrs(*FindOp(op).info, node));
    return Evaluate(node, inputs, Services{});
  }
  // A new handle, and a flow behind.
  std::vector<Tensor> Array(int32_t size, AttrMap attrs = {}) {
    attrs["dtype"] = DType::kFloat;
    return *Call("TensorArrayV3", std::move(attrs), {Tensor::Scalar<int32_t>(size)});
  }
  Tensor Stack(int32_t most) {
    return (*Call("StackV2", {{"elem_type", DType::kFloat}}, {Tensor::Scalar(most)}))[0];
  }
  absl::Status Push(const Tensor& stack, Tensor value) {
    const DType dtype = value.dtype();
    return Call("StackPushV2", {{"T", dtype}}, {stack, std::move(value)}).status();
  }
  absl::StatusOr<std::vector<Tensor>> Pop(const Tensor& stack, DType dtype = DType::kFloat) {
    return Call("StackPopV2", {{"elem_type", dtype}}, {stack});
  }
  const Tensor flow_ = Tensor::Scalar<float>(0);
};

TEST_F(Ops, StacksRefuseWhatTensorFlowRefuses) {
  const Tensor stack = Stack(1);
  EXPECT_TRUE(Refuses(Pop(stack).status()));
  EXPECT_TRUE(Push(stack, Tensor::Scalar<float>(1)).ok());
  EXPECT_TRUE(Refuses(Push(stack, Tensor::Scalar<float>(2))));
  EXPECT_TRUE(Refuses(Push(Stack(-1), Tensor::Scalar<int32_t>(2))));
  EXPECT_TRUE(Refuses(Push(Stack(0), Tensor::Scalar<float>(2))));
  EXPECT_TRUE(Refuses(Push(Array(1)[0], Tensor::Scalar<float>(2))));
  EXPECT_TRUE(Refuses(Pop(stack, DType::kInt32).status()));
  const auto top = Pop(stack);
  ASSERT_TRUE(top.ok()) << top.status();
  EXPECT_EQ(*(*top)[0].data<float>(), 1);
  EXPECT_TRUE(Call("StackCloseV2", {}, {stack}).ok());
  EXPECT_TRUE(Call("StackCloseV2", {}, {stack}).ok());
  EXPECT_TRUE(Refuses(Push(stack, Tensor::Scalar<float>(1))));
  EXPECT_FALSE(Pop(Tensor::Scalar<float>(1)).ok());
  EXPECT_FALSE(
      Call("StackV2", {{"elem_type", DType::kFloat}}, {Tensor::Vector<int32_t>({1})}).ok());
}

TEST_F(Ops, GatherAndConcatOfNothingNeedAShape) {
  const std::vector<Tensor> none = Array(0);
  const Tensor indices = Tensor::Vector<int32_t>({});
  const AttrMap floats = {{"dtype", DType::kFloat}};
  EXPECT_TRUE(absl::IsUnimplemented(
      Call("TensorArrayGatherV3", floats, {none[0], indices, flow_}).status()));
  EXPECT_TRUE(
      absl::IsUnimplemented(Call("TensorArrayConcatV3", floats, {none[0], flow_}).status()));
  AttrMap shaped = floats;
  shaped["element_shape"] = Shape({2, 3});
  shaped["element_shape_except0"] = Shape({3});
  EXPECT_EQ((*Call("TensorArrayGatherV3", shaped, {none[0], indices, flow_}))[0].shape(),
            Shape({0, 2, 3}));
  EXPECT_EQ((*Call("TensorArrayConcatV3", shaped, {Array(0)[0], flow_}))[0].shape(), Shape({0, 3}));
}

TEST_F(Ops, ArraysRefuseWhatTensorFlowRefuses) {
  EXPECT_TRUE(Refuses(
      Call("TensorArrayV3", {{"dtype", DType::kFloat}}, {Tensor::Scalar<int32_t>(-1)}).status()));
  const AttrMap floats = {{"T", DType::kFloat}};
  const auto rows = [](std::vector<float> v) { return Tensor::Vector<float>(std::move(v)); };
  const auto scatter = [&](std::vector<int32_t> indices, Tensor value, AttrMap attrs = {}) {
    return Call("TensorArrayScatterV3", floats,
                {Array(2, std::move(attrs))[0], Tensor::Vector<int32_t>(std::move(indices)),
                 std::move(value), flow_})
        .status();
  };
  EXPECT_TRUE(scatter({1, 0}, rows({1, 2})).ok());
  EXPECT_TRUE(scatter({1, 5}, rows({1, 2}), {{"dynamic_size", true}}).ok());
  EXPECT_TRUE(Refuses(scatter({1, 2}, rows({1, 2}))));
  EXPECT_TRUE(Refuses(scatter({-1, 1}, rows({1, 2}), {{"dynamic_size", true}})));
  EXPECT_TRUE(Refuses(scatter({0, 0}, rows({1, 2}))));
  EXPECT_TRUE(Refuses(scatter({0}, rows({1, 2}))));
  EXPECT_TRUE(Refuses(scatter({}, Tensor::Scalar<float>(1))));
  EXPECT_TRUE(Refuses(scatter({0}, rows({1}), {{"element_shape", Shape({2})}})));
  const auto split = [&](std::vector<int64_t> lengths, Tensor value, AttrMap attrs = {}) {
    return Call("TensorArraySplitV3", floats,
                {Array(2, std::move(attrs))[0], std::move(value),
                 Tensor::Vector<int64_t>(std::move(lengths)), flow_})
        .status();
  };
  EXPECT_TRUE(split({1, 2}, rows({1, 2, 3})).ok());
  EXPECT_TRUE(split({1, 1, 1}, rows({1, 2, 3}), {{"dynamic_size", true}}).ok());
  EXPECT_TRUE(Refuses(split({3}, rows({1, 2, 3}))));
  EXPECT_TRUE(Refuses(split({3}, rows({1, 2, 3}), {{"dynamic_size", true}})));
  EXPECT_TRUE(Refuses(split({1, 1}, rows({1, 2, 3}))));
  EXPECT_TRUE(Refuses(split({4, -1}, rows({1, 2, 3}))));
  EXPECT_TRUE(Refuses(split({1, 0}, Tensor::Scalar<float>(1))));
  const auto prepended = [&](std::vector<int32_t> dims) {
    return Call("TensorArrayGradWithShape", {{"source", std::string("g")}},
                {Array(2, {{"element_shape", Shape({2})}})[0], flow_,
                 Tensor::Vector<int32_t>(std::move(dims))})
        .status();
  };
  EXPECT_TRUE(prepended({3}).ok());
  EXPECT_TRUE(Refuses(prepended({-1})));
  EXPECT_TRUE(Refuses(Call("TensorArrayReadV3", {{"dtype", DType::kFloat}},
                           {Stack(-1), Tensor::Scalar<int32_t>(0), flow_})
                          .status()));
}

}  // namespace
}  // namespace tenon

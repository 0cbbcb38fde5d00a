#include "runtime/execution/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/flags.h"
#include "runtime/plan/plan_builder.h"
#include "tests/unit/runtime/test_ops.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::Floats;
using testing::GraphMaker;
using ::testing::HasSubstr;

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() : kernels_(CacheLimits{.entries = 100, .bytes = 1 << 20}), maker_(&graph_) {
    services_.flags = &flags_;
  }

  std::shared_ptr<const FlatPlan> Build(std::vector<Tensor> feeds) {
    auto plan = TryBuild(feeds);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : nullptr;
  }
  absl::StatusOr<std::shared_ptr<const FlatPlan>> TryBuild(const std::vector<Tensor>& feeds) {
    if (model_ == nullptr) {
      auto model = ModelState::Create(graph_, variables_);
      if (!model.ok()) return model.status();
      model_ = *model;
    }
    std::vector<TensorSpec> specs;
    for (const Tensor& t : feeds) specs.push_back({t.dtype(), t.shape(), nullptr});
    return BuildPlan(model_, specs, services_, kernels_);
  }
  std::vector<std::vector<float>> Run(const Plan& plan, std::vector<Tensor> feeds) {
    auto outputs = plan.Run(feeds);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    std::vector<std::vector<float>> values;
    if (!outputs.ok()) return values;
    for (const Tensor& t : *outputs)
      values.emplace_back(t.flat<float>().begin(), t.flat<float>().end());
    return values;
  }

  Flags flags_;
  Services services_;
  SessionVariables variables_;
  KernelCache kernels_;
  Graph graph_;
  GraphMaker maker_;
  std::shared_ptr<const ModelState> model_;
};

TEST_F(PlanTest, ChainRunsInPlaceAndLeavesTheFeedAlone) {
  const Endpoint x = maker_.Input("x", Shape({-1}));
  const Endpoint a = maker_.Node("TestNeg", "a", {x});
  const Endpoint b = maker_.Node("TestNeg", "b", {a});
  const Endpoint c = maker_.Node("TestNeg", "c", {b});
  maker_.Output("y", maker_.Node("TestNeg", "d", {c}));
  Tensor feed = Floats({3}, {1, 2, 3});
  auto plan = Build({feed});
  // a must not overwrite the feed, d writes the caller's memory: b and c share a's.
  EXPECT_EQ(plan->stats().in_place, 2);
  EXPECT_EQ(plan->arena_bytes, 64u);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(Run(*plan, {feed}), ElementsAre(ElementsAre(1, 2, 3)));
  EXPECT_THAT(feed.flat<float>(), ElementsAre(1, 2, 3));
}

TEST_F(PlanTest, NotInPlaceWhileAnotherReaderComes) {
  const Endpoint x = maker_.Input("x", Shape({2}));
  const Endpoint a = maker_.Node("TestCopy", "a", {x});
  const Endpoint b = maker_.Node("TestNeg", "b", {a});
  maker_.Output("y", maker_.Node("TestAdd", "sum", {b, a}));
  auto plan = Build({Floats({2}, {5, 6})});
  EXPECT_EQ(plan->stats().in_place, 0);
  EXPECT_THAT(Run(*plan, {Floats({2}, {5, 6})}), ElementsAre(ElementsAre(0, 0)));
}

TEST_F(PlanTest, FetchedTensorsAreNeverWrittenOver) {
  const Endpoint x = maker_.Input("x", Shape({2}));
  const Endpoint a = maker_.Node("TestCopy", "a", {x});
  const Endpoint v = maker_.Node("TestView", "v", {a}, {{"shape", Shape({2, 1})}});
  maker_.Output("neg", maker_.Node("TestNeg", "b", {a}));
  maker_.Output("a", a);
  maker_.Output("v", v);
  maker_.Output("x", x);
  auto plan = Build({Floats({2}, {5, 6})});
  EXPECT_EQ(plan->stats().aliased, 1);
  auto outputs = plan->Run({Floats({2}, {5, 6})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0].flat<float>(), ElementsAre(-5, -6));
  EXPECT_THAT((*outputs)[1].flat<float>(), ElementsAre(5, 6));
  EXPECT_EQ((*outputs)[2].shape(), Shape({2, 1}));
  EXPECT_THAT((*outputs)[2].flat<float>(), ElementsAre(5, 6));
  EXPECT_THAT((*outputs)[3].flat<float>(), ElementsAre(5, 6));
  // Each output is the caller's own.
  (*outputs)[1].data<float>()[0] = 9;
  EXPECT_EQ((*outputs)[2].data<float>()[0], 5);
}

TEST_F(PlanTest, ViewsCostNoStepAndKeepTheirMemoryAlive) {
  const Endpoint x = maker_.Input("x", Shape({4}));
  const Endpoint a = maker_.Node("TestCopy", "a", {x});
  const Endpoint v = maker_.Node("TestView", "v", {a}, {{"shape", Shape({2, 2})}});
  const Endpoint b = maker_.Node("TestCopy", "b", {x});
  const Endpoint c = maker_.Node("TestView", "c", {b}, {{"shape", Shape({2, 2})}});
  maker_.Output("y", maker_.Node("TestAdd", "sum", {v, c}));
  auto plan = Build({Floats({4}, {1, 2, 3, 4})});
  EXPECT_EQ(plan->stats().steps, 3);
  EXPECT_THAT(Run(*plan, {Floats({4}, {1, 2, 3, 4})}), ElementsAre(ElementsAre(2, 4, 6, 8)));
}

TEST_F(PlanTest, OpsThatKeepAllElementsInOrderPassMemoryOn) {
  const Endpoint x = maker_.Input("x", Shape({-1, 2, 3}));
  const Endpoint a = maker_.Node("TestCopy", "a", {x});
  const auto ints = [&](const char* name, std::vector<int32_t> values) {
    const Shape shape({static_cast<int64_t>(values.size())});
    return maker_.Const(name, Tensor::From<int32_t>(shape, values));
  };
  const AttrMap tile{{"T", DType::kFloat}, {"Tmultiples", DType::kInt32}};
  const AttrMap transpose{{"T", DType::kFloat}, {"Tperm", DType::kInt32}};
  const Endpoint once = maker_.Node("Tile", "once", {a, ints("ones", {1, 1, 1})}, tile);
  const Endpoint moved = maker_.Node("Transpose", "moved", {once, ints("p", {1, 0, 2})}, transpose);
  const Endpoint turned =
      maker_.Node("Transpose", "turned", {moved, ints("q", {2, 1, 0})}, transpose);
  maker_.Output("y", maker_.Node("Tile", "twice", {turned, ints("two", {1, 2, 1})}, tile));
  // Of one image, the first transpose moves a dimension of size 1. The other ops move elements.
  const Tensor one = Floats({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  auto plan = Build({one});
  EXPECT_EQ(plan->stats().aliased, 2);
  EXPECT_EQ(plan->stats().steps, 3);
  EXPECT_THAT(Run(*plan, {one}), ElementsAre(ElementsAre(1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6)));
  const Tensor two = Floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(Build({two})->stats().aliased, 1);
}

TEST_F(PlanTest, ShapesAndWhatFollowsAreComputedWhilePlanning) {
  const Endpoint x = maker_.Input("x", Shape({-1}));
  const Endpoint shape = maker_.Node("TestShape", "shape", {x});
  const Endpoint one = maker_.Const("one", Floats({1}, {1}));
  maker_.Output("y", maker_.Node("TestRepeat", "repeat", {one, shape}));
  auto plan = Build({Floats({3}, {7, 7, 7})});
  EXPECT_EQ(plan->stats().steps, 0);
  EXPECT_EQ(plan->stats().evaluated, 2);
  EXPECT_THAT(Run(*plan, {Floats({3}, {7, 7, 7})}), ElementsAre(ElementsAre(1, 1, 1)));
}

TEST_F(PlanTest, DynamicShapesInTheMiddle) {
  const Endpoint x = maker_.Input("x", Shape({-1}));
  const Endpoint a = maker_.Node("TestNeg", "a", {x});
  const Endpoint p = maker_.Node("TestPositive", "p", {a});
  const Endpoint n = maker_.Node("TestNeg", "n", {p});
  const Endpoint s = maker_.Node("TestShape", "s", {n});
  maker_.Output("y", n);
  maker_.Output("r", maker_.Node("TestRepeat", "r", {n, s}));
  auto plan = Build({Floats({4}, {0, 0, 0, 0})});
  EXPECT_EQ(plan->dynamic_steps.size(), 4u);
  EXPECT_THAT(Run(*plan, {Floats({4}, {-1, 2, -3, 0})}),
              ElementsAre(ElementsAre(-1, -3), ElementsAre(-1, -3, -1, -3)));
  EXPECT_THAT(Run(*plan, {Floats({4}, {1, 2, 3, -4})}),
              ElementsAre(ElementsAre(-4), ElementsAre(-4)));
  EXPECT_THAT(Run(*plan, {Floats({4}, {1, 2, 3, 4})}), ElementsAre(ElementsAre(), ElementsAre()));
}

TEST_F(PlanTest, ValueThatOnlyTheRunKnows) {
  const Endpoint x = maker_.Input("x", Shape({2}));
  const Endpoint n = maker_.Input("n", Shape({1}), DType::kInt32);
  maker_.Output("y", maker_.Node("TestRepeat", "r", {x, n}));
  const Tensor feed = Floats({2}, {1, 2});
  auto plan = Build({feed, Tensor::Vector<int32_t>({0})});
  EXPECT_THAT(Run(*plan, {feed, Tensor::Vector<int32_t>({2})}),
              ElementsAre(ElementsAre(1, 2, 1, 2)));
  EXPECT_THAT(Run(*plan, {feed, Tensor::Vector<int32_t>({1})}), ElementsAre(ElementsAre(1, 2)));
}

TEST_F(PlanTest, PackedWeightsLoseTheirPlainCopy) {
  const Endpoint x = maker_.Input("x", Shape({2}));
  const Endpoint w = maker_.Const("w", Floats({2}, {10, 20}));
  const Endpoint v = maker_.Const("v", Floats({2}, {1, 2}));
  const Endpoint a = maker_.Node("TestPacked", "a", {x, w});
  const Endpoint b = maker_.Node("TestPacked", "b", {a, v});
  maker_.Output("y", maker_.Node("TestAdd", "c", {b, v}));
  auto plan = Build({Floats({2}, {0, 0})});
  EXPECT_FALSE(model_->constant(w.node)->holds_plain());
  EXPECT_TRUE(model_->constant(v.node)->holds_plain());  // c reads it
  EXPECT_THAT(Run(*plan, {Floats({2}, {0, 0})}), ElementsAre(ElementsAre(12, 24)));
}

TEST_F(PlanTest, PlansShareKernels) {
  const Endpoint x = maker_.Input("x", Shape({-1}));
  const Endpoint a = maker_.Node("TestNeg", "a", {x});
  maker_.Output("y", maker_.Node("TestNeg", "b", {a}));
  Build({Floats({2}, {0, 0})});
  EXPECT_EQ(kernels_.stats().entries, 1);
  EXPECT_EQ(kernels_.stats().hits, 1);
  Build({Floats({3}, {0, 0, 0})});
  EXPECT_EQ(kernels_.stats().entries, 2);
  Build({Floats({2}, {0, 0})});
  EXPECT_EQ(kernels_.stats().misses, 2);
}

TEST_F(PlanTest, StringsAndScratch) {
  const Endpoint x = maker_.Input("x", Shape({2}), DType::kString);
  const Endpoint a = maker_.Node("TestUpper", "a", {x});
  maker_.Output("y", maker_.Node("TestUpper", "b", {a}));
  const Endpoint f = maker_.Input("f", Shape({2}));
  const Endpoint s = maker_.Node("TestScratch", "s", {f});
  maker_.Output("z", maker_.Node("TestScratch", "t", {s}));
  const std::vector<Tensor> feeds = {
      Tensor::Vector<std::string>({"a longer string than inline", "b"}), Floats({2}, {1, 2})};
  auto plan = Build(feeds);
  for (int i = 0; i < 2; ++i) {
    auto outputs = plan->Run(feeds);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_THAT((*outputs)[0].flat<std::string>(), ElementsAre("A LONGER STRING THAN INLINE", "B"));
    EXPECT_THAT((*outputs)[1].flat<float>(), ElementsAre(4, 8));
  }
}

TEST_F(PlanTest, EmptyTensors) {
  const Endpoint x = maker_.Input("x", Shape({-1}));
  maker_.Output("y", maker_.Node("TestCopy", "a", {maker_.Node("TestFail", "never run", {x})}));
  auto plan = Build({Floats({0}, {})});
  EXPECT_THAT(Run(*plan, {Floats({0}, {})}), ElementsAre(ElementsAre()));
}

TEST_F(PlanTest, ErrorsNameTheNode) {
  const Endpoint x = maker_.Input("x", Shape({-1}));
  maker_.Output("y", maker_.Node("TestFail", "bad one", {x}));
  auto plan = Build({Floats({1}, {1})});
  auto outputs = plan->Run({Floats({1}, {1})});
  EXPECT_THAT(std::string(outputs.status().message()),
              HasSubstr("node 'bad one' (TestFail): on purpose"));
}

TEST_F(PlanTest, UnknownOpsOnlyMatterWhereTheyAreNeeded) {
  const Endpoint x = maker_.Input("x", Shape({-1}));
  const Endpoint odd = maker_.Node("NoSuchOp", "odd", {x});
  maker_.Output("y", maker_.Node("TestCopy", "a", {x}));
  Build({Floats({1}, {1})});
  maker_.Output("z", odd);
  model_ = nullptr;
  EXPECT_THAT(std::string(TryBuild({Floats({1}, {1})}).status().message()),
              HasSubstr("node 'odd' (NoSuchOp): op is not implemented"));
}

}  // namespace
}  // namespace tenon

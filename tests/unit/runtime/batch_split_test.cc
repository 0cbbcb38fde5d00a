// Batches in parts: the same results as in one piece, and only where every op keeps rows apart.
#include "runtime/plan/batch_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "graph/text.h"
#include "ops/op.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

constexpr int64_t kRows = 16;

// %a is large and has the rows of %x.
constexpr char kHead[] = R"(
  in x = %x
  %x = Placeholder() {dtype=float, shape=<?,64,64,64>}
  %a = Softmax(%x) {T=float}
)";

Tensor Image(int64_t rows) {
  const Shape shape({rows, 64, 64, 64});
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 113) / 20;
  return Tensor::From<float>(shape, std::move(values));
}

class BatchSplitTest : public ::testing::Test {
 protected:
  BatchSplitTest() : kernels_(CacheLimits{.entries = 100, .bytes = 1 << 20}) {
    services_.flags = &flags_;
    services_.threads = 1;
  }

  absl::Status Load(const std::string& text) {
    TENON_ASSIGN_OR_RETURN(const Graph parsed, ParseGraph(text));
    Graph graph;  // the same, with defaults filled in
    for (NodeId id = 0; id < parsed.end_id(); ++id) {
      Node node = parsed.node(id);
      TENON_RETURN_IF_ERROR(CompleteAttrs(*FindOp(node.op).info, node));
      TENON_RETURN_IF_ERROR(graph.AddNode(std::move(node)).status());
    }
    for (const GraphInput& input : parsed.inputs()) graph.AddInput(input);
    graph.SetOutputs(parsed.outputs());
    TENON_ASSIGN_OR_RETURN(model_, ModelState::Create(std::move(graph), variables_));
    return absl::OkStatus();
  }

  std::shared_ptr<const SplitPlan> Split(int64_t rows, bool free_rows = true) {
    const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({rows, 64, 64, 64}), nullptr}};
    auto plan = BuildSplitPlan(model_, feeds, {free_rows}, services_, kernels_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : nullptr;
  }
  absl::Status Check(int64_t rows) {
    const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({rows, 64, 64, 64}), nullptr}};
    return CheckRowsApart(model_, feeds, {true}, services_);
  }
  std::shared_ptr<const FlatPlan> Whole(int64_t rows) {
    const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({rows, 64, 64, 64}), nullptr}};
    auto plan = BuildPlan(model_, feeds, services_, kernels_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : nullptr;
  }

  Flags flags_;
  Services services_;
  SessionVariables variables_;
  KernelCache kernels_;
  std::shared_ptr<const ModelState> model_;
};

class RowByRow : public BatchSplitTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(RowByRow, GivesTheSameInParts) {
  const absl::Status loaded = Load(absl::StrCat(kHead, GetParam()));
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(Check(kRows), absl::OkStatus());
  const auto split = Split(kRows);
  const auto whole = Whole(kRows);
  ASSERT_NE(split, nullptr);
  ASSERT_NE(whole, nullptr);
  EXPECT_LT(split->stats().arena_bytes, whole->stats().arena_bytes);
  const Tensor image = Image(kRows);
  const auto parts = split->Run({image}), one = whole->Run({image});
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_EQ(parts->size(), one->size());
  for (size_t i = 0; i < one->size(); ++i) EXPECT_TRUE(Identical((*parts)[i], (*one)[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, RowByRow,
    ::testing::Values(
        "%y = Relu(%a) {T=float} out y = %y",
        // An output that has no rows, and one that is the input.
        "%c = Const() {dtype=float, value=float<2>{1, 2}} "
        "%y = Relu(%a) {T=float} out c = %c out x = %x out y = %y",
        "%i = Const() {dtype=int32, value=int32<2>{1, 2}} %y = Mean(%a, %i) {T=float} out y = %y",
        // Flatten, by a shape that is computed.
        R"(%s = Shape(%a) {T=float} %b = Const() {dtype=int32, value=int32<1>{0}}
           %e = Const() {dtype=int32, value=int32<1>{1}}
           %n = StridedSlice(%s, %b, %e, %e) {T=int32, Index=int32, shrink_axis_mask=1}
           %m = Const() {dtype=int32, value=int32<>{-1}} %p = Pack(%n, %m) {N=2, T=int32}
           %f = Reshape(%a, %p) {T=float}
           %y = Relu(%f) {T=float} out y = %y)",
        // Rows joined with another axis and taken apart again.
        R"(%p = Const() {dtype=int32, value=int32<2>{-1, 64}} %f = Reshape(%a, %p) {T=float}
           %g = Relu(%f) {T=float} %q = Const() {dtype=int32, value=int32<4>{-1, 64, 64, 64}}
           %y = Reshape(%g, %q) {T=float} out y = %y)",
        // The same for all rows, as many as there are.
        R"(%s = Shape(%x) {T=float} %z = Const() {dtype=float, value=float<>{0.5}}
           %f = Fill(%s, %z) {T=float} %y = AddV2(%a, %f) {T=float} out y = %y)",
        R"(%o = Const() {dtype=int32, value=int32<4>{0, 3, 1, 2}}
           %y = Transpose(%a, %o) {T=float} out y = %y)",
        R"(%c = Const() {dtype=int32, value=int32<>{3}}
           %y = ConcatV2(%a, %x, %c) {N=2, T=float} out y = %y)",
        R"(%y = Einsum(%a, %x) {equation="nhwc,nhwc->nhc", N=2, T=float} out y = %y)"));

class AcrossRows : public BatchSplitTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(AcrossRows, StaysWhole) {
  const absl::Status loaded = Load(absl::StrCat(kHead, GetParam()));
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(Check(kRows).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Split(kRows), nullptr);
  // Not for want of size.
  const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({kRows, 64, 64, 64}), nullptr}};
  const auto dry_run = DryRunPlan(model_, feeds, services_);
  ASSERT_TRUE(dry_run.ok()) << dry_run.status();
  EXPECT_GE(dry_run->arena_bytes, size_t{16} << 20);
  EXPECT_FALSE(dry_run->dynamic);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, AcrossRows,
    ::testing::Values(
        "%i = Const() {dtype=int32, value=int32<1>{0}} %y = Mean(%a, %i) {T=float} out y = %y",
        "%i = Const() {dtype=int32, value=int32<1>{-4}} %y = Mean(%a, %i) {T=float} out y = %y",
        "%i = Const() {dtype=int32, value=int32<1>{0}} "
        "%y = ReverseV2(%a, %i) {T=float, Tidx=int32} out y = %y",
        "%i = Const() {dtype=int32, value=int32<>{0}} %y = Cumsum(%a, %i) {T=float} out y = %y",
        "%o = Const() {dtype=int32, value=int32<4>{1, 0, 2, 3}} "
        "%y = Transpose(%a, %o) {T=float} out y = %y",
        "%c = Const() {dtype=int32, value=int32<>{0}} "
        "%y = ConcatV2(%a, %x, %c) {N=2, T=float} out y = %y",
        "%s = Shape(%a) {T=float} out s = %s",
        // Numbered rows.
        R"(%s = Shape(%a) {T=float} %b = Const() {dtype=int32, value=int32<1>{0}}
           %e = Const() {dtype=int32, value=int32<1>{1}}
           %n = StridedSlice(%s, %b, %e, %e) {T=int32, Index=int32, shrink_axis_mask=1}
           %z = Const() {dtype=int32, value=int32<>{0}} %o = Const() {dtype=int32, value=int32<>{1}}
           %r = Range(%z, %n, %o) {Tidx=int32} %f = Cast(%r) {SrcT=int32, DstT=float}
           %p = Const() {dtype=int32, value=int32<4>{-1, 1, 1, 1}}
           %g = Reshape(%f, %p) {T=float} %y = AddV2(%a, %g) {T=float} out y = %y)",
        // Divided by their number.
        R"(%s = Size(%a) {T=float} %f = Cast(%s) {SrcT=int32, DstT=float}
           %y = RealDiv(%a, %f) {T=float} out y = %y)",
        R"(%i = Const() {dtype=int32, value=int32<4>{-1, 0, 0, 0}}
           %e = Const() {dtype=int32, value=int32<4>{0, 0, 0, 0}}
           %t = Const() {dtype=int32, value=int32<4>{-1, 1, 1, 1}}
           %y = StridedSlice(%a, %i, %e, %t) {T=float, Index=int32, end_mask=15, begin_mask=14}
           out y = %y)",
        R"(%y = Einsum(%a, %x) {equation="nhwc,mhwc->nm", N=2, T=float} out y = %y)",
        "%p = Const() {dtype=int32, value=int32<2>{64, -1}} "
        "%f = Reshape(%a, %p) {T=float} out f = %f",
        R"(%g = Const() {dtype=float, value=float<64>{= 1}}
           %y = FusedBatchNormV3(%a, %g, %g, %g, %g) {T=float, U=float, is_training=true}
           out y = %y)"));

// %a is large; a recurrent layer with the sequences of the batch along axis 0.
TEST_F(BatchSplitTest, SequencesAreSplit) {
  const absl::Status loaded = Load(R"(
    in x = %x in h = %h in c = %c
    %x = Placeholder() {dtype=float, shape=<?,512,64>}
    %h = Placeholder() {dtype=float, shape=<?,16>}
    %c = Placeholder() {dtype=float, shape=<?,16>}
    %a = Softmax(%x) {T=float}
    %w = Const() {dtype=float, value=float<16,64>{random 1 -1 1}}
    %r = _Recurrence(%a, %w, %h, %c) {T=float, num_states=2, cell="lstm",
      activations=["sigmoid", "sigmoid", "tanh", "sigmoid", "tanh"],
      time_major=false, y_time_major=false}
    out y = %r out h = %r:1 out c = %r:2)");
  ASSERT_TRUE(loaded.ok()) << loaded;
  constexpr int64_t kSequences = 96;
  const Tensor image = Image(kSequences / 8);  // as many elements
  const auto elements = image.flat<float>();
  const Tensor x = Tensor::From<float>(Shape({kSequences, 512, 64}),
                                       std::vector<float>(elements.begin(), elements.end()));
  std::vector<float> states(kSequences * 16);
  for (size_t i = 0; i < states.size(); ++i) states[i] = static_cast<float>(i % 29) / 29;
  const Tensor state = Tensor::From<float>(Shape({kSequences, 16}), std::move(states));
  const std::vector<TensorSpec> feeds = {{DType::kFloat, x.shape(), nullptr},
                                         {DType::kFloat, state.shape(), nullptr},
                                         {DType::kFloat, state.shape(), nullptr}};
  const std::vector<bool> free(3, true);
  EXPECT_EQ(CheckRowsApart(model_, feeds, free, services_), absl::OkStatus());
  const auto split = BuildSplitPlan(model_, feeds, free, services_, kernels_);
  ASSERT_TRUE(split.ok()) << split.status();
  ASSERT_NE(*split, nullptr);
  const auto whole = BuildPlan(model_, feeds, services_, kernels_);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const auto parts = (*split)->Run({x, state, state}), one = (*whole)->Run({x, state, state});
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_TRUE(one.ok()) << one.status();
  for (size_t i = 0; i < one->size(); ++i) EXPECT_TRUE(Identical((*parts)[i], (*one)[i])) << i;
}

// Each part would read the weights in each of its steps.
TEST_F(BatchSplitTest, SequencesStayTogetherIfWeightsOutweighThem) {
  const absl::Status loaded = Load(R"(
    in x = %x in h = %h
    %x = Placeholder() {dtype=float, shape=<?,512,512>}
    %h = Placeholder() {dtype=float, shape=<?,512>}
    %a = Softmax(%x) {T=float}
    %w = Const() {dtype=float, value=float<512,512>{= 0.5}}
    %r = _Recurrence(%a, %w, %h) {T=float, num_states=1, cell="simple", activations=["tanh"],
      time_major=false, y_time_major=false}
    out y = %r)");
  ASSERT_TRUE(loaded.ok()) << loaded;
  const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({24, 512, 512}), nullptr},
                                         {DType::kFloat, Shape({24, 512}), nullptr}};
  const auto split = BuildSplitPlan(model_, feeds, {true, true}, services_, kernels_);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(*split, nullptr);
}

TEST(RecurrenceRows, AreThoseOfTheBatchAlongAxis0) {
  const OpRow& row = FactsOf("_Recurrence");
  Node node;
  node.op = "_Recurrence";
  node.attrs = {{"N", int64_t{1}},
                {"num_states", int64_t{1}},
                {"num_masks", int64_t{1}},
                {"cell", "simple"},
                {"activations", std::vector<std::string>{"tanh"}},
                {"reverse", std::vector<int64_t>{}},
                {"y_reverse", std::vector<int64_t>{}},
                {"mask_reverse", std::vector<int64_t>{}}};
  using enum BatchAxis;
  const std::vector<TensorSpec> in(4), out(2);
  const auto apart = [&](bool x_major, bool mask_major, const std::vector<BatchAxis>& inputs) {
    node.attrs["time_major"] = x_major;
    node.attrs["mask_time_major"] = mask_major;
    return KeepsRowsApart(row, {node, inputs, in, out});
  };
  EXPECT_TRUE(apart(false, false, {kFirst, kNone, kFirst, kFirst}));
  EXPECT_FALSE(apart(true, false, {kFirst, kNone, kFirst, kFirst}));    // steps along axis 0
  EXPECT_FALSE(apart(false, true, {kFirst, kNone, kFirst, kFirst}));    // of the mask
  EXPECT_FALSE(apart(false, false, {kFirst, kFirst, kFirst, kFirst}));  // weights of each row
  EXPECT_FALSE(apart(false, false, {kFirst, kNone, kOther, kFirst}));
  EXPECT_FALSE(apart(false, false, {kOther, kNone, kFirst, kFirst}));
}

TEST_F(BatchSplitTest, SmallTensorsAndFixedRowsStayWhole) {
  ASSERT_TRUE(Load(absl::StrCat(kHead, "%y = Relu(%a) {T=float} out y = %y")).ok());
  EXPECT_EQ(Split(1), nullptr);
  EXPECT_EQ(Split(2), nullptr);  // 2 MiB
  EXPECT_EQ(Split(kRows, /*free_rows=*/false), nullptr);
  services_.threads = 16;
  EXPECT_EQ(Split(kRows), nullptr);
}

// Of small networks, each thread runs rows of its own.
class SideBySide : public BatchSplitTest {
 protected:
  SideBySide() { services_.threads = 2; }

  absl::Status LoadSmall() {
    return Load(R"(
      in x = %x
      %x = Placeholder() {dtype=float, shape=<?,64>}
      %a = Softmax(%x) {T=float}
      %c = Const() {dtype=float, value=float<2>{1, 2}}
      %y = Square(%a) {T=float}
      out y = %y out c = %c out a = %a)");
  }
  std::shared_ptr<const SplitPlan> SplitSmall(int64_t rows) {
    const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({rows, 64}), nullptr}};
    auto plan = BuildSplitPlan(model_, feeds, {true}, services_, kernels_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : nullptr;
  }
};

TEST_F(SideBySide, GivesTheSame) {
  ASSERT_TRUE(LoadSmall().ok());
  constexpr int64_t kMany = 1000;
  const auto split = SplitSmall(kMany);
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->parts(), 2);
  EXPECT_EQ(split->threads(), 2);
  std::vector<float> values(kMany * 64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 113) / 20;
  const Tensor x = Tensor::From<float>(Shape({kMany, 64}), std::move(values));
  const std::vector<TensorSpec> feeds = {{DType::kFloat, x.shape(), nullptr}};
  const auto whole = BuildPlan(model_, feeds, services_, kernels_);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const auto one = (*whole)->Run({x});
  ASSERT_TRUE(one.ok()) << one.status();
  struct Observer : StepObserver {
    void OnStep(int step, int64_t) override { steps.push_back(step); }
    std::vector<int> steps;
  } observer;
  // Memory of the caller's for one of the outputs.
  const Tensor place = *Tensor::Allocate(DType::kFloat, x.shape());
  const std::vector<Tensor> into = {Tensor(), Tensor(), place};
  for (const bool observed : {false, true}) {
    const auto parts = split->Run({x}, {.observer = observed ? &observer : nullptr, .into = into});
    ASSERT_TRUE(parts.ok()) << parts.status();
    ASSERT_EQ(parts->size(), one->size());
    for (size_t i = 0; i < one->size(); ++i) EXPECT_TRUE(Identical((*parts)[i], (*one)[i])) << i;
    EXPECT_EQ((*parts)[2].raw(), place.raw());
  }
  EXPECT_EQ(observer.steps.size(), split->Describe().size());
}

TEST_F(SideBySide, TakesEqualPartsOfManyRows) {
  ASSERT_TRUE(LoadSmall().ok());
  EXPECT_EQ(SplitSmall(997), nullptr);
  EXPECT_EQ(SplitSmall(14), nullptr);
  EXPECT_EQ(SplitSmall(64), nullptr);  // too little work
  services_.threads = 1;
  EXPECT_EQ(SplitSmall(1000), nullptr);
  services_.threads = 3;  // two turns and two thirds of one, so that little time is lost
  ASSERT_NE(SplitSmall(1000), nullptr);
  EXPECT_EQ(SplitSmall(1000)->parts(), 8);
}

TEST_F(SideBySide, StopsWhenTold) {
  ASSERT_TRUE(LoadSmall().ok());
  const auto split = SplitSmall(1000);
  ASSERT_NE(split, nullptr);
  const Tensor x = Tensor::From<float>(Shape({1000, 64}), std::vector<float>(64000, 1));
  const std::atomic<bool> cancelled = true;
  RunOptions options;
  options.stop.cancelled = &cancelled;
  EXPECT_TRUE(absl::IsCancelled(split->Run({x}, options).status()));
}

// A default keeps its rows, however many are fed elsewhere.
TEST_F(BatchSplitTest, ADefaultIsNotTakenApart) {
  const absl::Status loaded = Load(absl::StrCat(kHead, R"(
    in d = %d
    %c = Const() {dtype=float, value=float<16>{= 3}}
    %d = PlaceholderWithDefault(%c) {dtype=float, shape=<?>}
    %y = Relu(%a) {T=float} out y = %y out d = %d)"));
  ASSERT_TRUE(loaded.ok()) << loaded;
  const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({kRows, 64, 64, 64}), nullptr},
                                         {DType::kInvalid, Shape(), nullptr}};
  const auto plan = BuildSplitPlan(model_, feeds, {true, true}, services_, kernels_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_NE(*plan, nullptr);
  EXPECT_FALSE((*plan)->outputs()[1].split);
  const auto results = (*plan)->Run({Image(kRows), Tensor()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[1].shape(), Shape({16}));
  EXPECT_EQ((*results)[1].data<float>()[15], 3.0f);
}

TEST_F(BatchSplitTest, StepsAreObservedOnceARun) {
  ASSERT_TRUE(Load(absl::StrCat(kHead, "%y = Relu(%a) {T=float} out y = %y")).ok());
  const auto split = Split(kRows);
  ASSERT_NE(split, nullptr);
  struct Observer : StepObserver {
    void OnStep(int step, int64_t) override { steps.push_back(step); }
    std::vector<int> steps;
  } observer;
  ASSERT_TRUE(split->Run({Image(kRows)}, {.observer = &observer}).ok());
  std::vector<int> want(split->Describe().size());
  for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<int>(i);
  EXPECT_EQ(observer.steps, want);
}

TEST(BatchSplitSession, RunsAnyNumberOfRows) {
  auto graph = ParseGraph(absl::StrCat(kHead, "%y = Relu(%a) {T=float} out y = %y"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto session = Session::Create(*std::move(graph), DefaultOptions(1));
  ASSERT_TRUE(session.ok()) << session.status();
  const Tensor all = Image(13);
  auto whole = (*session)->Run({all});
  ASSERT_TRUE(whole.ok()) << whole.status();
  for (int64_t row = 0; row < 13; ++row) {
    const size_t bytes = all.bytes() / 13;
    Tensor one = *Tensor::Allocate(DType::kFloat, Shape({1, 64, 64, 64}));
    std::copy_n(all.data<char>() + bytes * static_cast<size_t>(row), bytes, one.data<char>());
    auto alone = (*session)->Run({one});
    ASSERT_TRUE(alone.ok()) << alone.status();
    EXPECT_EQ(std::memcmp((*alone)[0].raw(),
                          (*whole)[0].data<char>() + bytes * static_cast<size_t>(row), bytes),
              0);
  }
  EXPECT_TRUE((*session)->Run({Image(0)}).ok());
}

// Like Relu, but for no fewer than kRows rows.
absl::StatusOr<std::unique_ptr<Kernel>> ManyRows(PrepareContext& p) {
  if (p.input_shape(0).dim(0) < kRows) return Internal("too few rows");
  return FindOp("Relu").info->row.reference(p);
}

const OpRegistration many_rows_op({
    .name = "TestManyRows",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .shape = UnchangedShape,
    .reference = ManyRows,
    .elementwise = true,
});

TEST_F(BatchSplitTest, APartThatCannotBePlannedIsAnError) {
  ASSERT_TRUE(Load(absl::StrCat(kHead, "%y = TestManyRows(%a) {T=float} out y = %y")).ok());
  const std::vector<TensorSpec> feeds = {{DType::kFloat, Shape({kRows, 64, 64, 64}), nullptr}};
  const absl::Status status = BuildSplitPlan(model_, feeds, {true}, services_, kernels_).status();
  EXPECT_TRUE(absl::IsInternal(status)) << status;
}

TEST(BatchSplitSession, RunsWholeAndSaysWhyWherePartsFail) {
  auto graph = ParseGraph(absl::StrCat(kHead, "%y = TestManyRows(%a) {T=float} out y = %y"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto session = Session::Create(*std::move(graph), DefaultOptions(1));
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->split_status().ok());
  const auto run = (*session)->Run({Image(kRows)});
  ASSERT_TRUE(run.ok()) << run.status();
  const auto plan = (*session)->PlanFor({Image(kRows)});
  EXPECT_EQ(dynamic_cast<const SplitPlan*>(plan.value().get()), nullptr);
  EXPECT_THAT((*session)->split_status().message(), ::testing::HasSubstr("too few rows"));
  // Where the whole cannot be planned either, that is the run's error.
  EXPECT_FALSE((*session)->Run({Image(kRows - 1)}).ok());
}

}  // namespace
}  // namespace tenon

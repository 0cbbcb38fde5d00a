// What planning knows of the tensors in lists: their shape and, of small integers, their value. It
// must hold for whatever a run does with the lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

// Two loops, as a gradient has them: in %n iterations the first one pushes items to a list; in
// %pops iterations the second one pops %popped and makes %next of it and of %x.
struct Loops {
  std::string list;
  std::string push;  // makes %pushed of %list
  std::string pop = R"(
  %sum = Sum(%popped:1, %zero) {T=int32, Tidx=int32, keep_dims=false}
  %as_float = Cast(%sum) {SrcT=int32, DstT=float}
  %next = AddV2(%x, %as_float) {T=float}
)";
  int more_pops = 0;
  std::string shape = "?";  // of %x
};

std::string TextOf(const Loops& loops) {
  const std::string arguments = R"(
  in i = %i
  in n = %n
  in x = %x
  in list = %list
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=<?>}
  %list = Placeholder() {dtype=variant, shape=<*>}
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next_i = AddV2(%i, %one) {T=int32}
  %any = Const() {dtype=int32, value=int32<>{-1}}
  %zero = Const() {dtype=int32, value=int32<1>{0}}
)";
  return absl::StrCat("in n = %n\nin x = %x\n%n = Placeholder() {dtype=int32, shape=<>}\n",
                      "%x = Placeholder() {dtype=float, shape=<", loops.shape, ">}\n",
                      "%more = Const() {dtype=int32, value=int32<>{", loops.more_pops, "}}", R"(
%pops = AddV2(%n, %more) {T=int32}
%zero = Const() {dtype=int32, value=int32<>{0}}
%any = Const() {dtype=int32, value=int32<>{-1}}
)",
                      loops.list, R"(
%push = While(%zero, %n, %x, %list) {T=[int32, int32, float, variant], cond=@below, body=@push}
%pop = While(%zero, %pops, %x, %push:3) {T=[int32, int32, float, variant], cond=@below, body=@pop}
out y = %pop:2
function below {)",
                      arguments, R"(
  %r = Less(%i, %n) {T=int32}
  out r = %r
}
function push {)",
                      arguments, loops.push, R"(
  out i = %next_i
  out n = %n
  out x = %x
  out list = %pushed
}
function pop {)",
                      arguments, R"(
  %popped = TensorListPopBack(%list, %any) {element_dtype=int32}
)",
                      loops.pop, R"(
  out i = %next_i
  out n = %n
  out x = %next
  out list = %popped
}
)");
}

std::unique_ptr<Session> Open(const Loops& loops) {
  const std::string text = TextOf(loops);
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  auto session = Session::Create(*std::move(graph), DefaultOptions(1));
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<float> RunOf(Session& session, int32_t n, std::vector<float> x) {
  const auto got = session.Run(
      std::vector<Tensor>{Tensor::Scalar<int32_t>(n), Tensor::Vector<float>(std::move(x))});
  EXPECT_TRUE(got.ok()) << got.status();
  if (!got.ok()) return {};
  const absl::Span<const float> y = (*got)[0].flat<float>();
  return {y.begin(), y.end()};
}

// A list of any tensors.
constexpr char kEmpty[] =
    "%list = EmptyTensorList(%any, %any) {element_dtype=int32, shape_type=int32}\n";
constexpr char kPushShape[] = R"(
  %item = Shape(%x) {T=float, out_type=int32}
  %pushed = TensorListPushBack(%list, %item) {element_dtype=int32}
)";

using ::testing::ElementsAre;

TEST(ListItems, AreTheValuesOfTheRun) {
  auto session = Open({.list = kEmpty, .push = kPushShape});
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(RunOf(*session, 3, {1}), ElementsAre(4));
    EXPECT_THAT(RunOf(*session, 3, {1, 2}), ElementsAre(7, 8));
    EXPECT_THAT(RunOf(*session, 0, {1, 2}), ElementsAre(1, 2));
    EXPECT_THAT(RunOf(*session, 1, {1, 2, 3}), ElementsAre(4, 5, 6));
  }
}

// A shape that is popped tells the shapes of what is computed from it.
TEST(ListItems, MakeShapesKnown) {
  auto session = Open({.list = kEmpty, .push = kPushShape, .pop = R"(
  %size = Fill(%popped:1, %unit) {T=float, index_type=int32}
  %unit = Const() {dtype=float, value=float<>{1}}
  %next = AddV2(%x, %size) {T=float}
)"});
  EXPECT_THAT(RunOf(*session, 3, {1, 2}), ElementsAre(4, 5));
  const int64_t plans = session->function_plan_stats().misses;
  EXPECT_EQ(plans, 4);  // a condition and a body for each loop
  EXPECT_THAT(RunOf(*session, 5, {1, 2}), ElementsAre(6, 7));
  EXPECT_EQ(session->function_plan_stats().misses, plans);
  EXPECT_THAT(RunOf(*session, 2, {1, 2, 3}), ElementsAre(3, 4, 5));
  EXPECT_THAT(RunOf(*session, 2, {1, 2}), ElementsAre(3, 4));
}

TEST(ListItems, MayChangeFromIterationToIteration) {
  auto session = Open({.list = kEmpty, .push = R"(
  %item = Reshape(%i, %one_dim) {T=int32, Tshape=int32}
  %one_dim = Const() {dtype=int32, value=int32<1>{1}}
  %pushed = TensorListPushBack(%list, %item) {element_dtype=int32}
)"});
  EXPECT_THAT(RunOf(*session, 5, {1}), ElementsAre(11));
}

TEST(ListItems, MayBeSeveralConstants) {
  auto session = Open({.list = kEmpty,
                       .push = R"(
  %ten = Const() {dtype=int32, value=int32<1>{10}}
  %first = TensorListPushBack(%list, %ten) {element_dtype=int32}
  %item = Shape(%x) {T=float, out_type=int32}
  %pushed = TensorListPushBack(%first, %item) {element_dtype=int32}
)",
                       .more_pops = 2});
  EXPECT_THAT(RunOf(*session, 2, {1}), ElementsAre(1 + 2 * 10 + 2 * 1));
  EXPECT_THAT(RunOf(*session, 2, {1, 2}), ElementsAre(25, 26));
}

TEST(ListItems, MayBeginWithOthers) {
  auto session = Open({.list = absl::StrCat(R"(
%seven = Const() {dtype=int32, value=int32<1>{7}}
%list = TensorListPushBack(%empty, %seven) {element_dtype=int32}
%empty)",
                                            std::string(kEmpty).substr(5)),
                       .push = kPushShape,
                       .more_pops = 1});
  EXPECT_THAT(RunOf(*session, 2, {1}), ElementsAre(1 + 7 + 2));
}

// Tensors that are not set are zeros.
TEST(ListItems, MayNotBeSet) {
  auto session = Open({.list = R"(
%two = Const() {dtype=int32, value=int32<>{2}}
%list = TensorListReserve(%any, %two) {element_dtype=int32, shape_type=int32}
)",
                       .push = kPushShape,
                       .more_pops = 2});
  EXPECT_THAT(RunOf(*session, 3, {1}), ElementsAre(4));
  EXPECT_THAT(RunOf(*session, 1, {1, 2}), ElementsAre(3, 4));
}

TEST(ListItems, MayHaveSeveralShapes) {
  auto session = Open({.list = kEmpty, .push = R"(
  %size = Reshape(%i, %one_dim) {T=int32, Tshape=int32}
  %one_dim = Const() {dtype=int32, value=int32<1>{1}}
  %item = Fill(%size, %one) {T=int32, index_type=int32}
  %pushed = TensorListPushBack(%list, %item) {element_dtype=int32}
)"});
  EXPECT_THAT(RunOf(*session, 4, {1}), ElementsAre(1 + 0 + 1 + 2 + 3));
}

// A part of an argument, which is in the arena of the loop's caller, where other tensors are
// afterwards.
TEST(ListItems, OutliveWhatTheyAreAPartOf) {
  const std::string arguments = R"(
  in i = %i
  in x = %x
  in list = %list
  %i = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=<4>}
  %list = Placeholder() {dtype=variant, shape=<*>}
)";
  const std::string text = absl::StrCat(R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<4>}
%zero = Const() {dtype=int32, value=int32<>{0}}
%any = Const() {dtype=int32, value=int32<>{-1}}
%list = EmptyTensorList(%any, %any) {element_dtype=float, shape_type=int32}
%in_arena = Tanh(%x) {T=float}
%loop = While(%zero, %in_arena, %list) {T=[int32, float, variant], cond=@below, body=@push}
%a = Exp(%loop:1) {T=float}
%axis = Const() {dtype=int32, value=int32<1>{0}}
%b = Cumsum(%a, %zero) {T=float, Tidx=int32, exclusive=false, reverse=false}
%c = Exp(%b) {T=float}
%d = Cumsum(%c, %zero) {T=float, Tidx=int32, exclusive=false, reverse=false}
out d = %d
%later = Identity(%loop:2) {T=variant} ^%d
%items = TensorListStack(%later, %any) {element_dtype=float, num_elements=2}
out items = %items
function below {)",
                                        arguments, R"(
  %two = Const() {dtype=int32, value=int32<>{2}}
  %r = Less(%i, %two) {T=int32}
  out r = %r
}
function push {)",
                                        arguments, R"(
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next = AddV2(%i, %one) {T=int32}
  %begin = Const() {dtype=int32, value=int32<1>{1}}
  %size = Const() {dtype=int32, value=int32<1>{2}}
  %part = Slice(%x, %begin, %size) {T=float, Index=int32}
  %pushed = TensorListPushBack(%list, %part) {element_dtype=float}
  %half = Sigmoid(%x) {T=float}
  out i = %next
  out x = %half
  out list = %pushed
}
)");
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto session = Session::Create(*std::move(graph), DefaultOptions(1));
  ASSERT_TRUE(session.ok()) << session.status();
  const auto got = (*session)->Run(std::vector<Tensor>{Tensor::Vector<float>({1, 2, 3, 4})});
  ASSERT_TRUE(got.ok()) << got.status();
  const absl::Span<const float> items = (*got)[1].flat<float>();
  const auto sigmoid = [](float x) { return 1 / (1 + std::exp(-x)); };
  const float first[] = {std::tanh(2.0F), std::tanh(3.0F)};
  EXPECT_THAT(items,
              ::testing::Pointwise(::testing::FloatNear(1e-5F),
                                   {first[0], first[1], sigmoid(first[0]), sigmoid(first[1])}));
}

TEST(ListItems, RunOut) {
  auto session = Open({.list = kEmpty, .push = kPushShape, .more_pops = 1});
  const auto got =
      session->Run(std::vector<Tensor>{Tensor::Scalar<int32_t>(2), Tensor::Vector<float>({1, 2})});
  EXPECT_THAT(got.status().message(), ::testing::HasSubstr("the list is empty"));
}

}  // namespace
}  // namespace tenon

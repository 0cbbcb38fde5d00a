// Loops and branches: variables that are changed in place, and what must not see the change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "env/flags.h"
#include "graph/text.h"
#include "ops/op.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

std::atomic<int> copies = 0;

// x with element i replaced by v.
absl::StatusOr<std::unique_ptr<Kernel>> Set(PrepareContext& p) {
  p.AllowInPlace(0, 0);
  return MakeKernel([bytes = static_cast<size_t>(p.input_shape(0).num_elements()) *
                             sizeof(float)](RunContext& run) {
    if (run.input(0) != run.output(0)) {
      ++copies;
      std::memcpy(run.output(0), run.input(0), bytes);
    }
    run.output<float>(0)[*run.input<int32_t>(1)] = *run.input<float>(2);
    return absl::OkStatus();
  });
}

const OpRegistration set_op({.name = "TestSet",
                             .inputs = "x: float, i: int32, v: float",
                             .outputs = "y: float",
                             .shape = UnchangedShape,
                             .reference = Set});

std::unique_ptr<Session> Make(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<float> ToFloats(const Tensor& t) {
  return {t.flat<float>().begin(), t.flat<float>().end()};
}

std::vector<std::vector<float>> Values(Session& session, const std::vector<Tensor>& feeds) {
  copies = 0;
  auto got = session.Run(feeds);
  EXPECT_TRUE(got.ok()) << got.status();
  std::vector<std::vector<float>> values;
  if (!got.ok()) return values;
  for (const Tensor& t : *got) values.push_back(ToFloats(t));
  return values;
}

Tensor Count(int32_t n) { return Tensor::Scalar<int32_t>(n); }

// Text of a graph with a loop over %i, %n and two float vectors that starts from `a` and `b`; the
// body's results for them are `next_a` and `next_b`. %v is i as a float, %one 1.
struct LoopText {
  std::string head;  // nodes before the loop
  std::string a = "%x", b = "%x";
  std::string body = "%set = TestSet(%a, %i, %v)";
  std::string next_a = "%set", next_b = "%b";
  std::string condition = "%r = Less(%i, %n) {T=int32}";
  std::string tail = "out y = %loop:2";
  std::string shape = "<4>";
  std::string functions;

  std::string Text() const {
    const std::string args = absl::StrReplaceAll(R"(
  in i = %i
  in n = %n
  in a = %a
  in b = %b
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=SHAPE}
  %b = Placeholder() {dtype=float, shape=SHAPE}
)",
                                                 {{"SHAPE", shape}});
    return absl::StrCat(
        "in n = %n\nin x = %x\n%n = Placeholder() {dtype=int32, shape=<>}\n",
        "%x = Placeholder() {dtype=float, shape=", shape, "}\n",
        "%zero = Const() {dtype=int32, value=int32<>{0}}\n", head, "\n%loop = While(%zero, %n, ", a,
        ", ", b, ") {T=[int32, int32, float, float], cond=@condition, body=@body}\n", tail,
        "\nfunction condition {", args, condition, "\nout r = %r\n}\nfunction body {", args,
        "%one = Const() {dtype=int32, value=int32<>{1}}\n%next = AddV2(%i, %one) {T=int32}\n",
        "%v = Cast(%i) {SrcT=int32, DstT=float}\n", body,
        "\nout i = %next\nout n = %n\nout a = ", next_a, "\nout b = ", next_b, "\n}\n", functions);
  }
};

TEST(Loops, UpdateTheirVariableInPlace) {
  auto session = Make(LoopText{}.Text());
  Tensor x = Tensor::Vector<float>({9, 9, 9, 9});
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(Values(*session, {Count(4), x}), ElementsAre(ElementsAre(0, 1, 2, 3)));
    EXPECT_EQ(copies, 1);  // the caller's tensor
  }
  EXPECT_THAT(ToFloats(x), ElementsAre(9, 9, 9, 9));
  EXPECT_THAT(Values(*session, {Count(0), x}), ElementsAre(ElementsAre(9, 9, 9, 9)));
}

TEST(Loops, KeepTheInitialValueForOtherReaders) {
  LoopText constant;
  constant.head = "%c = Const() {dtype=float, value=float<4>{5, 6, 7, 8}}";
  constant.a = "%c";
  constant.tail = "%late = AddV2(%loop:2, %c) {T=float}\nout y = %late";
  auto session = Make(constant.Text());
  const Tensor x = Tensor::Vector<float>({1, 2, 3, 4});
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(Values(*session, {Count(2), x}), ElementsAre(ElementsAre(5, 7, 14, 16)));
    EXPECT_EQ(copies, 1);
  }

  LoopText computed;
  computed.head = "%m = Neg(%x) {T=float}";
  computed.a = "%m";
  computed.tail = "out y = %loop:2\nout m = %m";
  session = Make(computed.Text());
  EXPECT_THAT(Values(*session, {Count(3), x}),
              ElementsAre(ElementsAre(0, 1, 2, -4), ElementsAre(-1, -2, -3, -4)));

  LoopText variable;
  variable.head =
      "%h = VarHandleOp() {dtype=float, shape=<4>, shared_name=\"w\", "
      "_initial_value=float<4>{4, 3, 2, 1}}\n%w = ReadVariableOp(%h) {dtype=float, _shape=<4>}\n"
      "%set = AssignVariableOp(%h, %x) {dtype=float} ^%loop";
  variable.a = "%w";
  variable.tail = "out y = %loop:2\ntarget %set";
  session = Make(variable.Text());
  EXPECT_THAT(Values(*session, {Count(2), x}), ElementsAre(ElementsAre(0, 1, 2, 1)));
  EXPECT_THAT(Values(*session, {Count(1), x}), ElementsAre(ElementsAre(0, 2, 3, 4)));
  EXPECT_THAT(ToFloats(*session->ReadVariable("w")), ElementsAre(1, 2, 3, 4));
}

TEST(Loops, KeepOneTensorThatIsTwoVariables) {
  LoopText both;
  both.body = "%set = TestSet(%a, %i, %v)\n%w = Neg(%v) {T=float}\n%other = TestSet(%b, %i, %w)";
  both.next_b = "%other";
  both.tail = "out a = %loop:2\nout b = %loop:3";
  auto session = Make(both.Text());
  EXPECT_THAT(Values(*session, {Count(3), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(0, 1, 2, 9), ElementsAre(0, -1, -2, 9)));
  EXPECT_EQ(copies, 2);

  // They become one in the body.
  LoopText joined = both;
  joined.body = "%set = TestSet(%a, %i, %v)";
  joined.next_b = "%set";
  session = Make(joined.Text());
  EXPECT_THAT(Values(*session, {Count(3), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(0, 1, 2, 9), ElementsAre(0, 1, 2, 9)));
}

TEST(Loops, KeepTheOldValueForALaterReader) {
  LoopText old;
  old.body =
      "%set = TestSet(%a, %i, %v)\n%diff = Sub(%set, %a) {T=float}\n"
      "%sum = AddV2(%b, %diff) {T=float}";
  old.next_b = "%sum";
  old.tail = "out a = %loop:2\nout b = %loop:3";
  auto session = Make(old.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(0, 1, 2, 3)));

  // The old value itself leaves the body.
  LoopText before;
  before.next_b = "%a";
  before.tail = "out a = %loop:2\nout b = %loop:3";
  session = Make(before.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(0, 1, 2, 9)));

  // The variables change places.
  LoopText swapped;
  swapped.next_a = "%b";
  swapped.next_b = "%set";
  swapped.b = "%m";
  swapped.head = "%m = Neg(%x) {T=float}";
  swapped.tail = "out a = %loop:2\nout b = %loop:3";
  session = Make(swapped.Text());
  EXPECT_THAT(Values(*session, {Count(3), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(-9, 1, -9, -9), ElementsAre(0, 9, 2, 9)));
}

TEST(Loops, AskTheConditionForTheChangedValue) {
  LoopText until;
  until.condition = R"(%axis = Const() {dtype=int32, value=int32<1>{0}}
%sum = Sum(%a, %axis) {T=float, Tidx=int32, keep_dims=false}
%limit = Const() {dtype=float, value=float<>{20}}
%r = Greater(%sum, %limit) {T=float})";
  auto session = Make(until.Text());
  EXPECT_THAT(Values(*session, {Count(0), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(0, 1, 9, 9)));
  EXPECT_EQ(copies, 1);
}

TEST(Loops, UpdateInPlaceThroughReshapesAndChains) {
  LoopText shaped;
  shaped.body = R"(%flat = Const() {dtype=int32, value=int32<1>{4}}
%square = Const() {dtype=int32, value=int32<2>{2, 2}}
%f = Reshape(%a, %square) {T=float, Tshape=int32}
%s = TestSet(%f, %i, %v)
%t = TestSet(%s, %zero, %v)
%set = Reshape(%t, %flat) {T=float, Tshape=int32}
%zero = Const() {dtype=int32, value=int32<>{0}})";
  auto session = Make(shaped.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(3, 1, 2, 3)));
  EXPECT_EQ(copies, 1);
}

// Parts of the variable are read where they lie.
TEST(Loops, ReadPartsBeforeAndAfterTheUpdate) {
  LoopText parts;
  parts.body = R"(%set = TestSet(%a, %i, %v)
%zero = Const() {dtype=int32, value=int32<1>{0}}
%two = Const() {dtype=int32, value=int32<1>{2}}
%four = Const() {dtype=int32, value=int32<1>{4}}
%axis = Const() {dtype=int32, value=int32<>{0}}
%unit = Const() {dtype=int32, value=int32<1>{1}}
%old = Slice(%a, %two, %two) {T=float, Index=int32}
%low = StridedSlice(%set, %zero, %two, %unit) {T=float, Index=int32}
%high = StridedSlice(%set, %two, %four, %unit) {T=float, Index=int32}
%diff = Sub(%high, %old) {T=float}
%both = ConcatV2(%low, %diff, %axis) {T=float, Tidx=int32, N=2}
%sum = AddV2(%b, %both) {T=float})";
  parts.next_b = "%sum";
  parts.tail = "out a = %loop:2\nout b = %loop:3";
  auto session = Make(parts.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(9, 9 + 9 + 3, 2, 3)));

  // A part leaves the body, and the whole is changed in the next iteration.
  parts.body = R"(%axis = Const() {dtype=int32, value=int32<>{0}}
%halves = Split(%axis, %a) {T=float, num_split=2}
%set = TestSet(%a, %i, %v)
%joined = ConcatV2(%halves:1, %halves, %axis) {T=float, Tidx=int32, N=2})";
  parts.next_b = "%joined";
  session = Make(parts.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({6, 7, 8, 9})}),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(2, 9, 0, 1)));
}

TEST(Plans, GiveAwayPartsAsCopies) {
  auto session = Make(R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<4>}
%axis = Const() {dtype=int32, value=int32<>{0}}
%m = Neg(%x) {T=float}
%s = Split(%axis, %m) {T=float, num_split=2}
%t = Split(%axis, %x) {T=float, num_split=2}
%sum = AddV2(%s:1, %t) {T=float}
out a = %s:1
out b = %t:1
out c = %sum
out d = %s:1
)");
  const Tensor x = Tensor::Vector<float>({1, 2, 3, 4});
  const auto got = session->Run(std::vector<Tensor>{x});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(ToFloats((*got)[0]), ElementsAre(-3, -4));
  EXPECT_THAT(ToFloats((*got)[1]), ElementsAre(3, 4));
  EXPECT_THAT(ToFloats((*got)[2]), ElementsAre(-2, -2));
  EXPECT_THAT(ToFloats((*got)[3]), ElementsAre(-3, -4));
  EXPECT_FALSE((*got)[0].SharesBufferWith((*got)[3]));
}

constexpr char kBranches[] = R"(
function change {
  in i = %i
  in a = %a
  %i = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=<4>}
  %v = Cast(%i) {SrcT=int32, DstT=float}
  %set = TestSet(%a, %i, %v)
  out a = %set
}
function keep {
  in i = %i
  in a = %a
  %i = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=<4>}
  out a = %a
}
)";
constexpr char kOdd[] = R"(%two = Const() {dtype=int32, value=int32<>{2}}
%rest = FloorMod(%i, %two) {T=int32}
%odd = Greater(%rest, %zero) {T=int32}
%zero = Const() {dtype=int32, value=int32<>{0}}
%if = If(%odd, %i, %a) {Tcond=bool, Tin=[int32, float], Tout=[float], then_branch=@change, else_branch=@keep}
)";

TEST(Loops, UpdateInPlaceInBranches) {
  LoopText branch;
  branch.functions = kBranches;
  branch.body = kOdd;
  branch.next_a = "%if";
  auto session = Make(branch.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(9, 1, 9, 3)));
  EXPECT_EQ(copies, 1);

  // And after the branch, of what it gave.
  branch.body = absl::StrCat(kOdd, "%v2 = Neg(%v) {T=float}\n%set = TestSet(%if, %i, %v2)");
  branch.next_a = "%set";
  session = Make(branch.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(0, -1, -2, -3)));
  EXPECT_EQ(copies, 1);

  // The branch gives its argument back, and that is changed while the result is still read.
  branch.body = absl::StrCat(kOdd, "%set = TestSet(%a, %zero, %v)");
  branch.next_a = "%set";
  branch.next_b = "%if";
  branch.tail = "out a = %loop:2\nout b = %loop:3";
  session = Make(branch.Text());
  EXPECT_THAT(Values(*session, {Count(3), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(2, 9, 9, 9), ElementsAre(1, 9, 9, 9)));
}

constexpr char kInner[] = R"(
function below {
  in j = %j
  in n = %n
  in a = %a
  %j = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=<4>}
  %r = Less(%j, %n) {T=int32}
  out r = %r
}
function inner {
  in j = %j
  in n = %n
  in a = %a
  %j = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=<4>}
  %v = Cast(%n) {SrcT=int32, DstT=float}
  %set = TestSet(%a, %j, %v)
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next = AddV2(%j, %one) {T=int32}
  out j = %next
  out n = %n
  out a = %set
}
)";

TEST(Loops, UpdateInPlaceInNestedLoops) {
  LoopText nested;
  nested.functions = kInner;
  nested.body =
      "%set = TestSet(%a, %i, %v)\n%zero = Const() {dtype=int32, value=int32<>{0}}\n"
      "%loop = While(%zero, %i, %set) {T=[int32, int32, float], cond=@below, body=@inner}";
  nested.next_a = "%loop:2";
  auto session = Make(nested.Text());
  EXPECT_THAT(Values(*session, {Count(4), Tensor::Vector<float>({9, 9, 9, 9})}),
              ElementsAre(ElementsAre(3, 3, 3, 3)));
  EXPECT_EQ(copies, 1);
}

TEST(Loops, GrowAndAlternate) {
  LoopText grow;
  grow.shape = "<?>";
  grow.body = R"(%axis = Const() {dtype=int32, value=int32<>{0}}
%shape = Const() {dtype=int32, value=int32<1>{1}}
%w = Reshape(%v, %shape) {T=float, Tshape=int32}
%set = ConcatV2(%a, %w, %axis) {T=float, Tidx=int32, N=2}
%sums = Sum(%set, %shape0) {T=float, Tidx=int32, keep_dims=true}
%shape0 = Const() {dtype=int32, value=int32<1>{0}})";
  grow.b = "%first";
  grow.head = R"(%size = Const() {dtype=int32, value=int32<1>{1}}
%begin = Const() {dtype=int32, value=int32<1>{0}}
%first = Slice(%x, %begin, %size) {T=float, Index=int32})";
  grow.next_b = "%sums";
  grow.tail = "out a = %loop:2\nout b = %loop:3";
  auto session = Make(grow.Text());
  for (const int n : {1, 5, 40}) {
    const auto got = Values(*session, {Count(n), Tensor::Vector<float>({7, 8})});
    ASSERT_EQ(got.size(), 2u);
    std::vector<float> expected = {7, 8};
    for (int i = 0; i < n; ++i) expected.push_back(static_cast<float>(i));
    EXPECT_EQ(got[0], expected);
    EXPECT_THAT(got[1], ElementsAre(15 + static_cast<float>(n * (n - 1) / 2)));
  }
}

// One plan serves all sizes of a variable, which the branch gets as its owner.
TEST(Loops, HandGrowingVariablesToBranches) {
  LoopText grow;
  grow.shape = "<?>";
  grow.functions =
      absl::StrReplaceAll(kBranches, {{"<4>", "<?>"}, {"%set = TestSet(%a, %i, %v)", R"(
  %axis = Const() {dtype=int32, value=int32<>{0}}
  %shape = Const() {dtype=int32, value=int32<1>{1}}
  %w = Reshape(%v, %shape) {T=float, Tshape=int32}
  %set = ConcatV2(%a, %w, %axis) {T=float, Tidx=int32, N=2})"}});
  grow.body = kOdd;
  grow.next_a = "%if";
  auto session = Make(grow.Text());
  for (const int n : {40, 3, 41}) {
    const auto got = Values(*session, {Count(n), Tensor::Vector<float>({7, 8})});
    ASSERT_EQ(got.size(), 1u);
    std::vector<float> expected = {7, 8};
    for (int i = 1; i < n; i += 2) expected.push_back(static_cast<float>(i));
    EXPECT_EQ(got[0], expected);
  }
}

// XLA's form of If, which TensorFlow's CPU does not run. COND is fed or known.
constexpr char kXlaIf[] = R"(
in c = %c
in x = %x
%c = Placeholder() {dtype=bool, shape=<>}
%known = Const() {dtype=bool, value=bool<>{false}}
%x = Placeholder() {dtype=float, shape=<?>}
%i = Const() {dtype=int32, value=int32<>{1}}
%if = XlaIf(COND, %i, %x) {Tcond=bool, Tin=[int32, float], Tout=[float, int32], then_branch=@change, else_branch=@sum}
out y = %if
out z = %if:1
function change {
  in i = %i
  in a = %a
  %i = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=<?>}
  %v = Cast(%i) {SrcT=int32, DstT=float}
  %set = TestSet(%a, %i, %v)
  out a = %set
  out i = %i
}
function sum {
  in i = %i
  in a = %a
  %i = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=<?>}
  %axes = Const() {dtype=int32, value=int32<1>{0}}
  %s = Sum(%a, %axes) {T=float, Tidx=int32, keep_dims=true}
  %j = AddV2(%i, %i) {T=int32}
  out a = %s
  out i = %j
}
)";

TEST(Branches, XlaIfTakesOne) {
  const Tensor x = Tensor::Vector<float>({5, 6, 7});
  const auto run = [&](const char* condition, bool c) {
    auto session = Make(absl::StrReplaceAll(kXlaIf, {{"COND", condition}}));
    auto got = session->Run(std::vector<Tensor>{Tensor::Scalar<bool>(c), x});
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? *std::move(got) : std::vector<Tensor>{x, Tensor::Scalar<int32_t>(0)};
  };
  std::vector<Tensor> got = run("%c", true);
  EXPECT_THAT(ToFloats(got[0]), ElementsAre(5, 1, 7));
  EXPECT_EQ(*got[1].data<int32_t>(), 1);
  for (const char* condition : {"%c", "%known"}) {
    got = run(condition, false);
    EXPECT_THAT(ToFloats(got[0]), ElementsAre(18));
    EXPECT_EQ(*got[1].data<int32_t>(), 2);
  }
  EXPECT_THAT(ToFloats(x), ElementsAre(5, 6, 7));
}

TEST(Branches, AreChosenWhilePlanningIfTheConditionIsKnown) {
  auto session = Make(R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?,4>}
%shape = Shape(%x) {T=float, out_type=int32}
%c0 = Const() {dtype=int32, value=int32<1>{0}}
%c1 = Const() {dtype=int32, value=int32<1>{1}}
%rows = StridedSlice(%shape, %c0, %c1, %c1) {T=int32, Index=int32, shrink_axis_mask=1}
%two = Const() {dtype=int32, value=int32<>{2}}
%many = Greater(%rows, %two) {T=int32}
%if = StatelessIf(%many, %x, %rows) {Tcond=bool, Tin=[float, int32], Tout=[float], then_branch=@head, else_branch=@all}
%y = Neg(%if) {T=float}
out y = %y
function head {
  in x = %x
  in n = %n
  %x = Placeholder() {dtype=float, shape=<?,4>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %one = Const() {dtype=int32, value=int32<>{1}}
  %less = Sub(%n, %one) {T=int32}
  %all = Const() {dtype=int32, value=int32<>{-1}}
  %size = Pack(%less, %all) {T=int32, N=2, axis=0}
  %begin = Const() {dtype=int32, value=int32<2>{0, 0}}
  %s = Slice(%x, %begin, %size) {T=float, Index=int32}
  out y = %s
}
function all {
  in x = %x
  in n = %n
  %x = Placeholder() {dtype=float, shape=<?,4>}
  %n = Placeholder() {dtype=int32, shape=<>}
  out y = %x
}
)");
  for (const int64_t rows : {1, 2, 3, 4}) {
    const Tensor x = *Tensor::Allocate(DType::kFloat, Shape({rows, 4}));
    for (float& v : Tensor(x).flat<float>()) v = static_cast<float>(rows);
    const auto got = session->Run(std::vector<Tensor>{x});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ((*got)[0].shape(), Shape({rows > 2 ? rows - 1 : rows, 4}));
    const auto plan = session->PlanFor(std::vector<Tensor>{x});
    ASSERT_TRUE(plan.ok()) << plan.status();
    // The branch itself is a call; what reads its result is planned.
    int dynamic = 0;
    for (const StepInfo& step : (*plan)->Describe()) dynamic += step.dynamic;
    EXPECT_EQ(dynamic, 1);
  }
}

constexpr char kLists[] = R"(
in n = %n
%n = Placeholder() {dtype=int32, shape=<>}
%zero = Const() {dtype=int32, value=int32<>{0}}
%five = Const() {dtype=int32, value=int32<>{5}}
%shape = Const() {dtype=int32, value=int32<1>{1}}
%list = TensorListReserve(%shape, %five) {element_dtype=float, shape_type=int32}
%loop = While(%zero, %n, %list, %list) {T=[int32, int32, variant, variant], cond=@below, body=@fill}
%a = TensorListStack(%loop:2, %shape) {element_dtype=float, num_elements=-1}
%b = TensorListStack(%loop:3, %shape) {element_dtype=float, num_elements=-1}
%c = TensorListStack(%list, %shape) {element_dtype=float, num_elements=-1}
out a = %a
out b = %b
out c = %c
function below {
  in i = %i
  in n = %n
  in a = %a
  in b = %b
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=variant, shape=<>}
  %b = Placeholder() {dtype=variant, shape=<>}
  %r = Less(%i, %n) {T=int32}
  out r = %r
}
function fill {
  in i = %i
  in n = %n
  in a = %a
  in b = %b
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=variant, shape=<>}
  %b = Placeholder() {dtype=variant, shape=<>}
  %one = Const() {dtype=int32, value=int32<>{1}}
  %shape = Const() {dtype=int32, value=int32<1>{1}}
  %next = AddV2(%i, %one) {T=int32}
  %f = Cast(%next) {SrcT=int32, DstT=float}
  %v = Reshape(%f, %shape) {T=float, Tshape=int32}
  %set = TensorListSetItem(%a, %i, %v) {element_dtype=float}
  out i = %next
  out n = %n
  out a = %set
  out b = NEXT_B
}
)";

TEST(Loops, ChangeAListThatNobodyElseHolds) {
  auto session = Make(absl::StrReplaceAll(kLists, {{"NEXT_B", "%b"}}));
  EXPECT_THAT(Values(*session, {Count(3)}),
              ElementsAre(ElementsAre(1, 2, 3, 0, 0), ElementsAre(0, 0, 0, 0, 0),
                          ElementsAre(0, 0, 0, 0, 0)));
  // The second variable is the list of the iteration before.
  session = Make(absl::StrReplaceAll(kLists, {{"NEXT_B", "%a"}}));
  EXPECT_THAT(Values(*session, {Count(3)}),
              ElementsAre(ElementsAre(1, 2, 3, 0, 0), ElementsAre(1, 2, 0, 0, 0),
                          ElementsAre(0, 0, 0, 0, 0)));
}

}  // namespace
}  // namespace tenon

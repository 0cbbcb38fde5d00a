// Caches that grow by concatenation in a loop: what is copied, and what must not see the growth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "ops/op.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

// How many bytes of the tensors that TestWatch saw had lain elsewhere before.
const void* place = nullptr;
int64_t watched_bytes = 0, moved_bytes = 0;

// The sum of x.
absl::StatusOr<std::unique_ptr<Kernel>> Watch(PrepareContext& p) {
  return MakeKernel([n = p.input_shape(0).num_elements()](RunContext& run) {
    const float* x = run.input<float>(0);
    if (x != place) moved_bytes += watched_bytes;
    place = x;
    watched_bytes = n * static_cast<int64_t>(sizeof(float));
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    *run.output<float>(0) = sum;
    return absl::OkStatus();
  });
}
const OpRegistration watch_op({.name = "TestWatch",
                               .inputs = "x: float",
                               .outputs = "y: float",
                               .shape = ScalarShape,
                               .reference = Watch});

// x with its first element replaced by v.
absl::StatusOr<std::unique_ptr<Kernel>> Replace(PrepareContext& p) {
  p.AllowInPlace(0, 0);
  return MakeKernel([bytes = static_cast<size_t>(p.input_shape(0).num_elements()) *
                             sizeof(float)](RunContext& run) {
    if (run.input(0) != run.output(0)) std::memcpy(run.output(0), run.input(0), bytes);
    *run.output<float>(0) = *run.input<float>(1);
    return absl::OkStatus();
  });
}
const OpRegistration replace_op({.name = "TestReplace",
                                 .inputs = "x: float, v: float",
                                 .outputs = "y: float",
                                 .shape = UnchangedShape,
                                 .reference = Replace});

// A loop of %n iterations over %i, and %a and %b, which start as %x. %v is i as a tensor of the
// shape SIZES; %f as a scalar.
constexpr char kLoop[] = R"(
in n = %n
in x = %x
%n = Placeholder() {dtype=int32, shape=<>}
%x = Placeholder() {dtype=float, shape=SHAPE}
%zero = Const() {dtype=int32, value=int32<>{0}}
%loop = While(%zero, %n, %x, %x) {T=[int32, int32, float, float], cond=@below, body=@body}
out a = %loop:2
out b = %loop:3
function below {
ARGUMENTS  %r = Less(%i, %n) {T=int32}
  out r = %r
}
function body {
ARGUMENTS  %one = Const() {dtype=int32, value=int32<>{1}}
  %axis = Const() {dtype=int32, value=int32<>{AXIS}}
  %sizes = Const() {dtype=int32, value=SIZES}
  %next = AddV2(%i, %one) {T=int32}
  %f = Cast(%i) {SrcT=int32, DstT=float}
  %v = Fill(%sizes, %f) {T=float, index_type=int32}
BODY
  out i = %next
  out n = %n
  out a = NEXT_A
  out b = NEXT_B
}
)";

constexpr char kArguments[] = R"(  in i = %i
  in n = %n
  in a = %a
  in b = %b
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %a = Placeholder() {dtype=float, shape=SHAPE}
  %b = Placeholder() {dtype=float, shape=SHAPE}
)";

struct Loop {
  std::string body = "  %set = ConcatV2(%a, %v, %axis) {T=float, Tidx=int32, N=2}";
  std::string next_a = "%set", next_b = "%b";
  std::string shape = "<?>", sizes = "int32<1>{1}", axis = "0";
  std::string functions;

  std::unique_ptr<Session> Open(int64_t memory_limit = 0) const {
    const std::string with_arguments = absl::StrReplaceAll(kLoop, {{"ARGUMENTS", kArguments}});
    const std::string loop = absl::StrReplaceAll(with_arguments, {{"BODY", body},
                                                                  {"NEXT_A", next_a},
                                                                  {"NEXT_B", next_b},
                                                                  {"SHAPE", shape},
                                                                  {"SIZES", sizes},
                                                                  {"AXIS", axis}});
    const std::string text = loop + functions;
    auto graph = ParseGraph(text);
    EXPECT_TRUE(graph.ok()) << graph.status() << text;
    SessionOptions options = DefaultOptions(1);
    options.memory_limit = memory_limit;
    auto session = Session::Create(*std::move(graph), options);
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }
};

std::vector<Tensor> RunLoop(Session& session, int32_t n, const Tensor& x) {
  place = nullptr;
  watched_bytes = moved_bytes = 0;
  auto got = session.Run(std::vector<Tensor>{Tensor::Scalar<int32_t>(n), x});
  EXPECT_TRUE(got.ok()) << got.status();
  return got.ok() ? *std::move(got) : std::vector<Tensor>(2, Tensor::Scalar<float>(0));
}

Floats ValuesOf(const Tensor& t) { return {t.flat<float>().begin(), t.flat<float>().end()}; }

// x, and then `width` times the number of each iteration.
Floats Appended(Floats x, int n, int width = 1) {
  for (int i = 0; i < n; ++i) x.insert(x.end(), static_cast<size_t>(width), static_cast<float>(i));
  return x;
}

constexpr char kWatched[] = R"(
  %set = ConcatV2(%a, %v, %axis) {T=float, Tidx=int32, N=2}
  %seen = TestWatch(%set)
  %all = Reshape(%seen, %one_value) {T=float, Tshape=int32}
  %one_value = Const() {dtype=int32, value=int32<1>{1}}
)";

TEST(Growth, CopiesWhatIsNew) {
  Loop loop;
  loop.body = kWatched;
  loop.next_b = "%all";
  const auto session = loop.Open();
  for (const int n : {1000, 1000, 4000}) {
    const std::vector<Tensor> got = RunLoop(*session, n, Tensor::Vector<float>({7, 8}));
    EXPECT_EQ(ValuesOf(got[0]), Appended({7, 8}, n));
    EXPECT_EQ(ValuesOf(got[1]),
              Floats({15 + static_cast<float>(n) * static_cast<float>(n - 1) / 2}));
    // Blocks double, and a few plans know the size that they serve. All of it each time would be
    // n / 2 times the bytes.
    EXPECT_LE(moved_bytes, 2 * static_cast<int64_t>(got[0].bytes()) + 1024) << n;
  }
}

TEST(Growth, CopiesWhatIsNewAlongAnAxisBehindOnes) {
  Loop loop;
  // %b has the rank of %a, and so must have the sum.
  loop.body = absl::StrReplaceAll(kWatched, {{"int32<1>{1}", "int32<3>{1, 1, 1}"}});
  loop.body += R"(
  %wide = Const() {dtype=int32, value=int32<3>{1, 1, 3}}
  %row = BroadcastTo(%all, %wide) {T=float, Tidx=int32}
)";
  loop.next_b = "%row";
  loop.shape = "<1,?,3>";
  loop.sizes = "int32<3>{1, 2, 3}";
  loop.axis = "-2";
  const auto session = loop.Open();
  const Tensor x = Tensor::From<float>(Shape({1, 1, 3}), {7, 8, 9});
  const std::vector<Tensor> got = RunLoop(*session, 500, x);
  EXPECT_EQ(got[0].shape(), Shape({1, 1001, 3}));
  EXPECT_EQ(ValuesOf(got[0]), Appended({7, 8, 9}, 500, 6));
  EXPECT_LE(moved_bytes, 2 * static_cast<int64_t>(got[0].bytes()) + 4096);
}

// Parts that do not lie one behind the other.
TEST(Growth, KnowsInnerAxes) {
  Loop loop;
  loop.shape = "<2,?>";
  loop.sizes = "int32<2>{2, 1}";
  loop.axis = "1";
  const auto session = loop.Open();
  const std::vector<Tensor> got = RunLoop(*session, 40, Tensor::From<float>(Shape({2, 1}), {7, 8}));
  Floats expected = Appended({7}, 40);
  const Floats second = Appended({8}, 40);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(ValuesOf(got[0]), expected);
}

// The value before is kept, and in every third iteration the cache is what it was before.
TEST(Growth, LeavesEarlierValuesAlone) {
  Loop loop;
  loop.next_b = "%a";
  auto session = loop.Open();
  std::vector<Tensor> got = RunLoop(*session, 100, Tensor::Vector<float>({7, 8}));
  EXPECT_EQ(ValuesOf(got[0]), Appended({7, 8}, 100));
  EXPECT_EQ(ValuesOf(got[1]), Appended({7, 8}, 99));

  // Two sequences that take turns at one concatenation.
  loop.next_a = "%b";
  loop.next_b = "%set";
  session = loop.Open();
  got = RunLoop(*session, 101, Tensor::Vector<float>({7, 8}));
  Floats even = {7, 8}, odd = {7, 8};
  for (int i = 0; i < 101; ++i) (i % 2 == 0 ? even : odd).push_back(static_cast<float>(i));
  EXPECT_EQ(ValuesOf(got[0]), odd);
  EXPECT_EQ(ValuesOf(got[1]), even);

  // Two continuations of one value, of which the next iteration takes the second.
  loop.body = R"(
  %set = ConcatV2(%a, %v, %axis) {T=float, Tidx=int32, N=2}
  %minus = Neg(%v) {T=float}
  %other = ConcatV2(%a, %minus, %axis) {T=float, Tidx=int32, N=2}
)";
  loop.next_a = "%other";
  loop.next_b = "%set";
  session = loop.Open();
  got = RunLoop(*session, 60, Tensor::Vector<float>({7, 8}));
  Floats expected = {7, 8};
  for (int i = 0; i < 60; ++i) expected.push_back(-static_cast<float>(i));
  EXPECT_EQ(ValuesOf(got[0]), expected);
  expected.back() = 59;
  EXPECT_EQ(ValuesOf(got[1]), expected);
}

// In every fifth iteration the value before is continued, while the last one is kept.
TEST(Growth, ContinuesAnEarlierValue) {
  Loop loop;
  loop.body = R"(
  %five = Const() {dtype=int32, value=int32<>{5}}
  %rest = FloorMod(%next, %five) {T=int32}
  %again = Equal(%rest, %axis) {T=int32}
  %base = If(%again, %a, %b) {Tcond=bool, Tin=[float, float], Tout=[float], then_branch=@second, else_branch=@first}
  %set = ConcatV2(%base, %v, %axis) {T=float, Tidx=int32, N=2}
)";
  loop.next_b = "%a";
  loop.functions = R"(
function first {
  in a = %a
  in b = %b
  %a = Placeholder() {dtype=float, shape=<?>}
  %b = Placeholder() {dtype=float, shape=<?>}
  out a = %a
}
function second {
  in a = %a
  in b = %b
  %a = Placeholder() {dtype=float, shape=<?>}
  %b = Placeholder() {dtype=float, shape=<?>}
  out b = %b
}
)";
  const auto session = loop.Open();
  for (const int n : {60, 61, 63}) {
    const std::vector<Tensor> got = RunLoop(*session, n, Tensor::Vector<float>({7, 8}));
    Floats a = {7, 8}, b = a;
    for (int i = 0; i < n; ++i) {
      Floats next = (i + 1) % 5 == 0 ? b : a;
      next.push_back(static_cast<float>(i));
      b = a;
      a = next;
    }
    EXPECT_EQ(ValuesOf(got[0]), a);
    EXPECT_EQ(ValuesOf(got[1]), b);
  }
}

// What changes an element of the cache does not change the value before, which %b has.
TEST(Growth, IsNotWrittenOver) {
  Loop loop;
  loop.body = R"(
  %set = ConcatV2(%a, %v, %axis) {T=float, Tidx=int32, N=2}
  %changed = TestReplace(%set, %f)
)";
  loop.next_a = "%changed";
  loop.next_b = "%set";
  auto session = loop.Open();
  std::vector<Tensor> got = RunLoop(*session, 50, Tensor::Vector<float>({7, 8}));
  Floats expected = Appended({7, 8}, 50);
  expected[0] = 48;
  EXPECT_EQ(ValuesOf(got[1]), expected);
  expected[0] = 49;
  EXPECT_EQ(ValuesOf(got[0]), expected);

  // The cache grows on, and a changed copy of it leaves the loop.
  loop.next_a = "%set";
  loop.next_b = "%changed";
  session = loop.Open();
  got = RunLoop(*session, 50, Tensor::Vector<float>({7, 8}));
  EXPECT_EQ(ValuesOf(got[0]), Appended({7, 8}, 50));
  EXPECT_EQ(ValuesOf(got[1]), expected);
}

// Each iteration needs the value before, the cache and a tensor of its size.
TEST(Growth, LeavesLimitedMemoryToOtherSteps) {
  Loop loop;
  loop.body += R"(
  %minus = Neg(%set) {T=float}
  %all = Const() {dtype=int32, value=int32<1>{0}}
  %most = Max(%minus, %all) {T=float, Tidx=int32, keep_dims=true}
)";
  loop.next_b = "%most";
  loop.sizes = "int32<1>{4096}";
  for (int n = 60; n < 130; ++n) {
    const int64_t bytes = n * 4096 * 4;
    const auto session = loop.Open(3 * bytes + bytes / 2);
    const std::vector<Tensor> got = RunLoop(*session, n, Tensor::Vector<float>({7, 8}));
    EXPECT_EQ(ValuesOf(got[0]), Appended({7, 8}, n, 4096)) << n;
  }
}

// Shrinks to its first element in every tenth iteration, in a branch.
TEST(Growth, BeginsAgain) {
  Loop loop;
  loop.body = R"(
  %ten = Const() {dtype=int32, value=int32<>{10}}
  %rest = FloorMod(%i, %ten) {T=int32}
  %kept = Minimum(%rest, %one) {T=int32}
  %length = Size(%a) {T=float, out_type=int32}
  %most = Mul(%kept, %length) {T=int32}
  %size = Maximum(%most, %one) {T=int32}
  %pack = Pack(%size) {T=int32, N=1, axis=0}
  %begin = Const() {dtype=int32, value=int32<1>{0}}
  %part = Slice(%a, %begin, %pack) {T=float, Index=int32}
  %set = ConcatV2(%part, %v, %axis) {T=float, Tidx=int32, N=2}
)";
  const auto session = loop.Open();
  const std::vector<Tensor> got = RunLoop(*session, 67, Tensor::Vector<float>({7, 8}));
  EXPECT_EQ(ValuesOf(got[0]), Floats({7, 60, 61, 62, 63, 64, 65, 66}));
}

}  // namespace
}  // namespace tenon

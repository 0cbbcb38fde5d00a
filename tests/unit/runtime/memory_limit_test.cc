// The memory limit of a session: what does not fit is an error that names the node, and the session
// goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/text.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kPlenty = int64_t{1} << 40;

SessionOptions Limited(int64_t bytes) {
  SessionOptions options = DefaultOptions(1);
  options.memory_limit = bytes;
  return options;
}

std::unique_ptr<Session> Make(const std::string& text, int64_t limit) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  auto session = Session::Create(*std::move(graph), Limited(limit));
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

absl::StatusOr<std::unique_ptr<Session>> Load(const std::string& model, int64_t limit) {
  return Session::Load(SourcePath("tests/models/" + model + "/saved_model"), {}, Limited(limit));
}

Tensor Zeros(const Shape& shape) {
  return Tensor::From<float>(shape, std::vector<float>(static_cast<size_t>(shape.num_elements())));
}

void ExpectTooMuch(const absl::Status& status, const std::string& node) {
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(node), HasSubstr("memory limit")));
}

// Not elementwise, so that nothing is fused or computed in place.
constexpr char kSteps[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?,64>}
%axis = Const() {dtype=int32, value=int32<>{0}}
%twice = ConcatV2(%x, %x, %axis) {T=float, N=2, Tidx=int32}
%four = ConcatV2(%twice, %twice, %axis) {T=float, N=2, Tidx=int32}
%axes = Const() {dtype=int32, value=int32<1>{0}}
%sum = Sum(%four, %axes) {T=float, Tidx=int32, keep_dims=false}
out y = %sum
)";

TEST(MemoryLimit, AnArenaThatIsTooLargeNamesTheFullestStep) {
  auto session = Make(kSteps, 300000);
  const absl::Status status = session->Run(std::vector<Tensor>{Zeros(Shape({1000, 64}))}).status();
  ExpectTooMuch(status, "node 'four' (");
  EXPECT_THAT(std::string(status.message()), HasSubstr("1024000 bytes of outputs"));
  EXPECT_TRUE(session->Run(std::vector<Tensor>{Zeros(Shape({10, 64}))}).ok());
}

TEST(MemoryLimit, AnOutputThatIsTooLargeNamesItsNode) {
  auto session = Make(R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?>}
%y = Neg(%x) {T=float}
out y = %y
)",
                      100000);
  ExpectTooMuch(session->Run(std::vector<Tensor>{Zeros(Shape({100000}))}).status(), "node 'y' (");
  EXPECT_TRUE(session->Run(std::vector<Tensor>{Zeros(Shape({1000}))}).ok());
}

TEST(MemoryLimit, ATensorOfASizeThatARunDeterminesNamesItsNode) {
  auto session = Make(R"(
in n = %n
%n = Placeholder() {dtype=int32, shape=<1>}
%one = Const() {dtype=float, value=float<>{1}}
%grown = Fill(%n, %one) {T=float, index_type=int32}
%axes = Const() {dtype=int32, value=int32<1>{0}}
%sum = Sum(%grown, %axes) {T=float, Tidx=int32, keep_dims=false}
out y = %sum
)",
                      100000);
  const absl::Status status =
      session->Run(std::vector<Tensor>{Tensor::Vector<int32_t>({1000000})}).status();
  ExpectTooMuch(status, "node 'grown' (");
  EXPECT_THAT(std::string(status.message()), HasSubstr("4000000 bytes do not fit"));
  EXPECT_TRUE(session->Run(std::vector<Tensor>{Tensor::Vector<int32_t>({10})}).ok());
}

TEST(MemoryLimit, AVariableThatGrows) {
  auto session = Make(R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?>}
%v = VarHandleOp() {dtype=float, shape=<?>, shared_name="v", _initial_value=float<1>{1}}
%assign = AssignVariableOp(%v, %x) {dtype=float}
%after = ReadVariableOp(%v) {dtype=float} ^%assign
%axes = Const() {dtype=int32, value=int32<1>{0}}
%sum = Sum(%after, %axes) {T=float, Tidx=int32, keep_dims=false}
out y = %sum
)",
                      100000);
  ExpectTooMuch(session->Run(std::vector<Tensor>{Zeros(Shape({100000}))}).status(), "assign");
  ExpectTooMuch(session->AssignVariable("v", Zeros(Shape({100000}))), "100000");
  EXPECT_TRUE(session->Run(std::vector<Tensor>{Zeros(Shape({100}))}).ok());
}

TEST(MemoryLimit, AVariableWithoutAValueNeedsAHandle) {
  const auto graph = ParseGraph(R"(
%v = VarHandleOp() {dtype=float, shape=<?>, shared_name="v"}
%value = ReadVariableOp(%v) {dtype=float}
out y = %value
)");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ExpectTooMuch(Session::Create(*graph, Limited(1)).status(), "node 'v' (VarHandleOp)");
}

TEST(MemoryLimit, ALoopThatCollectsTensorsEnds) {
  auto session = Make(R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?>}
%w = While(%x) {T=[float], cond=@more, body=@double}
out y = %w

function "more" {
  in x = %x
  %x = Placeholder() {dtype=float, shape=<?>}
  %t = Const() {dtype=bool, value=bool<>{true}}
  out more = %t
}
function "double" {
  in x = %x
  %x = Placeholder() {dtype=float, shape=<?>}
  %axis = Const() {dtype=int32, value=int32<>{0}}
  %twice = ConcatV2(%x, %x, %axis) {T=float, N=2, Tidx=int32}
  out x = %twice
}
)",
                      10 << 20);
  ExpectTooMuch(session->Run(std::vector<Tensor>{Zeros(Shape({100}))}).status(),
                "node 'w' (While)");
}

TEST(MemoryLimit, WeightsThatAreTooLargeNameTheVariable) {
  const absl::Status status = Load("mobilenetv2", 100000).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("memory limit"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("entry '"));
}

TEST(MemoryLimit, ResultsCountWhileTheCallerHoldsThem) {
  auto session = Make(kSteps, kPlenty);
  const std::vector<Tensor> inputs = {Zeros(Shape({4, 64}))};
  ASSERT_TRUE(session->Run(inputs).ok());
  const int64_t before = session->memory_used()->held;
  {
    const auto results = session->Run(inputs);
    EXPECT_EQ(session->memory_used()->held, before + 64 * 4);
  }
  EXPECT_EQ(session->memory_used()->held, before);
}

// The limit that a model needs, and no more, is enough; with less there is an error, and no crash.
TEST(MemoryLimit, EveryLimitUpToWhatAModelNeeds) {
  const std::vector<Tensor> inputs = {Zeros(Shape({3, 16}))};
  int64_t needs = 0;
  std::vector<Tensor> expected;
  {
    auto session = Load("mlp", kPlenty);
    ASSERT_TRUE(session.ok()) << session.status();
    const auto results = (*session)->Run(inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    expected = *results;
    needs = (*session)->memory_used()->peak;
    EXPECT_GT(needs, (*session)->bytes().packed);
  }
  constexpr int kSteps = 40;
  for (int i = 1; i <= kSteps; ++i) {
    const int64_t limit = i == kSteps ? needs : needs * i / kSteps;
    auto session = Load("mlp", limit);
    absl::Status status = session.status();
    if (session.ok()) {
      const auto results = (*session)->Run(inputs);
      status = results.status();
      if (results.ok()) {
        EXPECT_TRUE(Identical((*results)[0], expected[0]));
      }
      EXPECT_LE((*session)->memory_used()->peak, limit);
    }
    if (i == kSteps) {
      EXPECT_TRUE(status.ok()) << status;
    }
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("memory limit"));
      EXPECT_THAT(std::string(status.message()), HasSubstr("'"));  // of a name
    }
  }
}

TEST(MemoryLimit, WithoutOneNothingIsCounted) {
  auto session = Make(kSteps, 0);
  EXPECT_FALSE(session->memory_used().has_value());
  EXPECT_EQ(Session::Create(Graph(), Limited(-1)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tenon

// Generators whose state is a variable; the numbers are TensorFlow's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "env/flags.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> RunGraph(const std::string& text) {
  TENON_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text));
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  TENON_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(graph), options));
  return session->Run(std::vector<Tensor>());
}

// The algorithm: 1 is Philox, 3 the one that TensorFlow selects.
class Draws : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(RandomState, Draws, ::testing::Values("1", "3"));

TEST_P(Draws, EachMovesTheState) {
  const auto got = RunGraph(absl::StrReplaceAll(R"(
%v = VarHandleOp() {dtype=int64, shape=<3>, shared_name="v", _initial_value=int64<3>{-5, 2, 3}}
%narrow = Const() {dtype=int32, value=int32<>{ALGORITHM}}
%algorithm = Const() {dtype=int64, value=int64<>{ALGORITHM}}
%three = Const() {dtype=uint64, value=uint64<>{3}}
%two = Const() {dtype=int64, value=int64<>{2}}
%shape = Const() {dtype=int32, value=int32<1>{3}}
%short = Const() {dtype=int32, value=int32<1>{2}}
%low = Const() {dtype=int64, value=int64<>{0}}
%high = Const() {dtype=int64, value=int64<>{1000}}
%skip = RngReadAndSkip(%v, %narrow, %three)
%normal = StatefulStandardNormalV2(%v, %algorithm, %shape) {dtype=float, shape_dtype=int32} ^%skip
%ints = StatefulUniformInt(%v, %algorithm, %shape, %low, %high) {dtype=int64, shape_dtype=int32} ^%normal
%silent = RngSkip(%v, %algorithm, %two) ^%ints
%full = StatefulUniformFullInt(%v, %algorithm, %short) {dtype=int32, shape_dtype=int32} ^%silent
%state = ReadVariableOp(%v) {dtype=int64, _shape=<3>} ^%full
out skip = %skip
out normal = %normal
out ints = %ints
out full = %full
out state = %state
)",
                                                {{"ALGORITHM", GetParam()}}));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[0].flat<int64_t>(), ElementsAre(-5, 2, 3));
  EXPECT_THAT((*got)[1].flat<float>(),
              ElementsAre(FloatEq(-0.8561544f), FloatEq(-0.7991906f), FloatEq(-0.4155182f)));
  EXPECT_THAT((*got)[2].flat<int64_t>(), ElementsAre(178, 38, 497));
  EXPECT_THAT((*got)[3].flat<int32_t>(), ElementsAre(-1159791952, 233858580));
  EXPECT_THAT((*got)[4].flat<int64_t>(), ElementsAre(3323, 3, 3));
}

TEST(RandomState, BinomialNumbers) {
  const auto got = RunGraph(R"(
%v = VarHandleOp() {dtype=int64, shape=<3>, shared_name="v", _initial_value=int64<3>{1, 2, 3}}
%algorithm = Const() {dtype=int64, value=int64<>{1}}
%shape = Const() {dtype=int32, value=int32<2>{3, 2}}
%counts = Const() {dtype=double, value=double<2>{10, 100}}
%probs = Const() {dtype=double, value=double<2>{0.3, 0.6}}
%n = StatefulRandomBinomial(%v, %algorithm, %shape, %counts, %probs) {S=int32, T=double, dtype=int64}
%state = ReadVariableOp(%v) {dtype=int64, _shape=<3>} ^%n
out n = %n
out state = %state
)");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[0].flat<int64_t>(), ElementsAre(6, 56, 2, 66, 4, 65));
  EXPECT_THAT((*got)[1].flat<int64_t>(), ElementsAre(153601, 2, 3));
}

TEST(RandomState, TheStateMayBeginWithTheAlgorithm) {
  const auto got = RunGraph(R"(
%v = VarHandleOp() {dtype=int64, shape=<4>, shared_name="v", _initial_value=int64<4>{1, 1, 2, 3}}
%shape = Const() {dtype=int32, value=int32<1>{3}}
%normal = StatefulStandardNormal(%v, %shape) {dtype=float, shape_dtype=int32}
%state = ReadVariableOp(%v) {dtype=int64, _shape=<4>} ^%normal
out normal = %normal
out state = %state
)");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[0].flat<float>(),
              ElementsAre(FloatEq(-0.26016375f), FloatEq(-1.220522f), FloatEq(-0.26770854f)));
  EXPECT_THAT((*got)[1].flat<int64_t>(), ElementsAre(1, 769, 2, 3));
  for (const char* state : {"<0>{}", "<3>{1, 2, 3}", "<4>{2, 1, 2, 3}", "<1,4>{1, 1, 2, 3}"}) {
    const std::string value(state);
    const absl::Status status = RunGraph(R"(
%v = VarHandleOp() {dtype=int64, shape=)" +
                                         value.substr(0, value.find('{')) +
                                         R"(, shared_name="v", _initial_value=int64)" + value + R"(}
%shape = Const() {dtype=int32, value=int32<1>{3}}
%normal = StatefulStandardNormal(%v, %shape) {dtype=float, shape_dtype=int32}
out normal = %normal
)")
                                    .status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("'normal'")) << state;
  }
}

TEST(RandomState, UnpredictableIntegersFillTheirRange) {
  const auto draw = [] {
    return RunGraph(R"(
%shape = Const() {dtype=int64, value=int64<1>{4000}}
%narrow = NonDeterministicInts(%shape) {dtype=int32, shape_dtype=int64}
%wide = NonDeterministicInts(%shape) {dtype=uint64, shape_dtype=int64}
out narrow = %narrow
out wide = %wide
)");
  };
  const auto first = draw(), second = draw();
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(Identical((*first)[0], (*second)[0]));
  EXPECT_FALSE(Identical((*first)[1], (*second)[1]));
  // Each bit is set in half of the numbers; 2,000 plus or minus 8 deviations.
  const auto counts = [](const Tensor& t, auto number) {
    for (unsigned bit = 0; bit < 8 * sizeof(number); ++bit) {
      int set = 0;
      for (const auto v : t.flat<decltype(number)>()) {
        set += static_cast<int>(static_cast<uint64_t>(v) >> bit & 1);
      }
      EXPECT_NEAR(set, 2000, 253) << "bit " << bit;
    }
  };
  counts((*first)[0], int32_t{});
  counts((*first)[1], uint64_t{});
}

TEST(RandomState, AStateTooShortIsRefused) {
  const auto got = RunGraph(R"(
%v = VarHandleOp() {dtype=int64, shape=<2>, shared_name="v", _initial_value=int64<2>{1, 2}}
%narrow = Const() {dtype=int32, value=int32<>{1}}
%three = Const() {dtype=uint64, value=uint64<>{3}}
%skip = RngReadAndSkip(%v, %narrow, %three)
out skip = %skip
)");
  EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(got.status().message()), HasSubstr("must have 3 elements"));
}

}  // namespace
}  // namespace tenon

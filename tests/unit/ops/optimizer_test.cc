// Optimizer steps on some rows, and counters: what they refuse, and the narrow dtypes. Values in
// float and double: tests/models/steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "env/flags.h"
#include "graph/text.h"
#include "kernels/interface/types.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Session>> SessionOf(const std::string& text) {
  TENON_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text));
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  return Session::Create(std::move(graph), options);
}

// A momentum step on a 3x2 variable of ones, with a slot of ones; `indices` and `grad` are
// constants of the graph's text. The result is the variable behind the step.
absl::StatusOr<std::vector<Tensor>> Step(const std::string& indices, const std::string& grad,
                                         const std::string& slot = "<3,2>{1,1,1,1,1,1}",
                                         const std::string& dtype = "float") {
  const std::string text = absl::StrReplaceAll(R"(
%v = VarHandleOp() {dtype=T, shape=<3,2>, shared_name="v", _initial_value=T<3,2>{1,1,1,1,1,1}}
%a = VarHandleOp() {dtype=T, shape=SLOTSHAPE, shared_name="a", _initial_value=TSLOT}
%lr = Const() {dtype=T, value=T<>{0.5}}
%momentum = Const() {dtype=T, value=T<>{0.25}}
%grad = Const() {dtype=T, value=TGRAD}
%rows = Const() {dtype=int32, value=int32INDICES}
%step = ResourceSparseApplyMomentum(%v, %a, %lr, %grad, %rows, %momentum) {T=T, Tindices=int32, use_locking=false, use_nesterov=false}
%out = ReadVariableOp(%v) {dtype=T} ^%step
out out = %out
)",
                                               {{"=T,", absl::StrCat("=", dtype, ",")},
                                                {"=T}", absl::StrCat("=", dtype, "}")},
                                                {"=T<", absl::StrCat("=", dtype, "<")},
                                                {"SLOTSHAPE", slot.substr(0, slot.find('{'))},
                                                {"TSLOT", absl::StrCat(dtype, slot)},
                                                {"TGRAD", absl::StrCat(dtype, grad)},
                                                {"INDICES", indices}});
  TENON_ASSIGN_OR_RETURN(auto session, SessionOf(text));
  return session->Run(std::vector<Tensor>());
}

TEST(SparseSteps, RowsInOrder) {
  const auto got = Step("<2>{2,0}", "<2,2>{1,2,3,4}");
  ASSERT_TRUE(got.ok()) << got.status();
  // accum = 0.25 + g; v = 1 - accum / 2
  EXPECT_THAT((*got)[0].flat<float>(), ElementsAre(-0.625f, -1.125f, 1, 1, 0.375f, -0.125f));
  const auto twice = Step("<2>{1,1}", "<2,2>{1,2,3,4}");
  ASSERT_TRUE(twice.ok()) << twice.status();
  // accum: 1.25, then 3.3125; 2.25, then 4.5625
  EXPECT_THAT((*twice)[0].flat<float>(), ElementsAre(1, 1, -1.28125f, -2.40625f, 1, 1));
  const auto none = Step("<0>{}", "<0,2>{}");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_THAT((*none)[0].flat<float>(), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST(SparseSteps, NarrowDtypesAreRoundedOnce) {
  const auto check = [](const std::string& dtype, auto number) {
    using T = decltype(number);
    const auto got = Step("<1>{1}", "<1,2>{0.3,5}", "<3,2>{1,1,1,1,1,1}", dtype);
    ASSERT_TRUE(got.ok()) << got.status();
    const auto v = (*got)[0].flat<T>();
    const float g = static_cast<float>(T(0.3f));
    EXPECT_EQ(static_cast<float>(v[2]), static_cast<float>(T(1 - (0.25f + g) / 2)));
    EXPECT_EQ(static_cast<float>(v[3]), static_cast<float>(T(1 - 5.25f / 2)));
  };
  check("half", half());
  check("bfloat16", bfloat16());
}

TEST(SparseSteps, WhatDoesNotFitIsRefused) {
  for (const auto& [indices, grad, slot] : std::vector<std::array<std::string, 3>>{
           {"<2>{0,3}", "<2,2>{1,2,3,4}", "<3,2>{1,1,1,1,1,1}"},
           {"<2>{-1,0}", "<2,2>{1,2,3,4}", "<3,2>{1,1,1,1,1,1}"},
           {"<2>{0,1}", "<3,2>{1,2,3,4,5,6}", "<3,2>{1,1,1,1,1,1}"},
           {"<2>{0,1}", "<2,3>{1,2,3,4,5,6}", "<3,2>{1,1,1,1,1,1}"},
           {"<2>{0,1}", "<2>{1,2}", "<3,2>{1,1,1,1,1,1}"},
           {"<>{0}", "<1,2>{1,2}", "<3,2>{1,1,1,1,1,1}"},
           {"<1>{0}", "<>{1}", "<3,2>{1,1,1,1,1,1}"},
           {"<2>{0,1}", "<2,2>{1,2,3,4}", "<2,2>{1,1,1,1}"},
           {"<2>{0,1}", "<2,2>{1,2,3,4}", "<>{1}"},
       }) {
    const absl::Status status = Step(indices, grad, slot).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << indices << " " << grad << " " << slot;
    EXPECT_THAT(std::string(status.message()), HasSubstr("'step'"));
  }
}

TEST(SparseSteps, ScalarsOutsideTheirRangeAreRefused) {
  const auto ftrl = [](const char* lr, const char* l1, const char* l2, const char* power,
                       const char* flag) {
    const auto session = SessionOf(absl::StrReplaceAll(
        R"(
%v = VarHandleOp() {dtype=float, shape=<1>, shared_name="v", _initial_value=float<1>{1}}
%a = VarHandleOp() {dtype=float, shape=<1>, shared_name="a", _initial_value=float<1>{1}}
%b = VarHandleOp() {dtype=float, shape=<1>, shared_name="b", _initial_value=float<1>{1}}
%g = Const() {dtype=float, value=float<1>{1}}
%i = Const() {dtype=int64, value=int64<1>{0}}
%lr = Const() {dtype=float, value=float<>{LR}}
%l1 = Const() {dtype=float, value=float<>{L1}}
%l2 = Const() {dtype=float, value=float<>{L2}}
%p = Const() {dtype=float, value=float<>{POWER}}
%step = ResourceSparseApplyFtrl(%v, %a, %b, %g, %i, %lr, %l1, %l2, %p) {T=float, Tindices=int64, use_locking=false, multiply_linear_by_lr=FLAG}
%out = ReadVariableOp(%v) {dtype=float, _shape=<1>} ^%step
out out = %out
)",
        {{"LR", lr}, {"L1", l1}, {"L2", l2}, {"POWER", power}, {"FLAG", flag}}));
    return session.ok() ? (*session)->Run(std::vector<Tensor>()).status() : session.status();
  };
  EXPECT_TRUE(ftrl("0.1", "0", "0", "-0.5", "false").ok());
  EXPECT_TRUE(ftrl("0", "0", "0", "-0.5", "true").ok());
  for (const auto& status :
       {ftrl("0", "0", "0", "-0.5", "false"), ftrl("-1", "0", "0", "-0.5", "true"),
        ftrl("0.1", "-1", "0", "-0.5", "false"), ftrl("0.1", "0", "-1", "-0.5", "false"),
        ftrl("0.1", "0", "0", "0.5", "false")}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("must"));
  }
}

TEST(Steps, OnComplexVariables) {
  auto session = SessionOf(R"(
%v = VarHandleOp() {dtype=complex64, shape=<2>, shared_name="v", _initial_value=complex64<2>{(1,0),(0,1)}}
%a = VarHandleOp() {dtype=complex64, shape=<2>, shared_name="a", _initial_value=complex64<2>{(1,0),(1,0)}}
%lr = Const() {dtype=complex64, value=complex64<>{(0.5,0)}}
%momentum = Const() {dtype=complex64, value=complex64<>{(0.25,0)}}
%grad = Const() {dtype=complex64, value=complex64<2>{(1,2),(0,-4)}}
%step = ResourceApplyMomentum(%v, %a, %lr, %grad, %momentum) {T=complex64, use_locking=false, use_nesterov=false}
%out = ReadVariableOp(%v) {dtype=complex64} ^%step
out out = %out
)");
  ASSERT_TRUE(session.ok()) << session.status();
  const auto got = (*session)->Run(std::vector<Tensor>());
  ASSERT_TRUE(got.ok()) << got.status();
  // accum = 0.25 + g; v decreases by accum / 2
  EXPECT_THAT((*got)[0].flat<complex64>(),
              ElementsAre(complex64(0.375f, -1), complex64(-0.125f, 3)));
}

TEST(CountUpTo, StopsAtTheLimit) {
  const auto session = SessionOf(R"(
%v = VarHandleOp() {dtype=int32, shape=<>, shared_name="v", _initial_value=int32<>{3}}
%n = ResourceCountUpTo(%v) {T=int32, limit=5}
out n = %n
)");
  ASSERT_TRUE(session.ok()) << session.status();
  for (int32_t expected : {3, 4}) {
    const auto got = (*session)->Run(std::vector<Tensor>());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_THAT((*got)[0].flat<int32_t>(), ElementsAre(expected));
  }
  const absl::Status end = (*session)->Run(std::vector<Tensor>()).status();
  EXPECT_EQ(end.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(end.message()), HasSubstr("the limit of 5 is reached"));

  const auto vector = SessionOf(R"(
%v = VarHandleOp() {dtype=int64, shape=<1>, shared_name="v", _initial_value=int64<1>{3}}
%n = ResourceCountUpTo(%v) {T=int64, limit=5}
out n = %n
)");
  ASSERT_TRUE(vector.ok()) << vector.status();
  EXPECT_EQ((*vector)->Run(std::vector<Tensor>()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tenon

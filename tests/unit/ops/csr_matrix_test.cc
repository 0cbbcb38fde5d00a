// Sparse matrices by rows: the ops that TensorFlow has only for GPUs, and what is refused. The
// others are compared with TensorFlow by tests/models/objects/csr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// a = [[0 1 0 0] [2 0 3 0] [0 0 0 0]], b = [[0 4 5 0] [0 0 -3 0] [0 0 0 6]], batch = two 1x2
// matrices [1 2] and [0 3].
constexpr char kMatrices[] = R"(
%ai = Const() {dtype=int64, value=int64<3,2>{0, 1, 1, 0, 1, 2}}
%av = Const() {dtype=float, value=float<3>{1, 2, 3}}
%bi = Const() {dtype=int64, value=int64<4,2>{0, 1, 0, 2, 1, 2, 2, 3}}
%bv = Const() {dtype=float, value=float<4>{4, 5, -3, 6}}
%ci = Const() {dtype=int64, value=int64<3,3>{0, 0, 0, 0, 0, 1, 1, 0, 1}}
%cv = Const() {dtype=float, value=float<3>{1, 2, 3}}
%shape = Const() {dtype=int64, value=int64<2>{3, 4}}
%shape3 = Const() {dtype=int64, value=int64<3>{2, 1, 2}}
%one = Const() {dtype=float, value=float<>{1}}
%two = Const() {dtype=float, value=float<>{2}}
%a = SparseTensorToCSRSparseMatrix(%ai, %av, %shape) {T=float}
%b = SparseTensorToCSRSparseMatrix(%bi, %bv, %shape) {T=float}
%batch = SparseTensorToCSRSparseMatrix(%ci, %cv, %shape3) {T=float}
)";

absl::StatusOr<std::vector<Tensor>> RunWith(const std::string& text) {
  TENON_ASSIGN_OR_RETURN(Graph graph, ParseGraph(absl::StrCat(kMatrices, text)));
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  TENON_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(graph), options));
  return session->Run(std::vector<Tensor>());
}

// The values of the matrix `m`, and the matrix as a dense one.
absl::StatusOr<std::vector<Tensor>> MatrixOf(const std::string& text) {
  return RunWith(absl::StrCat(text, R"(
%parts = CSRSparseMatrixToSparseTensor(%m) {type=float}
%dense = CSRSparseMatrixToDense(%m) {type=float}
out values = %parts:1
out dense = %dense
)"));
}

TEST(CsrMatrix, OneMatrixServesABatch) {
  constexpr char kOne[] = R"(
%i = Const() {dtype=int64, value=int64<2,3>{0, 0, 0, 0, 1, 1}}
%v = Const() {dtype=float, value=float<2>{1, 10}}
%s = Const() {dtype=int64, value=int64<3>{1, 2, 2}}
%single = SparseTensorToCSRSparseMatrix(%i, %v, %s) {T=float}
)";
  const auto right =
      MatrixOf(absl::StrCat(kOne, "%m = SparseMatrixSparseMatMul(%batch, %single) {type=float}"));
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ((*right)[1].shape(), Shape({2, 1, 2}));
  EXPECT_THAT((*right)[1].flat<float>(), ElementsAre(1, 20, 0, 30));
  const auto left = MatrixOf(absl::StrCat(
      kOne, "%m = SparseMatrixSparseMatMul(%single, %batch) {type=float, transpose_b=true}"));
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_EQ((*left)[1].shape(), Shape({2, 2, 1}));
  EXPECT_THAT((*left)[1].flat<float>(), ElementsAre(1, 20, 0, 30));
}

TEST(CsrMatrix, SumsHaveTheElementsOfBoth) {
  const auto got = MatrixOf("%m = SparseMatrixAdd(%a, %b, %two, %one) {T=float}");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[1].flat<float>(), ElementsAre(0, 6, 5, 0, 4, 0, 3, 0, 0, 0, 0, 6));
  EXPECT_EQ((*got)[0].num_elements(), 5);
}

TEST(CsrMatrix, TimesScalars) {
  const auto got = MatrixOf("%m = SparseMatrixMul(%a, %two) {T=float}");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[0].flat<float>(), ElementsAre(2, 4, 6));
  const auto batch = MatrixOf(R"(
%factors = Const() {dtype=float, value=float<2,1,1>{10, 100}}
%m = SparseMatrixMul(%batch, %factors) {T=float})");
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_THAT((*batch)[1].flat<float>(), ElementsAre(10, 20, 0, 300));
}

TEST(CsrMatrix, ZerosHaveNoElements) {
  const auto got = MatrixOf("%m = SparseMatrixZeros(%shape) {type=float}");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].num_elements(), 0);
  EXPECT_EQ((*got)[1].shape(), Shape({3, 4}));
}

TEST(CsrMatrix, SoftmaxOfTheStoredElements) {
  const auto got = MatrixOf("%m = SparseMatrixSoftmax(%b) {type=float}");
  ASSERT_TRUE(got.ok()) << got.status();
  const float less = 1 / (1 + std::exp(1.0f));
  const auto values = (*got)[0].flat<float>();
  ASSERT_EQ(values.size(), 4u);
  EXPECT_FLOAT_EQ(values[0], less);
  EXPECT_FLOAT_EQ(values[1], 1 - less);
  EXPECT_FLOAT_EQ(values[2], 1);
  EXPECT_FLOAT_EQ(values[3], 1);
}

TEST(CsrMatrix, SoftmaxGradientOfTheElementsOfTheSoftmax) {
  // The gradient has no element (0, 2), and one where the softmax has none.
  const auto got = MatrixOf(R"(
%s = SparseMatrixSoftmax(%b) {type=float}
%m = SparseMatrixSoftmaxGrad(%s, %a) {type=float})");
  ASSERT_TRUE(got.ok()) << got.status();
  const float less = 1 / (1 + std::exp(1.0f));
  const auto values = (*got)[0].flat<float>();
  ASSERT_EQ(values.size(), 4u);
  EXPECT_FLOAT_EQ(values[0], less * (1 - less));
  EXPECT_FLOAT_EQ(values[1], (1 - less) * (0 - less));
  EXPECT_FLOAT_EQ(values[2], 0);
  EXPECT_FLOAT_EQ(values[3], 0);
}

TEST(CsrMatrix, ElementsInAnyOrderGoToTheirRows) {
  const auto got = MatrixOf(R"(
%i = Const() {dtype=int64, value=int64<3,2>{2, 0, 0, 3, 1, 1}}
%m = SparseTensorToCSRSparseMatrix(%i, %av, %shape) {T=float})");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[1].flat<float>(), ElementsAre(0, 0, 0, 2, 0, 3, 0, 0, 1, 0, 0, 0));
}

TEST(CsrMatrix, WhatDoesNotFitIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"%m = SparseMatrixAdd(%a, %batch, %two, %one) {T=float}", "of shapes"},
      {"%m = SparseMatrixMul(%a, %cv) {T=float}", "must be a scalar"},
      {"%f = Const() {dtype=float, value=float<3,1,1>{1, 2, 3}}\n"
       "%m = SparseMatrixMul(%batch, %f) {T=float}",
       "times a tensor"},
      {"%m = SparseMatrixSparseMatMul(%a, %b) {type=float}", "product of sparse matrices"},
      {"%m = SparseMatrixSparseMatMul(%a, %b) {type=double}", "instead of double"},
      {"%m = SparseMatrixSparseMatMul(%a, %b) {type=float, transpose_a=true, adjoint_a=true}",
       "only one of"},
      {"%m = SparseMatrixSoftmaxGrad(%a, %batch) {type=float}", "of shapes"},
      {"%i = Const() {dtype=int64, value=int64<1,2>{0, 4}}\n"
       "%v = Const() {dtype=float, value=float<1>{1}}\n"
       "%m = SparseTensorToCSRSparseMatrix(%i, %v, %shape) {T=float}",
       "out of bounds"},
      {"%i = Const() {dtype=int64, value=int64<1,2>{-1, 0}}\n"
       "%m = DenseToCSRSparseMatrix(%d, %i) {T=float}\n"
       "%d = Const() {dtype=float, value=float<1,1>{1}}",
       "out of bounds"},
      {"%s = Const() {dtype=int64, value=int64<2>{3, 5000000000}}\n"
       "%m = SparseMatrixZeros(%s) {type=float}",
       "too large"},
      {"%s = Const() {dtype=int64, value=int64<2>{-2, 3}}\n%m = SparseMatrixZeros(%s) {type=float}",
       "-2"},
      {"%s = Const() {dtype=int64, value=int64<1>{3}}\n%m = SparseMatrixZeros(%s) {type=float}",
       "rank 1"},
  };
  for (const auto& [text, message] : cases) {
    const auto got = MatrixOf(text);
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(got.status().message()), HasSubstr(message)) << text;
  }
  for (const int index : {-1, 2}) {
    const auto got = RunWith(absl::StrCat("%i = Const() {dtype=int32, value=int32<>{", index, R"(}}
%c = CSRSparseMatrixComponents(%batch, %i) {type=float}
out c = %c)"));
    EXPECT_THAT(std::string(got.status().message()), HasSubstr("of 2 matrices"));
  }
  const auto other = RunWith(R"(
%e = Const() {dtype=int32, value=int32<1>{1}}
%n = Const() {dtype=int32, value=int32<>{1}}
%l = TensorListReserve(%e, %n) {element_dtype=float, shape_type=int32}
%c = SparseMatrixNNZ(%l)
out c = %c)");
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("does not hold a sparse matrix"));
}

}  // namespace
}  // namespace tenon

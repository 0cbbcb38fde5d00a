// Inputs that single ops must refuse or handle: each one once caused a crash, an overflow or an
// endless run. For random inputs see op_property_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/interface/types.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "tests/unit/ops/run_op.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

TEST(HostileInput, ACountOfTheLargestNumber) {
  const auto counts =
      RunOp("DenseCountSparseOutput",
            {{"T", DType::kInt64}, {"binary_output", false}, {"output_type", DType::kInt64}},
            {Tensor::Vector<int64_t>({1, INT64_MAX}), Tensor::Vector<int64_t>({})});
  EXPECT_THAT(std::string(counts.status().message()), HasSubstr("too large"));
}

// Zeros have no logarithm: the result is NaN, and comes quickly.
TEST(HostileInput, TheLogarithmOfASingularMatrix) {
  const auto log =
      RunOp("MatrixLogarithm", {{"T", DType::kComplex128}},
            {Tensor::From<complex128>(Shape({3, 3}), std::vector<complex128>(9, complex128(0)))});
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_TRUE(std::isnan((*log)[0].data<complex128>()[0].real()));
}

// The product of the known sizes is 2^64; it is not 0.
TEST(HostileInput, SizesWhoseProductOverflows) {
  Node node;
  node.op = "Reshape";
  node.attrs["T"] = DType::kFloat;
  node.attrs["Tshape"] = DType::kInt64;
  const Tensor sizes = Tensor::Vector<int64_t>({-1, 4});
  const int64_t large = int64_t{1} << 32;
  const auto outputs = InferOutputs(
      *FindOp("Reshape").info, node,
      {{DType::kFloat, Shape({-1, large, large}), nullptr}, {DType::kInt64, Shape({2}), &sizes}});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].shape, Shape({-1, 4}));
}

TEST(HostileInput, SizesWhoseSumOverflows) {
  Node node;
  node.op = "ConcatV2";
  node.attrs["N"] = int64_t{2};
  node.attrs["T"] = DType::kFloat;
  node.attrs["Tidx"] = DType::kInt32;
  const Tensor axis = Tensor::Scalar<int32_t>(1);
  const Shape large({0, int64_t{1} << 62});
  const auto outputs = InferOutputs(*FindOp("ConcatV2").info, node,
                                    {{DType::kFloat, large, nullptr},
                                     {DType::kFloat, large, nullptr},
                                     {DType::kInt32, Shape({}), &axis}});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].shape, Shape({0, -1}));
}

TEST(HostileInput, ManyRowsWithoutFeatures) {
  const int64_t rows = int64_t{1} << 40;
  const auto crosses =
      RunOp("SparseCrossV2",
            {{"N", 0},
             {"sparse_types", std::vector<DType>{}},
             {"dense_types", std::vector<DType>{DType::kInt64}}},
            {*Tensor::Allocate(DType::kInt64, Shape({rows, 0})), Tensor::Scalar<std::string>("x")});
  ASSERT_TRUE(crosses.ok()) << crosses.status();
  EXPECT_EQ((*crosses)[2].data<int64_t>()[0], rows);
}

}  // namespace
}  // namespace tenon

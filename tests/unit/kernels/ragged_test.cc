#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/flags.h"
#include "ops/evaluate.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

// Row splits may state any number of rows, but take no memory; the lengths of rows that are given
// by row ids do.
TEST(RaggedTensorToTensor, RowIdsOfAnAbsurdNumberOfRowsAreRefused) {
  const SessionOptions options = DefaultOptions(/*threads=*/1);
  Services services;
  services.flags = &*options.flags;
  Node node;
  node.name = "node";
  node.op = "RaggedTensorToTensor";
  node.attrs["T"] = DType::kFloat;
  node.attrs["Tindex"] = DType::kInt64;
  node.attrs["Tshape"] = DType::kInt64;
  node.attrs["num_row_partition_tensors"] = int64_t{2};
  node.attrs["row_partition_types"] = std::vector<std::string>{"ROW_SPLITS", "VALUE_ROWIDS"};
  const auto run = [&](int64_t rows) {
    const std::vector<Tensor> inputs = {
        Tensor::Vector<int64_t>({-1, -1, -1}), Tensor::Vector<float>({1, 2}),
        Tensor::From<float>(Shape(), {9}), Tensor::Vector<int64_t>({0, rows}),
        Tensor::Vector<int64_t>({0, 1})};
    return Evaluate(node, inputs, services);
  };
  const auto few = run(3);
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_THAT((*few)[0].flat<float>(), testing::ElementsAre(1, 2, 9));
  const auto many = run(int64_t{1} << 40);
  EXPECT_TRUE(absl::IsInvalidArgument(many.status())) << many.status();
}

}  // namespace
}  // namespace tenon

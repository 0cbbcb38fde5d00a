// _BranchValue: a tensor that only one branch has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/ops/run_op.h"

namespace tenon {
namespace {

TEST(BranchValue, NeedsItsBranch) {
  const Tensor x = Tensor::Vector<float>({1, 2, 3});
  for (const bool taken : {false, true}) {
    const AttrMap attrs = {{"T", DType::kFloat}, {"taken", taken}};
    const auto there = RunOp("_BranchValue", attrs, {x, Tensor::Scalar<bool>(taken)});
    ASSERT_TRUE(there.ok()) << there.status();
    EXPECT_EQ((*there)[0].data<float>()[2], 3);
    const auto dead = RunOp("_BranchValue", attrs, {x, Tensor::Scalar<bool>(!taken)});
    EXPECT_TRUE(absl::IsInvalidArgument(dead.status())) << dead.status();
  }
}

}  // namespace
}  // namespace tenon

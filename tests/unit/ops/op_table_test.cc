#include <gtest/gtest.h>

#include "ops/op.h"

namespace tenon {
namespace {

TEST(OpTable, EveryRowParses) {
  for (const std::string& error : OpTableErrors()) ADD_FAILURE() << error;
}

TEST(OpTable, NativeNamesFindTheirRow) {
  for (const OpInfo* op : AllOps()) {
    if (op->row.native == nullptr) continue;
    const OpLookup found = FindOp(op->row.native);
    EXPECT_EQ(found.info, op);
    EXPECT_TRUE(found.native);
    EXPECT_NE(op->row.accelerated, nullptr) << op->row.native;
  }
}

}  // namespace
}  // namespace tenon

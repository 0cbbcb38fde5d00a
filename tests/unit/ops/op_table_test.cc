#include <gtest/gtest.h>

#include "ops/op.h"

namespace tenon {
namespace {

TEST(OpTable, EveryRowParses) {
  for (const std::string& error : OpTableErrors()) ADD_FAILURE() << error;
}

// Rows register themselves, so files that are not linked would go unnoticed.
TEST(OpTable, HasItsRows) {
  EXPECT_GE(AllOps().size(), 680u);
  for (const char* op : {"Conv2D", "MatMul", "While", "DecodeGif", "_FusedElementwise"}) {
    EXPECT_TRUE(FindOp(op)) << op;
  }
}

TEST(OpTable, NativeNamesFindTheirRow) {
  int natives = 0;
  for (const OpInfo* op : AllOps()) {
    if (op->row.native == nullptr) continue;
    ++natives;
    const OpLookup found = FindOp(op->row.native);
    EXPECT_EQ(found.info, op);
    EXPECT_TRUE(found.native);
    EXPECT_NE(op->row.accelerated, nullptr) << op->row.native;
  }
  EXPECT_GE(natives, 130);
}

}  // namespace
}  // namespace tenon

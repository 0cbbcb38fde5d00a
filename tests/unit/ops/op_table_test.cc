#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
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

TEST(OpTable, NativeNamesHaveTheFactsOfTheirRow) {
  EXPECT_EQ(&FactsOf("_MklNativeRelu"), &FactsOf("Relu"));
  EXPECT_EQ(FactsOf("Relu").sign, Sign::kNeverNegative);
  EXPECT_EQ(FactsOf("NoSuchOp").name, nullptr);
  EXPECT_EQ(FactsOf("NoSuchOp").precision, PrecisionRole::kFloat);
}

// What a fact means is only true of certain rows.
TEST(OpTable, FactsFitTheirRows) {
  const auto has = [](const std::vector<AttrSpec>& attrs, const char* kind) {
    return std::any_of(attrs.begin(), attrs.end(),
                       [&](const AttrSpec& a) { return absl::StrContains(a.kind, kind); });
  };
  for (const OpInfo* op : AllOps()) {
    SCOPED_TRACE(op->row.name);
    const OpRow& row = op->row;
    if (row.moves_elements) {
      EXPECT_FALSE(row.elementwise || row.discontinuous || row.stateful);
      EXPECT_EQ(row.precision, PrecisionRole::kFloat);
    }
    if (row.precision == PrecisionRole::kLeads || row.precision == PrecisionRole::kFollows) {
      EXPECT_NE(row.native, nullptr);
      EXPECT_FALSE(row.discontinuous);
    }
    if (row.batch_axis != nullptr) {
      EXPECT_FALSE(row.stateful);
    }
    if (row.range_of_ranges) {
      EXPECT_GE(op->signature.outputs.size(), 1u);
    }
    if (row.control_flow != ControlFlow::kNone) {
      EXPECT_TRUE(has(op->signature.attrs, "func"));
    }
    if (row.sign == Sign::kOfInputs) {
      ASSERT_EQ(op->signature.outputs.size(), 1u);
      EXPECT_EQ(op->signature.inputs[0].type_attr, op->signature.outputs[0].type_attr);
    }
  }
}

TEST(OpTable, BroadcastBinaryOpsGiveTheDtypeOfTheirOperands) {
  EXPECT_TRUE(IsBroadcastBinary(*FindOp("AddV2").info));
  EXPECT_TRUE(IsBroadcastBinary(*FindOp("SquaredDifference").info));
  EXPECT_FALSE(IsBroadcastBinary(*FindOp("Less").info));     // bool
  EXPECT_FALSE(IsBroadcastBinary(*FindOp("BiasAdd").info));  // along the channels
  EXPECT_FALSE(IsBroadcastBinary(*FindOp("AddN").info));
}

}  // namespace
}  // namespace tenon

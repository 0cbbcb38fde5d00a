// Shardings of XLA's ops: on one device there is one part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

absl::Status StatusOf(const std::string& op, const std::string& sharding) {
  Node node;
  node.name = node.op = op;
  node.attrs["T"] = AttrValue(DType::kFloat);
  node.attrs["manual_sharding"] = AttrValue(sharding);
  if (op == "XlaSpmdShardToFullShape") node.attrs["full_shape"] = AttrValue(Shape({4}));
  const Flags flags;
  Services services;
  services.flags = &flags;
  return Evaluate(node, {Tensor::Vector<float>({1, 2, 3, 4})}, services).status();
}

// Serialized OpShardings of type OTHER; field 3 has the number of tiles in each dimension.
TEST(Shardings, OfSeveralPartsAreRefused) {
  const std::string one("\x08\x03\x1a\x01\x01\x22\x01\x00", 8);
  const std::string two("\x08\x03\x1a\x01\x02\x22\x02\x00\x01", 9);
  const std::string two_unpacked("\x08\x03\x18\x02\x22\x02\x00\x01", 8);
  for (const char* op : {"XlaSpmdFullToShardShape", "XlaSpmdShardToFullShape"}) {
    EXPECT_TRUE(StatusOf(op, one).ok()) << op << StatusOf(op, one);
    for (const std::string& sharding : {two, two_unpacked}) {
      const absl::Status status = StatusOf(op, sharding);
      EXPECT_TRUE(absl::IsUnimplemented(status)) << op << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("several devices"));
    }
  }
}

}  // namespace
}  // namespace tenon

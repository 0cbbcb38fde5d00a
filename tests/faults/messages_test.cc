// Messages with fields that Tenon does not know: each allocation fails.
#include <gtest/gtest.h>

#include <string>

#include "env/exceptions.h"
#include "env/status.h"
#include "proto/import/model.h"
#include "tests/faults/fault_sweep.h"

namespace tenon {
namespace {

// A field of up to 127 bytes, on the wire.
std::string Field(int number, const std::string& bytes) {
  std::string field;
  for (int tag = number << 3 | 2; tag != 0; tag >>= 7) {
    field.push_back(static_cast<char>((tag & 0x7f) | (tag > 0x7f ? 0x80 : 0)));
  }
  field.push_back(static_cast<char>(bytes.size()));
  return field + bytes;
}

TEST(MessageFaults, UnknownFields) {
  constexpr int kNode = 1, kName = 1, kOp = 2, kUnknown = 900;
  std::string node = Field(kName, "x") + Field(kOp, "NoOp");
  for (int i = 0; i < 3; ++i) node += Field(kUnknown, "a text of thirty characters, up");
  const std::string graph = Field(kNode, node) + Field(kUnknown, "text") + Field(kUnknown, "more");
  const auto read = [&]() -> absl::Status {
    return CatchExceptions([&] { return InspectParsed(graph, {}).status(); });
  };
  faults::Sweep({.name = "unknown fields", .run = read, .check = read}, 100'000);
}

}  // namespace
}  // namespace tenon

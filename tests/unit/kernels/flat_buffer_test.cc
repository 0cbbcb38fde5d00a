#include "kernels/text/flat_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon {
namespace {

// A table whose only field is a vector of `count` strings, all of them the one `text`.
std::vector<uint8_t> SharedStrings(uint32_t count, const std::string& text) {
  std::vector<uint8_t> buffer;
  const auto put = [&](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) buffer.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  put(12, 4);                                  // where the table is
  put(6, 2), put(8, 2), put(4, 2), put(0, 2);  // its list of fields: sizes, the first field's place
  put(8, 4);                                   // the table: back to that list
  put(4, 4);                                   // the field: on to the vector
  put(count, 4);
  for (uint32_t i = 0; i < count; ++i) put(4 * (count - i), 4);
  put(static_cast<uint32_t>(text.size()), 4);
  buffer.insert(buffer.end(), text.begin(), text.end());
  return buffer;
}

TEST(FlatTable, StringsMayBeShared) {
  const std::vector<uint8_t> buffer = SharedStrings(2, "abc");
  const auto table = FlatTable::Root(buffer);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto strings = table->Strings(0);
  ASSERT_TRUE(strings.ok()) << strings.status();
  EXPECT_THAT(*strings, testing::ElementsAre("abc", "abc"));
}

// Otherwise a model of a megabyte could ask for a hundred gigabytes.
TEST(FlatTable, StringsAreNoLargerThanTheBuffer) {
  const std::vector<uint8_t> buffer = SharedStrings(100, std::string(100, 'x'));
  const auto table = FlatTable::Root(buffer);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(absl::IsInvalidArgument(table->Strings(0).status()));
}

}  // namespace
}  // namespace tenon

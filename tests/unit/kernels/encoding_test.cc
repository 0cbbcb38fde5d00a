#include "kernels/strings/encoding.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> Decoded(const char* name, const std::string& text) {
  const absl::StatusOr<Encoding> encoding = EncodingNamed(name);
  EXPECT_TRUE(encoding.ok()) << encoding.status();
  if (!encoding.ok()) return {};
  std::vector<uint32_t> characters;
  size_t at = 0;
  const NextCharacterFn next = encoding->Begin(text, at);
  while (at < text.size()) {
    bool valid = true;
    const uint32_t character = next(text, at, valid);
    characters.push_back(valid ? character : 0xFFFD);
  }
  return characters;
}

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int v : values) bytes.push_back(static_cast<char>(v));
  return bytes;
}

TEST(Encoding, LittleEndian) {
  EXPECT_THAT(Decoded("UTF-16-LE", Bytes({'a', 0, 0x3D, 0xD8, 0x01, 0xDE})),
              ElementsAre('a', 0x1F601));
  EXPECT_THAT(Decoded("UTF-32LE", Bytes({'a', 0, 0, 0, 0x01, 0xF6, 0x01, 0})),
              ElementsAre('a', 0x1F601));
}

TEST(Encoding, ByteOrderMarks) {
  EXPECT_THAT(Decoded("UTF-16", Bytes({0xFF, 0xFE, 'a', 0})), ElementsAre('a'));
  EXPECT_THAT(Decoded("UTF-16", Bytes({0xFE, 0xFF, 0, 'a'})), ElementsAre('a'));
  EXPECT_THAT(Decoded("UTF-32", Bytes({0xFF, 0xFE, 0, 0, 'a', 0, 0, 0})), ElementsAre('a'));
  EXPECT_THAT(Decoded("UTF-16-BE", Bytes({0xFE, 0xFF, 0, 'a'})), ElementsAre(0xFEFF, 'a'));
  EXPECT_THAT(Decoded("UTF-16", ""), ElementsAre());
  EXPECT_THAT(Decoded("UTF-16", "a"), ElementsAre(0xFFFD));
}

TEST(Encoding, Errors) {
  EXPECT_THAT(Decoded("UTF-16-BE", Bytes({0xD8, 0, 0, 'a'})), ElementsAre(0xFFFD, 'a'));
  EXPECT_THAT(Decoded("UTF-16-BE", Bytes({0xD8, 0, 0})), ElementsAre(0xFFFD));
  EXPECT_THAT(Decoded("UTF-32-BE", Bytes({0, 0x11, 0, 0})), ElementsAre(0xFFFD));
  EXPECT_THAT(Decoded("US-ASCII", Bytes({'a', 0xE9})), ElementsAre('a', 0xFFFD));
  EXPECT_THAT(Decoded("iso_8859-1", Bytes({'a', 0xE9})), ElementsAre('a', 0xE9));
  EXPECT_FALSE(EncodingNamed("no-such-encoding").ok());
}

}  // namespace
}  // namespace tenon

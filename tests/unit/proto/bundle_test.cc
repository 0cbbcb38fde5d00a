#include "proto/checkpoint/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "load_testing.h"
#include "proto/checkpoint/crc32c.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(0, "123456789", 9), 0xe3069283u);
  const std::string zeros(32, '\0');
  EXPECT_EQ(Crc32c(0, zeros.data(), zeros.size()), 0x8a9136aau);
  EXPECT_EQ(Crc32c(Crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

std::string Prefix(const std::string& model) { return model + "/variables/variables"; }

TEST(Bundle, EveryEntryOfEveryModelMatchesItsChecksum) {
  for (const char* name : {"mlp", "resnet50", "loader/tf1_three_shards"}) {
    const auto bundle =
        Bundle::Open(Prefix(ModelPath(name) + "/saved_model"), {.verify_checksums = true});
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    EXPECT_FALSE((*bundle)->entries().empty());
    for (const auto& [key, entry] : (*bundle)->entries()) {
      const auto value = (*bundle)->Load(key);
      ASSERT_TRUE(value.ok()) << value.status();
      EXPECT_EQ(value->dtype(), entry.dtype);
      EXPECT_EQ(value->shape(), entry.shape);
    }
  }
}

TEST(Bundle, AFlippedBitIsFound) {
  const ScratchPath copy("bundle");
  std::filesystem::copy(ModelPath("loader/tf1_variable_v2/saved_model"), copy.str(),
                        std::filesystem::copy_options::recursive);
  const std::string data = Prefix(copy.str()) + ".data-00000-of-00001";
  std::string bytes = ReadFile(data);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  WriteFile(data, bytes);
  auto bad = [&](bool verify) {
    const auto bundle = Bundle::Open(Prefix(copy.str()), {.verify_checksums = verify});
    EXPECT_TRUE(bundle.ok()) << bundle.status();
    int n = 0;
    for (const auto& [key, entry] : (*bundle)->entries()) n += !(*bundle)->Load(key).ok();
    return n;
  };
  EXPECT_EQ(bad(true), 1);
  EXPECT_EQ(bad(false), 0);
}

TEST(Bundle, ErrorsNameFileAndKey) {
  const auto none = Bundle::Open("/nowhere/variables", {});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("/nowhere/variables.index"));

  const ScratchPath copy("bundle");
  std::filesystem::copy(ModelPath("loader/tf1_variable_v2/saved_model"), copy.str(),
                        std::filesystem::copy_options::recursive);
  std::filesystem::resize_file(Prefix(copy.str()) + ".data-00000-of-00001", 8);
  const auto bundle = Bundle::Open(Prefix(copy.str()), {});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(std::string((*bundle)->Load("kernel").status().message()),
              testing::AllOf(HasSubstr("entry 'kernel'"), HasSubstr("is the file cut off?")));
  EXPECT_THAT(std::string((*bundle)->Load("nope").status().message()),
              HasSubstr("has no entry 'nope'"));
}

// Pages of a range are released with its last holder; others, and later reads, see the same bytes.
TEST(MappedFile, HeldPagesAreGivenBack) {
  const ScratchPath path("pages");
  constexpr uint64_t kPage = 4096;
  std::string bytes(16 * kPage, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + i / kPage);
  WriteFile(path.str(), bytes);
  auto file = MappedFile::Open(path.str());
  ASSERT_TRUE(file.ok()) << file.status();
  const char* data = (*file)->data();
  auto first = (*file)->Hold(0, 5 * kPage + 100);
  auto second = (*file)->Hold(5 * kPage + 100, bytes.size() - 5 * kPage - 100);
  file->reset();  // the holders keep the mapping
  EXPECT_EQ(std::string(data, bytes.size()), bytes);
  const auto copy = first;
  first.reset();
  EXPECT_EQ(std::string(data, 5 * kPage), bytes.substr(0, 5 * kPage));
  second.reset();
  EXPECT_EQ(std::string(data, bytes.size()), bytes);  // read from the file again
}

}  // namespace
}  // namespace tenon

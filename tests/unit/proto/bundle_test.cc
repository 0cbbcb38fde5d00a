#include "proto/checkpoint/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/memory_account.h"
#include "load_testing.h"
#include "proto/checkpoint/bundle_slices.h"
#include "proto/checkpoint/crc32c.h"
#include "tests/support/checkpoint_index.h"

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
  for (const char* name : {"mlp", "resnet50", "loader/tf1_three_shards", "loader/mutable_tables"}) {
    for (const bool map_files : {true, false}) {
      const auto bundle = Bundle::Open(Prefix(ModelPath(name) + "/saved_model"),
                                       {.verify_checksums = true, .map_files = map_files});
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

// leveldb reads a block with its trailer, which it adds to the stated size.
TEST(Bundle, ABlockOfASizeThatOverflowsIsDamage) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's operator new ends the program where others throw bad_alloc";
#endif
  const ScratchPath path("overflow");
  for (uint64_t short_of = 1; short_of <= 6; ++short_of) {
    CheckpointIndex index;
    index.Add("", std::string("\x08\x01", 2));
    WriteFile(path.str() + ".index", index.Finish(CheckpointIndex::Place{0, 0 - short_of}));
    const auto bundle = Bundle::Open(path.str(), {});
    EXPECT_TRUE(absl::IsInvalidArgument(bundle.status())) << bundle.status();
  }
  std::filesystem::remove(path.str() + ".index");
}

// Checkpoints of one partitioned value "v", float[4] unless stated, with these parts.
class Partitioned : public ::testing::Test {
 protected:
  using Part = std::pair<int64_t, int64_t>;  // start and size, along the only dimension

  absl::StatusOr<Tensor> Load(std::vector<Part> parts, int64_t size = 4) {
    const std::vector<float> data = {1, 2, 3, 4};
    WriteFile(path_.str() + ".data-00000-of-00001",
              std::string(reinterpret_cast<const char*>(data.data()), 16));
    std::map<std::string, std::string> entries = {{"", NumberField(1, 1)}};
    std::string whole = NumberField(1, 1) + Dims(size);
    for (const Part& part : parts) {
      const std::string extent =
          BytesField(1, NumberField(1, part.first) + NumberField(2, part.second));
      whole += BytesField(7, extent);
      entries[SliceKey("v", {part})] = NumberField(1, 1) + Dims(part.second) +
                                       NumberField(4, 4 * part.first) +
                                       NumberField(5, 4 * part.second);
    }
    entries["v"] = whole;
    CheckpointIndex index;
    for (const auto& [key, value] : entries) index.Add(key, value);
    WriteFile(path_.str() + ".index", index.Finish());
    auto bundle = Bundle::Open(path_.str(), {});
    if (!bundle.ok()) return bundle.status();
    return (*bundle)->Load("v");
  }
  ~Partitioned() override {
    std::filesystem::remove(path_.str() + ".index");
    std::filesystem::remove(path_.str() + ".data-00000-of-00001");
  }

 private:
  static std::string Dims(int64_t size) {
    return BytesField(2, BytesField(2, NumberField(1, size)));
  }

  const ScratchPath path_{"partitioned"};
};

TEST_F(Partitioned, PartsFillTheValue) {
  const auto value = Load({{0, 1}, {1, 3}});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_THAT(value->flat<float>(), testing::ElementsAre(1, 2, 3, 4));
}

// As many elements as the value has, but some twice: the others would be whatever the memory holds.
TEST_F(Partitioned, OverlapsAreErrors) {
  for (const auto& parts :
       {std::vector<Part>{{0, 2}, {1, 2}}, {{0, 2}, {0, 2}}, {{0, 3}, {2, 2}}}) {
    EXPECT_THAT(std::string(Load(parts).status().message()), HasSubstr("its parts overlap"));
  }
}

TEST_F(Partitioned, AnAbsurdSizeTakesNoMemory) {
  const auto account = std::make_shared<MemoryAccount>(int64_t{1} << 60);
  const MemoryScope scope(account, MemoryUse::kWeights);
  const int64_t absurd = int64_t{1} << 36;
  EXPECT_THAT(std::string(Load({{0, 2}}, absurd).status().message()),
              HasSubstr("its parts have 2 elements of"));
  EXPECT_THAT(std::string(Load({{0, absurd}}, absurd).status().message()),
              HasSubstr("is the file cut off?"));
  EXPECT_LT(account->peak(), 1 << 20);
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

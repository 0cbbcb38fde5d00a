// Checkpoints whose index is compressed by Snappy: TensorFlow reads such files, though its own
// savers do not compress. CVE-2018-7577 is about their damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "load_testing.h"
#include "proto/checkpoint/bundle.h"
#include "tests/support/checkpoint_index.h"
#include "tests/support/snappy.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kValues = 40;

std::string KeyOf(int i) {
  return "model/layer/kernel/" + std::to_string(10 + i) + std::string(100, 'x');
}

class CompressedIndex : public ::testing::Test {
 protected:
  // Floats "…10" to "…49", of two elements each.
  CompressedIndex() {
    index_.Add("", NumberField(1, 1));
    std::vector<float> data;
    for (int i = 0; i < kValues; ++i) {
      const std::string dims = BytesField(2, BytesField(2, NumberField(1, 2)));
      index_.Add(KeyOf(i), NumberField(1, 1) + dims + NumberField(4, 8 * i) + NumberField(5, 8));
      data.push_back(static_cast<float>(i));
      data.push_back(0.5f);
    }
    WriteFile(path_.str() + ".data-00000-of-00001",
              std::string(reinterpret_cast<const char*>(data.data()), 4 * data.size()));
  }
  ~CompressedIndex() override {
    std::filesystem::remove(path_.str() + ".index");
    std::filesystem::remove(path_.str() + ".data-00000-of-00001");
  }

  absl::StatusOr<std::unique_ptr<Bundle>> OpenWith(const std::string& compressed) {
    WriteFile(path_.str() + ".index", CheckpointIndex(index_).FinishCompressed(compressed));
    return Bundle::Open(path_.str(), {});
  }
  void ExpectRight(const std::string& compressed) {
    const auto bundle = OpenWith(compressed);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    EXPECT_EQ((*bundle)->entries().size(), size_t{kValues});
    for (int i = 0; i < kValues; ++i) {
      const auto value = (*bundle)->Load(KeyOf(i));
      ASSERT_TRUE(value.ok()) << value.status();
      EXPECT_THAT(value->flat<float>(), ElementsAre(static_cast<float>(i), 0.5f));
    }
  }
  void ExpectDamaged(const std::string& compressed, const char* what) {
    const absl::Status status = OpenWith(compressed).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << what << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_.str())) << what;
  }

  const ScratchPath path_{"compressed"};
  CheckpointIndex index_;
};

TEST_F(CompressedIndex, IsRead) {
  const std::string block = index_.Block();
  // Copies that overlap what they write, for runs of one byte, and copies of far bytes.
  const std::string compressed = SnappyCompress(block);
  EXPECT_LT(compressed.size(), block.size() / 4);
  ExpectRight(compressed);
  ExpectRight(SnappyLength(block.size()) + SnappyLiteral(block));
}

TEST_F(CompressedIndex, CopiesThatReachBeforeTheStartAreDamage) {
  const std::string block = index_.Block();
  const std::string length = SnappyLength(block.size());
  const std::string half = SnappyLiteral(absl::string_view(block).substr(0, 70));
  for (const uint32_t back : {0u, 71u, 72u, 1000u, 65535u, 65536u, 1u << 30, ~0u}) {
    for (const size_t bytes : {1, 4, 15, 16, 17, 64}) {
      ExpectDamaged(length + half + SnappyCopy(back, bytes) +
                        SnappyLiteral(absl::string_view(block).substr(70 + bytes)),
                    "a copy");
      ExpectDamaged(length + SnappyCopy(back, bytes), "nothing to copy");
    }
  }
}

TEST_F(CompressedIndex, LengthsThatAreWrongAreDamage) {
  const std::string block = index_.Block();
  const std::string whole = SnappyLiteral(block);
  for (const uint64_t length :
       {uint64_t{0}, uint64_t{1}, block.size() - 1, block.size() + 1, 2 * block.size()}) {
    ExpectDamaged(SnappyLength(length) + whole, "the length");
  }
  for (const uint64_t length : {block.size() + 1, size_t{1} << 20, size_t{1} << 32}) {
    ExpectDamaged(SnappyLength(block.size()) + SnappyLiteralHead(length) + block, "a literal");
  }
  ExpectDamaged(std::string(10, '\xff'), "a length without an end");
  ExpectDamaged(SnappyLength(uint64_t{1} << 32) + whole, "a length of 33 bits");
  ExpectDamaged(SnappyLength(UINT32_MAX) + whole, "the greatest length");
  // It is not allocated.
  const absl::Status status = OpenWith(SnappyLength(UINT32_MAX) + whole).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("impossible size"));
}

// Runs of one byte, which Snappy shortens the most.
TEST_F(CompressedIndex, TheGreatestExpansionIsRead) {
  index_.Add(KeyOf(kValues) + std::string(100000, 'x'), NumberField(1, 1));
  const std::string block = index_.Block(), compressed = SnappyCompress(block);
  EXPECT_LT(compressed.size(), block.size() / 20);
  const absl::Status status = OpenWith(compressed).status();
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("impossible size")));
}

TEST_F(CompressedIndex, CutOffIsDamage) {
  const std::string compressed = SnappyCompress(index_.Block());
  for (size_t size = 0; size < compressed.size(); ++size) {
    ExpectDamaged(compressed.substr(0, size), "cut off");
  }
}

// With correct checksums around them: each is read, or damage; nothing else.
TEST_F(CompressedIndex, ChangedBytes) {
  const std::string compressed = SnappyCompress(index_.Block());
  for (size_t at = 0; at < compressed.size(); ++at) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string changed = compressed;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const absl::Status status = OpenWith(changed).status();
      EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status) || absl::IsUnimplemented(status))
          << at << ": " << status;
    }
  }
}

}  // namespace
}  // namespace tenon

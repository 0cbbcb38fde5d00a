#include "runtime/disk_cache/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "env/mapped_file.h"
#include "env/memory_account.h"
#include "kernels/interface/constant.h"
#include "runtime/disk_cache/content_hash.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using State = DiskCacheReport::State;

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() : home_(fs::path(::testing::TempDir()) / absl::StrCat("disk_cache_", getpid())) {
    fs::remove_all(home_);
    fs::create_directories(home_);
    fs::copy(SourcePath("tests/models/resnet50/saved_model"), model(), fs::copy_options::recursive);
    options_ = DefaultOptions(1);
    options_.cache_dir = (home_ / "cache").string();
  }
  ~DiskCacheTest() override { fs::remove_all(home_); }

  fs::path model() const { return home_ / "model"; }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    if (!fs::exists(options_.cache_dir)) return files;
    for (const auto& entry : fs::directory_iterator(options_.cache_dir)) {
      files.push_back(entry.path());
    }
    return files;
  }

  std::unique_ptr<Session> Open(const SessionOptions& options) {
    auto session = Session::Load(model().string(), {}, options);
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }

  // The first output for images of ones.
  static Tensor Result(Session& session, int64_t batch = 1) {
    Shape shape = session.inputs()[0].shape;
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) < 0) shape.set_dim(d, d == 0 ? batch : 48);
    }
    std::vector<float> ones(static_cast<size_t>(shape.num_elements()), 1.0f);
    auto outputs = session.Run(std::vector<Tensor>{Tensor::From<float>(shape, std::move(ones))});
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? (*outputs)[0] : Tensor();
  }

  struct Started {
    Tensor result;
    DiskCacheReport disk;
  };
  Started Start(const SessionOptions& options) {
    const auto session = Open(options);
    Tensor result = Result(*session);
    return {result, session->disk_cache()};
  }
  Started Start() { return Start(options_); }

  const fs::path home_;
  SessionOptions options_;
};

TEST_F(DiskCacheTest, SecondStartReadsWhatTheFirstWrote) {
  SessionOptions without = options_;
  without.cache_dir.clear();
  const Started plain = Start(without);
  EXPECT_EQ(plain.disk.state, State::kOff);
  EXPECT_TRUE(Files().empty());

  const Started first = Start();
  EXPECT_EQ(first.disk.state, State::kWritten) << first.disk.status;
  ASSERT_EQ(Files().size(), 1u);
  const Started second = Start();
  EXPECT_EQ(second.disk.state, State::kRead) << second.disk.status;
  EXPECT_TRUE(Identical(plain.result, first.result));
  EXPECT_TRUE(Identical(plain.result, second.result));
}

TEST_F(DiskCacheTest, NothingIsPackedAgain) {
  Start();
  const auto session = Open(options_);
  EXPECT_EQ(session->disk_cache().state, State::kRead);
  const int64_t packed = session->bytes().packed;
  EXPECT_GT(packed, 0);
  Result(*session);
  EXPECT_EQ(session->bytes().packed, packed);
  // Another batch size: forms in other layouts are derived from those that were read.
  SessionOptions without = options_;
  without.cache_dir.clear();
  EXPECT_TRUE(Identical(Result(*session, 3), Result(*Open(without), 3)));
}

TEST_F(DiskCacheTest, TheFolderMayComeFromTheEnvironment) {
  options_.flags->cache_dir = std::exchange(options_.cache_dir, "");
  EXPECT_EQ(Start().disk.state, State::kWritten);
  EXPECT_EQ(Start().disk.state, State::kRead);
}

TEST_F(DiskCacheTest, DamagedFilesAreWrittenAnew) {
  const Tensor wanted = Start().result;
  ASSERT_EQ(Files().size(), 1u);
  const fs::path file = Files()[0];
  const auto size = static_cast<int64_t>(fs::file_size(file));
  for (const int64_t at :
       {int64_t{0}, int64_t{20}, int64_t{40}, int64_t{130}, size / 2, size - 1}) {
    SCOPED_TRACE(at);
    {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(at);
      const int byte = stream.get();
      stream.seekp(at);
      stream.put(static_cast<char>(byte ^ 0x40));
    }
    const Started again = Start();
    EXPECT_EQ(again.disk.state, State::kWritten) << again.disk.status;
    EXPECT_TRUE(Identical(again.result, wanted));
    EXPECT_EQ(Start().disk.state, State::kRead);
  }
  for (const int64_t kept : {int64_t{0}, int64_t{10}, int64_t{100}, size / 2, size - 64}) {
    SCOPED_TRACE(kept);
    fs::resize_file(file, static_cast<uintmax_t>(kept));
    const Started again = Start();
    EXPECT_EQ(again.disk.state, State::kWritten) << again.disk.status;
    EXPECT_TRUE(Identical(again.result, wanted));
  }
  EXPECT_EQ(Start().disk.state, State::kRead);
}

// Like DamagedFilesAreWrittenAnew, but with the correct hash: records that point outside the file,
// and invalid values.
TEST(CacheFile, NoRecordLeadsOutOfTheFile) {
  const fs::path path =
      fs::path(::testing::TempDir()) / absl::StrCat("tenon_cache_file_", getpid());
  CacheContent content;
  content.graph = "%x = Placeholder() {dtype=float}";
  StoredConstant constant{DType::kFloat, Shape({2, 3}), Tensor(), {}};
  constant.plain = Tensor::From<float>(Shape({2, 3}), {1, 2, 3, 4, 5, 6});
  constant.forms.push_back({"key", "text", Tensor::From<uint8_t>(Shape({4}), {1, 2, 3, 4})});
  content.constants = {constant, constant};
  ASSERT_TRUE(WriteCacheFile(path.string(), "key", content, 1).ok());
  ASSERT_TRUE(ReadCacheFile(path.string(), "key", FilePages::kMapped, 1).ok());
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};

  constexpr size_t kHashAt = 24, kHeader = 64, kRecords = 128;  // runtime/disk_cache/cache_file.cc
  const auto read = [&](std::string bytes) {
    bytes.replace(kHashAt, 32, ContentHash(absl::string_view(bytes).substr(kHeader), 1));
    std::ofstream(path, std::ios::binary) << bytes;
    const auto content = ReadCacheFile(path.string(), "key", FilePages::kMapped, 1);
    if (!content.ok()) return;
    for (const StoredConstant& c : content->constants) {
      std::vector<Tensor> tensors = {c.plain};
      for (const StoredForm& form : c.forms) tensors.push_back(form.bytes);
      for (const Tensor& t : tensors) {
        EXPECT_NE(t.dtype(), DType::kString);
        if (t.valid()) {
          EXPECT_TRUE(t.Clone().ok());  // reads all of it
        }
      }
    }
  };
  for (size_t at = kHeader; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x7', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      read(std::move(damaged));
    }
  }
  // Records that end with the file, so that their padding would be past its end.
  for (size_t cut = kRecords + 1; cut < kRecords + 64; ++cut) {
    std::string damaged = whole.substr(0, cut);
    const uint64_t size = cut, records = cut - kRecords;
    damaged.replace(16, 8, reinterpret_cast<const char*>(&size), 8);
    damaged.replace(kHeader, 8, reinterpret_cast<const char*>(&records), 8);
    read(std::move(damaged));
  }
  fs::remove(path);
}

// The shape of an input's default value says nothing about what the file holds. Nothing is
// allocated for a shape that it does not.
TEST(CacheFile, DefaultsTakeNoMoreMemoryThanTheFileHolds) {
  const fs::path path =
      fs::path(::testing::TempDir()) / absl::StrCat("tenon_cache_defaults_", getpid());
  CacheContent content;
  content.interface.defaults = {
      {"f", Tensor::From<float>(Shape({3}), {1, 2, 3})},
      {"s", Tensor::From<std::string>(Shape({2}), {"a", ""})},
      {"none", Tensor::From<float>(Shape({0, 5}), {})},
  };
  ASSERT_TRUE(WriteCacheFile(path.string(), "key", content, 1).ok());
  const auto read = ReadCacheFile(path.string(), "key", FilePages::kMapped, 1);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->interface.defaults.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->interface.defaults[i].first, content.interface.defaults[i].first);
    EXPECT_TRUE(
        Identical(read->interface.defaults[i].second, content.interface.defaults[i].second));
  }
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};

  // With another dtype and dimension for a default of rank 1: whether it is refused, and the bytes
  // of tensors that were allocated until then.
  const auto account = std::make_shared<MemoryAccount>(int64_t{1} << 40);
  const MemoryScope scope(account, MemoryUse::kWeights);
  const auto refused = [&](std::array<uint64_t, 3> from, std::array<uint64_t, 3> to) {
    const auto raw = [](const auto& numbers) {
      return std::string(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
    };
    const size_t at = whole.find(raw(from));
    if (at == std::string::npos) return false;
    std::string bytes = whole;
    bytes.replace(at, sizeof(to), raw(to));
    bytes.replace(24, 32, ContentHash(absl::string_view(bytes).substr(64), 1));
    std::ofstream(path, std::ios::binary) << bytes;
    return absl::IsDataLoss(ReadCacheFile(path.string(), "key", FilePages::kMapped, 1).status());
  };
  constexpr uint64_t kFloat = 1, kString = 7, kResource = 20;  // of DType
  for (const uint64_t dim : {uint64_t{4}, uint64_t{1} << 26, ~uint64_t{0}}) {
    EXPECT_TRUE(refused({kFloat, 1, 3}, {kFloat, 1, dim})) << dim;
    EXPECT_TRUE(refused({kString, 1, 2}, {kString, 1, dim})) << dim;
    EXPECT_TRUE(refused({kFloat, 1, 3}, {kString, 1, dim})) << dim;
    EXPECT_TRUE(refused({kFloat, 1, 3}, {kResource, 1, dim})) << dim;
  }
  EXPECT_LT(account->peak(), 1 << 20);
  fs::remove(path);
}

TEST_F(DiskCacheTest, AFileOfAnotherKeyIsNotTaken) {
  Start();
  SessionOptions gate_off = options_;
  gate_off.flags->onednn_opts = false;
  const fs::path one = Files().at(0);
  const Tensor wanted = Start(gate_off).result;
  ASSERT_EQ(Files().size(), 2u);
  const fs::path other = Files()[0] == one ? Files()[1] : Files()[0];
  fs::copy_file(one, other, fs::copy_options::overwrite_existing);
  const Started again = Start(gate_off);
  EXPECT_EQ(again.disk.state, State::kWritten);
  EXPECT_TRUE(Identical(again.result, wanted));
}

TEST_F(DiskCacheTest, OtherSettingsHaveFilesOfTheirOwn) {
  Start();
  std::vector<SessionOptions> others(4, options_);
  others[0].flags->onednn_opts = false;
  others[1].flags->strict_nan = true;
  others[2].flags->disabled_rules = "FoldBatchNorm";
  others[3].precision = Precision::kBfloat16;
  size_t files = 1;
  for (const SessionOptions& other : others) {
    const auto session = Session::Load(model().string(), {}, other);
    if (!session.ok()) continue;
    if (!(*session)->report().status.ok() || !(*session)->report().note.empty()) continue;
    SCOPED_TRACE(files);
    Result(**session);
    EXPECT_EQ((*session)->disk_cache().state, State::kWritten);
    EXPECT_EQ(Files().size(), ++files);
    EXPECT_EQ(Start(other).disk.state, State::kRead);
  }
  EXPECT_GE(files, 3u);
  // A setting that does not change the graph shares the file.
  options_.flags->plan_entries = 3;
  options_.flags->cache_entries = 77;
  options_.threads = 2;
  EXPECT_EQ(Start().disk.state, State::kRead);
  EXPECT_EQ(Files().size(), files);
}

TEST_F(DiskCacheTest, AChangedModelIsAnotherModel) {
  const Tensor before = Start().result;
  for (const auto& entry : fs::directory_iterator(model() / "variables")) {
    if (entry.path().string().find(".data-") == std::string::npos) continue;
    std::fstream stream(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<int64_t>(fs::file_size(entry.path()) / 2) & ~int64_t{3});
    const float value = 0.25f;
    stream.write(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  EXPECT_EQ(Start().disk.state, State::kWritten);
  EXPECT_EQ(Files().size(), 2u);
}

TEST_F(DiskCacheTest, TheFolderStaysWithinItsLimit) {
  options_.flags->cache_dir_bytes = 1;  // less than any file: the newest one stays
  EXPECT_EQ(Start().disk.state, State::kWritten);
  const std::vector<fs::path> first = Files();
  ASSERT_EQ(first.size(), 1u);
  SessionOptions other = options_;
  other.flags->strict_nan = true;  // has its own file
  EXPECT_EQ(Start(other).disk.state, State::kWritten);
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_NE(Files()[0], first[0]);
  EXPECT_EQ(Start(other).disk.state, State::kRead);
  EXPECT_EQ(Start().disk.state, State::kWritten);
}

TEST_F(DiskCacheTest, AFolderThatCannotBeWrittenIsNoError) {
  std::ofstream(home_ / "file") << "not a folder";
  options_.cache_dir = (home_ / "file" / "cache").string();
  const Started started = Start();
  EXPECT_EQ(started.disk.state, State::kFailed);
  EXPECT_FALSE(started.disk.status.ok());
  options_.cache_dir.clear();
  EXPECT_TRUE(Identical(started.result, Start().result));
}

TEST_F(DiskCacheTest, AMissingModelIsTheUsualError) {
  const auto session = Session::Load((home_ / "nowhere").string(), {}, options_);
  EXPECT_TRUE(absl::IsNotFound(session.status())) << session.status();
}

TEST_F(DiskCacheTest, ContentHashDoesNotDependOnThreads) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not see libgomp's barriers";
#endif
  std::string text(5 << 20, 'x');
  for (size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>(i % 251);
  const std::string one = ContentHash(text, 1);
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(one, ContentHash(text, 2));
  const std::string path = (home_ / "text").string();
  std::ofstream(path) << "head" << text << text << text << text;
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(ContentHash(**file, 4, 2).value(), ContentHash(text + text + text + text, 1));
  EXPECT_EQ(ContentHash(**file, (*file)->size(), 2).value(), ContentHash("", 1));
  text[3 << 20] ^= 1;
  EXPECT_NE(one, ContentHash(text, 2));
  EXPECT_NE(ContentHash("", 1), ContentHash(absl::string_view("\0", 1), 1));
}

// A form of a constant, by name and size.
class Form final : public DerivedConstant {
 public:
  Form(size_t bytes, bool unpacks) : bytes_(bytes), unpacks_(unpacks) {}
  size_t bytes() const override { return bytes_; }
  bool CanUnpack() const override { return unpacks_; }
  absl::StatusOr<Tensor> Plain() const override { return Tensor::Vector<float>({1, 2}); }

 private:
  const size_t bytes_;
  const bool unpacks_;
};

std::shared_ptr<const DerivedConstant> Derive(Constant& c, const std::string& key, size_t bytes,
                                              bool unpacks) {
  const auto make = [&](const Tensor&) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
    return std::make_shared<Form>(bytes, unpacks);
  };
  return *c.Derive(key, make);
}

TEST(Constant, FormsThatNobodyHoldsGoWithTheNext) {
  Constant c(Tensor::Vector<float>({1, 2}));
  auto a = Derive(c, "a", 10, false);
  Derive(c, "b", 100, false);
  EXPECT_EQ(c.derived_bytes(), 110u);  // the most recent stays
  Derive(c, "c", 1000, false);
  EXPECT_EQ(c.derived_bytes(), 1010u);
  a.reset();
  Derive(c, "c", 1, false);  // found
  EXPECT_EQ(c.derived_bytes(), 1000u);
}

TEST(Constant, AReleasedValueKeepsAFormThatGivesItBack) {
  Constant c(Tensor::Vector<float>({1, 2}));
  Derive(c, "a", 10, true);
  EXPECT_TRUE(c.ReleasePlain());
  Derive(c, "b", 100, false);
  EXPECT_EQ(c.derived_bytes(), 110u);
  EXPECT_EQ(c.Plain()->flat<float>()[1], 2);
  EXPECT_TRUE(c.ReleasePlain());
  Derive(c, "d", 1000, true);
  EXPECT_EQ(c.derived_bytes(), 1000u);
}

}  // namespace
}  // namespace tenon

#include "graph/npz/npz.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "graph/npz/npy.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Npy(const std::string& dictionary, const std::string& elements, char version = 1) {
  std::string out = "\x93NUMPY";
  out.push_back(version);
  out.push_back('\0');
  for (size_t i = 0; i < (version == 1 ? 2u : 4u); ++i) {
    out.push_back(static_cast<char>(dictionary.size() >> (8 * i) & 0xFF));
  }
  return out + dictionary + elements;
}

absl::StatusOr<Tensor> Parse(const std::string& file) {
  size_t at = 0;
  return ReadNpy(file.size(), [&](void* to, size_t size) -> absl::Status {
    if (size > file.size() - at) return absl::InvalidArgumentError("ended");
    std::memcpy(to, file.data() + at, size);
    at += size;
    return absl::OkStatus();
  });
}

std::string Bytes(std::vector<unsigned char> bytes) { return {bytes.begin(), bytes.end()}; }

TEST(Npy, OrderAndEndianness) {
  const std::string six = Bytes({0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6});
  auto c = Parse(Npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }\n", six));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_THAT(c->flat<int16_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  auto f = Parse(Npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", six, 2));
  ASSERT_TRUE(f.ok()) << f.status();
  EXPECT_EQ(f->shape(), Shape({2, 3}));
  EXPECT_THAT(f->flat<int16_t>(), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, Strings) {
  auto s = Parse(
      Npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", std::string("ab\0xyz", 6)));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(s->flat<std::string>(), ElementsAre("ab", "xyz"));
  auto u = Parse(Npy("{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }",
                     Bytes({0xe4, 0, 0, 0, 0x00, 0xf6, 1, 0})));
  ASSERT_TRUE(u.ok()) << u.status();
  EXPECT_THAT(u->flat<std::string>(), ElementsAre("\xc3\xa4\xf0\x9f\x98\x80"));
}

TEST(Npy, HostileHeadersAreErrors) {
  const char* const bad[] = {
      "",
      "{",
      "{'descr': '<f4'}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000000000000), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '|S0', 'fortran_order': False, 'shape': (100000000000,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } more",
  };
  for (const char* header : bad) {
    EXPECT_FALSE(Parse(Npy(header, "abcd")).ok()) << header;
  }
  const std::string good = Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcd");
  ASSERT_TRUE(Parse(good).ok());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(Parse(good.substr(0, n)).ok()) << n;
}

class NpzTest : public ::testing::Test {
 protected:
  NpzTest() {
    folder_ =
        std::filesystem::temp_directory_path() / ("tenon_npz_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~NpzTest() override { std::filesystem::remove_all(folder_); }
  std::string Path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(NpzTest, RoundTrip) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (DType dtype :
       {DType::kBool, DType::kInt8, DType::kUint16, DType::kInt32, DType::kUint64, DType::kHalf,
        DType::kBfloat16, DType::kFloat, DType::kDouble, DType::kComplex64, DType::kComplex128}) {
    auto t = Tensor::Allocate(dtype, Shape({2, 3}));
    ASSERT_TRUE(t.ok());
    for (size_t i = 0; i < t->bytes(); ++i)
      t->data<uint8_t>()[i] = dtype == DType::kBool ? i % 2 : i;
    tensors.emplace_back(Name(dtype), *t);
  }
  tensors.emplace_back("scope/name:0", Tensor::Scalar<float>(3));
  tensors.emplace_back("empty", Tensor::From<float>(Shape({0, 4}), {}));
  tensors.emplace_back("strings", Tensor::Vector<std::string>({"a", "", "longer"}));
  ASSERT_TRUE(WriteNpz(Path("a.npz"), tensors).ok());
  auto back = ReadNpz(Path("a.npz"));
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ((*back)[i].first, tensors[i].first);
    EXPECT_TRUE(Identical((*back)[i].second, tensors[i].second)) << tensors[i].first;
  }
}

TEST_F(NpzTest, ReadsWhatNumPyWrote) {
  auto npz = ReadNpz(SourcePath("tests/models/bert4/inputs.npz"));
  ASSERT_TRUE(npz.ok()) << npz.status();
  EXPECT_GE(npz->size(), 1u);
}

TEST_F(NpzTest, ErrorsLeaveNoFileBehind) {
  const Tensor t = Tensor::Scalar<float>(1);
  EXPECT_THAT(std::string(WriteNpz(Path("no/such/folder.npz"), {{"x", t}}).message()),
              HasSubstr("no/such/folder.npz"));
  EXPECT_FALSE(WriteNpz(Path("b.npz"), {{"x", t}, {"y", Tensor()}}).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(NpzTest, FollowsLinksAndWritesIntoPipes) {
  const Tensor t = Tensor::Scalar<float>(1);
  ASSERT_TRUE(WriteNpz(Path("real.npz"), {{"x", t}}).ok());
  std::filesystem::create_symlink(Path("real.npz"), Path("link.npz"));
  ASSERT_TRUE(WriteNpz(Path("link.npz"), {{"y", t}}).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link.npz")));
  auto back = ReadNpz(Path("real.npz"));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ((*back)[0].first, "y");
  // A pipe is written to, not replaced.
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const int reader = open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(WriteNpz(Path("pipe"), {{"x", t}}).ok());
  EXPECT_TRUE(std::filesystem::is_fifo(Path("pipe")));
  char magic[2] = {};
  EXPECT_EQ(read(reader, magic, 2), 2);
  EXPECT_EQ(std::string(magic, 2), "PK");
  close(reader);
}

TEST_F(NpzTest, DamagedFilesAreErrors) {
  EXPECT_EQ(ReadNpz(Path("none.npz")).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteNpz(Path("a.npz"), {{"x", Tensor::Vector<float>({1, 2, 3})}}).ok());
  std::ifstream in(Path("a.npz"), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  for (size_t n = 0; n < good.size(); ++n) {
    std::ofstream(Path("cut.npz"), std::ios::binary) << good.substr(0, n);
    EXPECT_FALSE(ReadNpz(Path("cut.npz")).ok()) << n;
    std::string flipped = good;
    flipped[n] = static_cast<char>(flipped[n] ^ 0x41);
    std::ofstream(Path("flip.npz"), std::ios::binary) << flipped;
    auto t = ReadNpz(Path("flip.npz"));  // timestamps may change unnoticed; values may not
    if (t.ok() && t->size() == 1) {
      EXPECT_TRUE(Identical((*t)[0].second, Tensor::Vector<float>({1, 2, 3}))) << n;
    }
  }
}

}  // namespace
}  // namespace tenon

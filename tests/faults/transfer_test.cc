// Reads and writes that signals interrupt, and that move fewer bytes than asked.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "env/file_io.h"
#include "graph/npz/npz.h"
#include "proto/export/export.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/faults/file_hook.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using faults::ShortTransfers;
using State = DiskCacheReport::State;

std::string Content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class TransferFaults : public ::testing::Test {
 protected:
  TransferFaults() : home_(fs::path(::testing::TempDir()) / absl::StrCat("transfers_", getpid())) {
    fs::remove_all(home_);
    fs::create_directories(home_);
  }
  ~TransferFaults() override { fs::remove_all(home_); }

  const fs::path home_;
};

TEST_F(TransferFaults, ReadsAndWritesAreWhole) {
  std::string bytes(1000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 % 251);
  const fs::path path = home_ / "bytes";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  const absl::Cleanup closer = [fd] { close(fd); };
  std::string read(2 * bytes.size(), '\0');
  absl::Status written;
  absl::StatusOr<size_t> inner, last;
  {
    const ShortTransfers transfers;
    written = WriteAll(fd, bytes.data(), bytes.size());
    inner = ReadAt(fd, 10, read.data(), 500);
    last = ReadAt(fd, 510, read.data() + 500, read.size() - 500);
  }
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_EQ(Content(path), bytes);
  ASSERT_TRUE(inner.ok() && last.ok()) << inner.status() << last.status();
  EXPECT_EQ(*inner, 500u);
  EXPECT_EQ(*last, 490u);  // the file ends there
  EXPECT_EQ(read.substr(0, 990), bytes.substr(10));
}

TEST_F(TransferFaults, ErrorsAreNotRetried) {
  const int folder = open(home_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  const absl::Cleanup closer = [folder] { close(folder); };
  char byte = 0;
  EXPECT_FALSE(ReadAt(folder, 0, &byte, 1).ok());
  EXPECT_FALSE(WriteAll(folder, &byte, 1).ok());
}

// What tells a text from a binary message is read apart from the message.
TEST_F(TransferFaults, ATextModel) {
  const std::string path = SourcePath("tests/models/loader/frozen_mlp/graph.pbtxt");
  const absl::StatusOr<Model> model = [&] {
    const ShortTransfers transfers;
    return LoadModel(path, {});
  }();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->format, "GraphDef text");
}

TEST_F(TransferFaults, AModelAndTheDiskCache) {
  const std::string model = SourcePath("tests/models/mlp/saved_model");
  const auto inputs = ReadNpz(SourcePath("tests/models/mlp/inputs.npz"));
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  SessionOptions options = DefaultOptions(1);
  const auto plain = Session::Load(model, {}, options);
  ASSERT_TRUE(plain.ok()) << plain.status();
  const auto expected = (*plain)->Run(*inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  options.cache_dir = (home_ / "cache").string();
  for (const State state : {State::kWritten, State::kRead}) {
    const ShortTransfers transfers;
    const auto session = Session::Load(model, {}, options);
    ASSERT_TRUE(session.ok()) << session.status();
    const auto outputs = (*session)->Run(*inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_TRUE(Identical((*outputs)[0].second, (*expected)[0].second));
    EXPECT_EQ((*session)->disk_cache().state, state) << (*session)->disk_cache().status;
    EXPECT_GT(transfers.count(), 10);
  }
}

TEST_F(TransferFaults, AModelIsWritten) {
  const auto model = LoadModel(SourcePath("tests/models/mlp/saved_model"), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const fs::path whole = home_ / "whole.pb", parts = home_ / "parts.pb";
  ASSERT_TRUE(ExportModel(model->graph, whole.string()).ok());
  {
    const ShortTransfers transfers;
    const absl::Status status = ExportModel(model->graph, parts.string());
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_GT(transfers.count(), 10);
  }
  EXPECT_EQ(Content(parts), Content(whole));
}

}  // namespace
}  // namespace tenon

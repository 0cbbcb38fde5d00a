// Weights and cache files that are shortened in place while a session uses them, which only copies
// survive (TENON_MAP_FILES=0).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "runtime/session/session.h"
#include "tests/support/checkpoint_index.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using State = DiskCacheReport::State;

constexpr int kRows = 256, kColumns = 128;  // large enough to be mapped

constexpr char kModel[] = R"(
saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" }
  graph_def {
    node {
      name: "x" op: "Placeholder"
      attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 1 } dim { size: 256 } } } }
    }
    node {
      name: "w" op: "VarHandleOp"
      attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 256 } dim { size: 128 } } } }
      attr { key: "shared_name" value { s: "w" } }
    }
    node {
      name: "read" op: "ReadVariableOp" input: "w"
      attr { key: "dtype" value { type: DT_FLOAT } }
    }
    node {
      name: "y" op: "MatMul" input: "x" input: "read"
      attr { key: "T" value { type: DT_FLOAT } }
    }
  }
  signature_def {
    key: "serving_default"
    value {
      inputs { key: "x" value { name: "x:0" dtype: DT_FLOAT } }
      outputs { key: "y" value { name: "y:0" dtype: DT_FLOAT } }
    }
  }
}
)";

// w[i][j] = j; x = 1, 0, 0, ...; so y[j] = j.
class ShortenedFiles : public ::testing::Test {
 protected:
  ShortenedFiles() : home_(fs::path(::testing::TempDir()) / absl::StrCat("shortened_", getpid())) {
    fs::remove_all(home_);
    fs::create_directories(model() / "variables");
    std::ofstream(model() / "saved_model.pbtxt") << kModel;
    WriteWeights();
    const std::string header = NumberField(1, /*shards*/ 1);
    const auto dim = [](int64_t size) { return BytesField(2, NumberField(1, size)); };
    const std::string entry = NumberField(1, static_cast<int64_t>(DType::kFloat)) +
                              BytesField(2, dim(kRows) + dim(kColumns)) +
                              NumberField(5, kRows * kColumns * sizeof(float));
    CheckpointIndex index;
    index.Add("", header);
    index.Add("w", entry);
    std::ofstream(model() / "variables" / "variables.index", std::ios::binary) << index.Finish();
  }
  ~ShortenedFiles() override { fs::remove_all(home_); }

  fs::path model() const { return home_ / "model"; }
  fs::path cache() const { return home_ / "cache"; }
  fs::path weights() const { return model() / "variables" / "variables.data-00000-of-00001"; }
  fs::path CacheFile() const { return fs::directory_iterator(cache())->path(); }

  void WriteWeights() const {
    std::vector<float> w(kRows * kColumns);
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % kColumns);
    std::ofstream(weights(), std::ios::binary)
        .write(reinterpret_cast<const char*>(w.data()),
               static_cast<std::streamsize>(w.size() * sizeof(float)));
  }
  std::unique_ptr<Session> Load(bool map_files, bool through_cache) const {
    SessionOptions options = DefaultOptions(1);
    options.flags->map_files = map_files;
    if (through_cache) options.cache_dir = cache().string();
    auto session = Session::Load(model().string(), {}, options);
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }
  // A session that has its weights from the cache.
  std::unique_ptr<Session> LoadFromCache(bool map_files) const {
    EXPECT_TRUE(Right(*Load(map_files, /*through_cache=*/true)));  // writes it
    auto session = Load(map_files, /*through_cache=*/true);
    EXPECT_EQ(session->disk_cache().state, State::kRead);
    return session;
  }
  static bool Right(Session& session) {
    Tensor x = Tensor::Allocate(DType::kFloat, Shape({1, kRows})).value();
    for (float& value : x.flat<float>()) value = 0;
    x.data<float>()[0] = 1;
    const auto outputs = session.Run(std::vector<Tensor>{x});
    if (!outputs.ok() || (*outputs)[0].num_elements() != kColumns) return false;
    for (int j = 0; j < kColumns; ++j) {
      if ((*outputs)[0].data<float>()[j] != static_cast<float>(j)) return false;
    }
    return true;
  }

  const fs::path home_;
};

TEST_F(ShortenedFiles, CopiedWeightsStay) {
  const auto session = Load(/*map_files=*/false, /*through_cache=*/false);
  ASSERT_NE(session, nullptr);
  fs::resize_file(weights(), 0);
  EXPECT_TRUE(Right(*session));
  EXPECT_TRUE(Right(*session));
}

TEST_F(ShortenedFiles, ACopiedCacheFileStays) {
  const auto session = LoadFromCache(/*map_files=*/false);
  fs::resize_file(CacheFile(), 0);
  EXPECT_TRUE(Right(*session));
  EXPECT_TRUE(Right(*session));
}

// What docs/FAULTS.md says is not survived: without it, the tests above would prove nothing.
TEST_F(ShortenedFiles, MappedOnesEndTheProcess) {
  for (const bool through_cache : {false, true}) {
    SCOPED_TRACE(through_cache ? "cache" : "weights");
    const auto session = through_cache ? LoadFromCache(/*map_files=*/true)
                                       : Load(/*map_files=*/true, /*through_cache=*/false);
    ASSERT_NE(session, nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core = {};
      setrlimit(RLIMIT_CORE, &no_core);
      std::signal(SIGBUS, SIG_DFL);
      fs::resize_file(through_cache ? CacheFile() : weights(), 0);
      _exit(Right(*session) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) << status;
    WriteWeights();
  }
}

}  // namespace
}  // namespace tenon

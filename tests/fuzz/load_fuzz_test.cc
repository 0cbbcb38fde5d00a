// Loads damaged model files: however they are cut or changed, loading returns a model or an error.
// It never crashes and never uses unbounded memory. The seed is fixed, and printed on failure.
//
//   TENON_FUZZ_ROUNDS=100000 build/bin/fuzz_test     many more rounds than the default
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "proto/export/export.h"
#include "proto/import/model.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

constexpr uint32_t kSeed = 20220623;
// A tensor may repeat one value over 2^31 bytes (proto/messages/tensor_proto.h); the rest is small.
constexpr long kMaxKilobytes = (2L << 20) + (1L << 20);

struct Target {
  const char* name;
  const char* model;  // below tests/
  const char* file;   // the file to damage; empty: the model is that file
  int rounds;
};

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

int Rounds(int normally) {
  const char* more = std::getenv("TENON_FUZZ_ROUNDS");
  return more == nullptr ? normally : std::atoi(more);
}

class DamagedModel : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    const Target& target = GetParam();
    copy_ = testing::TempDir() + "tenon_fuzz_" + std::to_string(getpid()) + "_" + target.name;
    std::filesystem::remove_all(copy_);
    const std::string from = SourcePath(std::string("tests/") + target.model);
    std::filesystem::copy(from, copy_, std::filesystem::copy_options::recursive);
    file_ = *target.file == '\0' ? copy_ : copy_ + "/" + target.file;
    bytes_ = ReadFile(file_);
    ASSERT_FALSE(bytes_.empty()) << file_;
    std::filesystem::permissions(file_, std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
  }
  void TearDown() override { std::filesystem::remove_all(copy_); }

  // Loads the model with `bytes` instead of the damaged file. An error must have a message.
  bool Load(const std::string& bytes) {
    WriteFile(file_, bytes);
    LoadOptions options;
    options.allow_missing_ops = true;
    options.verify_checksums = verify_;
    auto model = LoadModel(copy_, options);
    if (!model.ok()) {
      EXPECT_FALSE(model.status().message().empty());
      return false;
    }
    Touch(model->graph);
    loaded_ = std::move(model->graph);
    return true;
  }

  // Reads what a session would read: order, names, the first and last byte of each constant.
  static void Touch(const Graph& graph) {
    (void)graph.TopologicalOrder();
    volatile unsigned char sink = 0;
    for (NodeId id : graph.NodeIds()) {
      const Tensor* value = graph.node(id).attr<Tensor>("value");
      if (value == nullptr || value->bytes() == 0) continue;
      const auto* bytes = static_cast<const unsigned char*>(value->raw());
      sink = sink + bytes[0] + bytes[value->bytes() - 1];
    }
    for (const auto& [name, body] : graph.functions()) Touch(*body);
  }

  std::string copy_, file_, bytes_;
  Graph loaded_;
  bool verify_ = false;
};

TEST_P(DamagedModel, GivesAnErrorOrAModel) {
  ASSERT_TRUE(Load(bytes_));
  const int rounds = Rounds(GetParam().rounds);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };

  // Cuts at regular distances, and at each of the first and last bytes.
  std::vector<size_t> cuts;
  for (int i = 0; i < rounds / 4; ++i) {
    cuts.push_back(bytes_.size() * static_cast<size_t>(i) / static_cast<size_t>(rounds / 4 + 1));
  }
  for (size_t i = 1; i <= std::min<size_t>(64, bytes_.size()); ++i) {
    cuts.push_back(bytes_.size() - i);
    cuts.push_back(i - 1);
  }
  for (size_t cut : cuts) Load(bytes_.substr(0, cut));

  for (int round = 0; round < rounds; ++round) {
    std::string damaged = bytes_;
    const size_t flips = 1 + below(4) * below(2);
    for (size_t i = 0; i < flips; ++i) {
      char& byte = damaged[below(damaged.size())];
      switch (below(4)) {
        case 0:
          byte = static_cast<char>(byte ^ (1 << below(8)));
          break;
        case 1:
          byte = static_cast<char>(below(256));
          break;
        case 2:
          byte = '\xff';
          break;
        default:
          byte = '\0';
          break;
      }
    }
    if (below(8) == 0) damaged.erase(below(damaged.size()), 1 + below(16));
    if (below(8) == 0) damaged.insert(below(damaged.size() + 1), 1 + below(16), '\x80');
    Load(damaged);
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, kMaxKilobytes);
}

class DamagedData : public DamagedModel {};

// With checksums on, damaged data give an error or, if the signature does not need the data,
// exactly the constants of the intact model.
TEST_P(DamagedData, ChecksumsFindEveryFlip) {
  verify_ = true;
  ASSERT_TRUE(Load(bytes_));
  const Graph whole = std::move(loaded_);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  int noticed = 0;
  for (int round = 0; round < Rounds(GetParam().rounds); ++round) {
    std::string damaged = bytes_;
    const size_t at = std::uniform_int_distribution<size_t>(0, bytes_.size() - 1)(random);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (round % 8)));
    if (!Load(damaged)) {
      ++noticed;
      continue;
    }
    for (NodeId id : whole.NodeIds()) {
      const Node& n = whole.node(id);
      EXPECT_EQ(n.attrs, loaded_.FindNode(n.name)->attrs) << n.name << ", byte " << at;
    }
  }
  EXPECT_GT(noticed, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Files, DamagedModel,
    testing::Values(
        Target{"mlp", "models/mlp/saved_model", "saved_model.pb", 600},
        Target{"mlp_index", "models/mlp/saved_model", "variables/variables.index", 1000},
        Target{"mlp_data", "models/mlp/saved_model", "variables/variables.data-00000-of-00001",
               200},
        Target{"signatures", "models/loader/module_two_signatures/saved_model", "saved_model.pb",
               600},
        Target{"shards", "models/loader/tf1_three_shards/saved_model", "saved_model.pb", 400},
        Target{"shards_index", "models/loader/tf1_three_shards/saved_model",
               "variables/variables.index", 1000},
        Target{"control_flow", "unit/proto/data/control_flow", "saved_model.pb", 1000},
        Target{"control_flow_index", "unit/proto/data/control_flow", "variables/variables.index",
               500},
        Target{"control_flow_data", "unit/proto/data/control_flow",
               "variables/variables.data-00000-of-00001", 500},
        Target{"frozen", "models/loader/frozen_mlp/graph.pb", "", 2000},
        Target{"frozen_text", "models/loader/frozen_mlp/graph.pbtxt", "", 1000}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(Files, DamagedData,
                         testing::Values(Target{"mlp", "models/mlp/saved_model",
                                                "variables/variables.data-00000-of-00001", 200},
                                         Target{"shard",
                                                "models/loader/tf1_three_shards/saved_model",
                                                "variables/variables.data-00001-of-00003", 200},
                                         Target{"control_flow", "unit/proto/data/control_flow",
                                                "variables/variables.data-00000-of-00001", 200}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tenon

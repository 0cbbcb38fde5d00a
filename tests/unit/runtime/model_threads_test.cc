// Real models: one session used by many threads, with results that depend neither on the run, nor
// on the thread, nor on the caches.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "env/flags.h"
#include "graph/npz/npz.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

std::string Folder(const std::string& model) {
  return SourcePath(absl::StrCat("tests/models/", model, "/"));
}

std::unique_ptr<Session> Open(const std::string& model, bool caches = true) {
  auto loaded = LoadModel(Folder(model) + "saved_model", {});
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  SessionOptions options;
  options.flags = *Flags::From([&](const char* name) -> std::optional<std::string> {
    if (caches) return std::nullopt;
    if (std::string(name) == "TENON_PRIMITIVE_CACHE") return "0";
    if (std::string(name) == "TENON_CACHE_ENTRIES") return "1";
    if (std::string(name) == "TENON_PLAN_ENTRIES") return "1";
    return std::nullopt;
  });
  options.threads = 1;
  auto session = Session::Create(std::move(loaded->graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->report().status.ok()) << (*session)->report().status;
  return *std::move(session);
}

std::vector<Tensor> Inputs(Session& session, const std::string& model, const char* file) {
  auto named = ReadNpz(Folder(model) + file);
  EXPECT_TRUE(named.ok()) << named.status();
  auto arranged = session.Arrange(*named);
  EXPECT_TRUE(arranged.ok()) << arranged.status();
  return *arranged;
}

class ModelThreads : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelThreads, SameBitsFromEveryThread) {
  auto session = Open(GetParam());
  const char* const files[] = {"inputs.npz", "inputs_odd.npz", "inputs_b2.npz"};
  std::vector<std::vector<Tensor>> inputs;
  for (const char* file : files) inputs.push_back(Inputs(*session, GetParam(), file));
  // The first runs of all shapes, plans included, race on purpose.
  std::vector<std::vector<Tensor>> first(std::size(files) * 4);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < first.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3; ++i) {
        auto outputs = session->Run(inputs[t % std::size(files)]);
        if (!outputs.ok()) {
          ++wrong;
        } else if (first[t].empty()) {
          first[t] = *outputs;
        } else {
          wrong += !Identical(first[t][0], (*outputs)[0]);
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  for (size_t t = std::size(files); t < first.size(); ++t) {
    ASSERT_FALSE(first[t].empty());
    EXPECT_TRUE(Identical(first[t][0], first[t % std::size(files)][0]));
  }
  EXPECT_EQ(session->plan_stats().misses, static_cast<int64_t>(std::size(files)));
}

TEST_P(ModelThreads, SameBitsWithoutCaches) {
  auto cached = Open(GetParam());
  auto uncached = Open(GetParam(), /*caches=*/false);
  for (const char* file : {"inputs.npz", "inputs_odd.npz", "inputs.npz"}) {
    const std::vector<Tensor> inputs = Inputs(*cached, GetParam(), file);
    auto a = cached->Run(inputs);
    auto b = uncached->Run(inputs);
    ASSERT_TRUE(a.ok()) << a.status();
    ASSERT_TRUE(b.ok()) << b.status();
    EXPECT_TRUE(Identical((*a)[0], (*b)[0])) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelThreads,
                         ::testing::Values("mobilenetv2", "efficientnetb0", "bert4"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon

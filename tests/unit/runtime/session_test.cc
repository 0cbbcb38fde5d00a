#include "runtime/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "tests/unit/runtime/test_ops.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::Floats;
using testing::GraphMaker;
using ::testing::HasSubstr;

Graph SmallGraph() {
  Graph graph;
  GraphMaker maker(&graph);
  const Endpoint x = maker.Input("x", Shape({-1, 2}));
  const Endpoint a = maker.Node("TestNeg", "a", {x});
  const Endpoint b = maker.Node("TestNeg", "b", {a});
  maker.Output("y", maker.Node("TestAdd", "c", {b, x}));
  return graph;
}

std::unique_ptr<Session> Make(Graph graph, const Flags& flags = {}) {
  SessionOptions options;
  options.flags = flags;
  options.threads = 1;
  auto session = Session::Create(std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::string Error(Session& session, std::vector<NamedTensor> inputs) {
  return std::string(session.Run(inputs).status().message());
}

TEST(Session, RunsByNameAndByPosition) {
  auto session = Make(SmallGraph());
  auto named = session->Run({{"x:0", Floats({1, 2}, {1, 2})}});
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ((*named)[0].first, "y");
  EXPECT_THAT((*named)[0].second.flat<float>(), ElementsAre(2, 4));
  auto positional = session->Run(std::vector<Tensor>{Floats({2, 2}, {1, 2, 3, 4})});
  ASSERT_TRUE(positional.ok()) << positional.status();
  EXPECT_THAT((*positional)[0].flat<float>(), ElementsAre(2, 4, 6, 8));
}

TEST(Session, SaysWhatIsWrongWithAnInput) {
  auto session = Make(SmallGraph());
  const Tensor good = Floats({1, 2}, {1, 2});
  EXPECT_EQ(Error(*session, {}), "input 'x' is missing");
  EXPECT_EQ(Error(*session, {{"x", good}, {"z", good}}),
            "the model has no input 'z'; it takes 'x'");
  EXPECT_EQ(Error(*session, {{"x", good}, {"x:0", good}}), "input 'x:0' is given twice");
  EXPECT_EQ(Error(*session, {{"x", Tensor::From<double>(Shape({1, 2}), {1, 2})}}),
            "input 'x' must be float, but is double");
  EXPECT_EQ(Error(*session, {{"x", Floats({1, 3}, {1, 2, 3})}}),
            "input 'x' must have shape [?,2], but has [1,3]");
  EXPECT_EQ(Error(*session, {{"x", Floats({2}, {1, 2})}}),
            "input 'x' must have shape [?,2], but has [2]");
  EXPECT_TRUE(session->Run({{"x", good}}).ok());
}

TEST(Session, InputsThatNothingNeedsMayBeLeftOut) {
  Graph graph = SmallGraph();
  GraphMaker maker(&graph);
  maker.Input("unused", Shape({1}));
  auto session = Make(std::move(graph));
  EXPECT_TRUE(session->Run({{"x", Floats({1, 2}, {1, 2})}}).ok());
}

TEST(Session, PlansAreKeptAndBounded) {
  Flags flags;
  flags.plan_entries = 3;
  auto session = Make(SmallGraph(), flags);
  const auto run = [&](int64_t batch) {
    auto t = Tensor::Allocate(DType::kFloat, Shape({batch, 2}));
    return session->Run(std::vector<Tensor>{*t}).ok();
  };
  for (int64_t batch = 1; batch <= 5; ++batch) EXPECT_TRUE(run(batch));
  EXPECT_EQ(session->plan_stats().entries, 3);
  EXPECT_EQ(session->plan_stats().misses, 5);
  EXPECT_TRUE(run(3));
  EXPECT_TRUE(run(3));
  EXPECT_EQ(session->plan_stats().hits, 2);
  EXPECT_TRUE(run(6));  // batch 4 was the least recently used
  EXPECT_TRUE(run(3));
  EXPECT_TRUE(run(5));
  EXPECT_EQ(session->plan_stats().hits, 4);
  EXPECT_TRUE(run(4));
  EXPECT_EQ(session->plan_stats().misses, 7);
}

TEST(Session, PlansAndKernelsAreNotKeptWhereTheFlagsSaySo) {
  for (const auto none : {&Flags::plan_entries, &Flags::plan_bytes}) {
    Flags flags;
    flags.*none = 0;
    auto session = Make(SmallGraph(), flags);
    for (int i = 0; i < 3; ++i) {
      auto run = session->Run({{"x", Floats({1, 2}, {1, 2})}});
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_THAT((*run)[0].second.flat<float>(), ElementsAre(2, 4));
    }
    EXPECT_EQ(session->plan_stats().entries, 0);
    EXPECT_EQ(session->plan_stats().misses, 3);
    EXPECT_GT(session->kernel_stats().hits, 0);
  }
  for (const auto none : {&Flags::cache_entries, &Flags::cache_bytes}) {
    Flags flags;
    flags.*none = 0;
    auto session = Make(SmallGraph(), flags);
    for (int64_t batch : {1, 2, 1}) {
      auto t = Tensor::Allocate(DType::kFloat, Shape({batch, 2}));
      EXPECT_TRUE(session->Run(std::vector<Tensor>{*t}).ok());
    }
    EXPECT_EQ(session->kernel_stats().entries, 0);
    EXPECT_EQ(session->kernel_stats().hits, 0);
    EXPECT_EQ(session->plan_stats().hits, 1);
  }
}

TEST(Session, PlansAreBoundedByBytes) {
  Flags flags;
  flags.plan_bytes = 1;  // less than any plan: the last one is kept
  auto session = Make(SmallGraph(), flags);
  for (int64_t batch : {1, 2, 2, 1}) {
    auto t = Tensor::Allocate(DType::kFloat, Shape({batch, 2}));
    ASSERT_TRUE(session->Run(std::vector<Tensor>{*t}).ok());
    EXPECT_EQ(session->plan_stats().entries, 1);
  }
  EXPECT_EQ(session->plan_stats().misses, 3);
  EXPECT_GT(session->bytes().plans, 0);
}

TEST(Session, FailedPlansAreForgotten) {
  Graph graph;
  GraphMaker maker(&graph);
  const Endpoint x = maker.Input("x", Shape::Unknown());
  maker.Output("y", maker.Node("NoSuchOp", "n", {x}));
  auto session = Make(std::move(graph));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Error(*session, {{"x", Floats({1}, {1})}}), HasSubstr("'n' (NoSuchOp)"));
  }
  EXPECT_EQ(session->plan_stats().entries, 0);
  EXPECT_EQ(session->plan_stats().misses, 2);
}

TEST(Session, ManyThreadsTwoShapes) {
  auto session = Make(SmallGraph());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const float v = static_cast<float>(t + 1);
      const int64_t rows = 1 + t % 2;
      for (int i = 0; i < 300; ++i) {
        const std::vector<float> values(static_cast<size_t>(rows) * 2, v);
        auto out = session->Run(std::vector<Tensor>{Floats({rows, 2}, values)});
        if (!out.ok() || (*out)[0].num_elements() != rows * 2) {
          ++wrong;
          continue;
        }
        for (float y : (*out)[0].flat<float>()) wrong += y != 2 * v;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(session->plan_stats().misses, 2);
}

TEST(Session, RunsUnrewrittenWhereRewritingFails) {
  Flags flags;
  flags.disabled_rules = "NoSuchRule";
  auto session = Make(SmallGraph(), flags);
  EXPECT_THAT(std::string(session->report().status.message()), HasSubstr("NoSuchRule"));
  EXPECT_TRUE(session->Run({{"x", Floats({1, 2}, {1, 2})}}).ok());
}

TEST(Session, EachGraphHasDumpsOfItsOwn) {
  const fs::path folder = fs::path(::testing::TempDir()) / absl::StrCat("dumps_", getpid());
  fs::create_directory(folder);
  const absl::Cleanup remove = [&] { fs::remove_all(folder); };
  Flags flags;
  flags.dump_dir = folder.string();
  Make(SmallGraph(), flags);
  const auto count = [&] {
    std::set<std::string> graphs;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      EXPECT_THAT(name, ::testing::StartsWith("session_"));
      if (absl::EndsWith(name, "_0_loaded.graph")) graphs.insert(name);
    }
    return graphs.size();
  };
  EXPECT_EQ(count(), 1);
  Make(SmallGraph(), flags);
  EXPECT_EQ(count(), 2);
}

TEST(Session, MisalignedFeedsAreCopied) {
  auto session = Make(SmallGraph());
  auto bytes = std::make_shared<std::vector<char>>(64);
  char* odd = bytes->data() + 1;
  const float values[] = {1, 2};
  std::memcpy(odd, values, sizeof(values));
  auto out = session->Run(
      std::vector<Tensor>{Tensor::FromExternal(DType::kFloat, Shape({1, 2}), odd, bytes)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].flat<float>(), ElementsAre(2, 4));
}

TEST(Session, BadGraphsAreErrors) {
  Graph graph = SmallGraph();
  graph.AddOutput({"gone", {99, 0}});
  SessionOptions options;
  options.flags = Flags();
  EXPECT_THAT(std::string(Session::Create(graph, options).status().message()),
              HasSubstr("output 'gone'"));
  graph = SmallGraph();
  graph.AddOutput({"second", {graph.FindNode("a")->id, 1}});
  auto session = Make(graph);
  EXPECT_THAT(Error(*session, {{"x", Floats({1, 2}, {1, 2})}}), HasSubstr("'a:1'"));
}

}  // namespace
}  // namespace tenon

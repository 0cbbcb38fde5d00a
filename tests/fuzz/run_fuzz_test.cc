// Runs well-formed graphs with absurd attributes, constants and shapes. A graph that import accepts
// either runs or gives an error: never a crash, and never an internal error.
//
//   TENON_FUZZ_ROUNDS=10000 build/bin/fuzz_test --gtest_filter=*AbsurdGraph*
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "graph/rewriter.h"
#include "graph/text.h"
#include "kernels/interface/types.h"
#include "proto/export/export.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/support/interpreter.h"
#include "tests/support/limits.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

constexpr uint32_t kSeed = 20250113;

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }
  template <typename I>
  I AbsurdInt() {
    using Limits = std::numeric_limits<I>;
    const I large = static_cast<I>(Limits::max() / 3);
    return Pick<I>({I(0), I(1), I(2), static_cast<I>(-1), static_cast<I>(-2), I(5), large,
                    Limits::max(), Limits::min()});
  }

  // Null: values of this type are not changed.
  AttrValue Absurd(const AttrValue& value) {
    if (value.get_if<int64_t>() != nullptr) return AbsurdInt<int64_t>();
    if (value.get_if<bool>() != nullptr) return !*value.get_if<bool>();
    if (value.get_if<float>() != nullptr) return AbsurdFloat();
    if (value.get_if<DType>() != nullptr) {
      return Pick({DType::kFloat, DType::kInt32, DType::kHalf, DType::kString, DType::kQuint8});
    }
    if (value.get_if<std::string>() != nullptr) {
      return Pick<const char*>({"", "SAME", "VALID", "EXPLICIT", "NHWC", "NCHW", "ab,bc->ac"});
    }
    if (const auto* list = value.get_if<std::vector<int64_t>>()) {
      std::vector<int64_t> changed = *list;
      if (Below(4) == 0) changed.resize(Below(9), 1);
      if (!changed.empty()) changed[Below(changed.size())] = AbsurdInt<int64_t>();
      return changed;
    }
    if (const auto* shape = value.get_if<Shape>()) return AbsurdShape(*shape);
    if (const auto* tensor = value.get_if<Tensor>()) return AbsurdTensor(*tensor);
    return {};
  }

 private:
  float AbsurdFloat() {
    const float inf = std::numeric_limits<float>::infinity();
    return Pick({0.0f, -1.0f, 1e30f, -1e-30f, inf, -inf, std::numeric_limits<float>::quiet_NaN()});
  }
  Shape AbsurdShape(Shape shape) {
    if (!shape.has_rank() || shape.rank() == 0 || Below(4) == 0) {
      return Pick({Shape(), Shape::Unknown(), Shape({-1, 3}), Shape({2, 0}), Shape({1, 1, 1, 1})});
    }
    shape.set_dim(static_cast<int>(Below(static_cast<size_t>(shape.rank()))),
                  Pick<int64_t>({-1, 0, 1, 2, 3, 7}));
    return shape;
  }
  // Changes elements of small tensors, or the shape.
  AttrValue AbsurdTensor(const Tensor& tensor) {
    if (tensor.num_elements() == 0 || tensor.num_elements() > 4096) return {};
    if (Below(4) == 0) {
      const auto flat = tensor.Reshaped(Shape({tensor.num_elements(), 1}));
      return flat.ok() ? AttrValue(*flat) : AttrValue();
    }
    Tensor t = *tensor.Clone();
    const size_t at = Below(static_cast<size_t>(t.num_elements()));
    if (t.dtype() == DType::kInt32) t.data<int32_t>()[at] = AbsurdInt<int32_t>();
    if (t.dtype() == DType::kInt64) t.data<int64_t>()[at] = AbsurdInt<int64_t>();
    if (t.dtype() == DType::kFloat) t.data<float>()[at] = AbsurdFloat();
    return t;
  }

  std::mt19937 random_;
};

// One attribute of one node.
void ChangeOne(Graph& graph, Mutator& mutate) {
  std::vector<std::pair<NodeId, std::string>> places;
  for (NodeId id : graph.NodeIds()) {
    for (const auto& [name, value] : graph.node(id).attrs) places.emplace_back(id, name);
  }
  if (places.empty()) return;
  const auto& [id, name] = places[mutate.Below(places.size())];
  AttrValue changed = mutate.Absurd(graph.node(id).attrs.at(name));
  if (!changed.empty()) Rewriter(graph).SetAttr(id, name, std::move(changed));
}

absl::StatusOr<std::vector<Tensor>> RunWithOnes(const Graph& graph, const std::string& path) {
  const absl::StatusOr<std::string> text = GraphDefText(graph, {});
  if (!text.ok()) return text.status();
  std::ofstream(path) << *text;
  LoadOptions options;
  for (const GraphOutput& output : graph.outputs()) {
    options.fetches.push_back(
        absl::StrCat(graph.node(output.source.node).name, ":", output.source.port));
  }
  absl::StatusOr<Model> model = LoadModel(path, options);
  if (!model.ok()) return model.status();
  const auto session = Session::Create(std::move(model->graph), DefaultOptions(/*threads=*/1));
  if (!session.ok()) return session.status();
  std::vector<Tensor> feeds;
  for (const TensorInfo& info : (*session)->inputs()) {
    Shape shape = info.shape.has_rank() ? info.shape : Shape({2, 2});
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) < 0) shape.set_dim(d, 2);
    }
    auto feed = Tensor::Allocate(info.dtype, shape);
    if (!feed.ok()) return feed.status();
    VisitTypes(AllTypes{}, info.dtype, [&]<typename T>() {
      if constexpr (!std::is_same_v<T, std::string>) {
        for (T& v : feed->flat<T>()) v = static_cast<T>(1);
      }
    });
    feeds.push_back(*std::move(feed));
  }
  return (*session)->Run(feeds);
}

struct Target {
  const char* name;
  const char* path;  // below tests/: a model, or the cases of a rule
  int rounds;        // for each graph
};

// The cases in a file (tests/unit/graph_rewrite/data_test.cc) that a model may contain.
std::vector<Graph> CasesOf(const std::string& path) {
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<Graph> graphs;
  for (absl::string_view one : absl::StrSplit(text, "\n=== ")) {
    const std::vector<std::string> parts = absl::StrSplit(one, absl::MaxSplits("\n---\n", 1));
    if (parts.size() < 2) continue;
    absl::StatusOr<Graph> graph = ParseGraph(parts[1]);
    if (!graph.ok() || !tenon::testing::CompleteGraph(*graph).ok()) continue;
    if (GraphDefText(*graph, {}).ok()) graphs.push_back(*std::move(graph));
  }
  return graphs;
}

std::vector<Graph> GraphsOf(const Target& target) {
  const std::string path = SourcePath(absl::StrCat("tests/", target.path));
  if (absl::EndsWith(path, ".graph")) return CasesOf(path);
  auto model = LoadModel(path, {});
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return {};
  return {std::move(model->graph)};
}

class AbsurdGraph : public ::testing::TestWithParam<Target> {};

TEST_P(AbsurdGraph, RunsOrGivesAnError) {
  const MemoryLimit limit;
  const char* more = std::getenv("TENON_FUZZ_ROUNDS");
  const int rounds = more == nullptr ? GetParam().rounds : std::atoi(more);
  const std::string path =
      absl::StrCat(::testing::TempDir(), "tenon_absurd_", getpid(), "_", GetParam().name, ".pbtxt");
  int ran = 0;
  uint32_t seed = kSeed;
  for (const Graph& whole : GraphsOf(GetParam())) {
    ran += RunWithOnes(whole, path).ok();
    for (int round = 0; round < rounds; ++round) {
      SCOPED_TRACE(::testing::Message() << "seed " << ++seed << "\n" << PrintGraph(whole));
      Mutator mutate(seed);
      Graph graph = whole;
      for (size_t i = 0; i <= mutate.Below(3); ++i) ChangeOne(graph, mutate);
      const auto results = RunWithOnes(graph, path);
      EXPECT_FALSE(absl::IsInternal(results.status())) << results.status();
    }
  }
  EXPECT_GT(ran, 0);
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, AbsurdGraph,
    ::testing::Values(Target{"frozen_mlp", "models/loader/frozen_mlp/graph.pb", 40},
                      Target{"convolution",
                             "models/defects/b11_convolution_of_empty_batch/model.pb", 40},
                      Target{"softmax", "models/defects/b12_softmax_of_rank_six/model.pb", 40},
                      Target{"batch_norm_relu", "rewrite/batch_norm_relu.graph", 10},
                      Target{"clean", "rewrite/clean.graph", 5},
                      Target{"constants", "rewrite/constants.graph", 5},
                      Target{"contraction", "rewrite/contraction.graph", 5},
                      Target{"elementwise", "rewrite/elementwise.graph", 5},
                      Target{"fake_quant", "rewrite/fake_quant.graph", 10},
                      Target{"fold_affine", "rewrite/fold_affine.graph", 5},
                      Target{"gelu", "rewrite/gelu.graph", 10},
                      Target{"layer_norm", "rewrite/layer_norm.graph", 5},
                      Target{"max_pool_workspace", "rewrite/max_pool_workspace.graph", 10},
                      Target{"pad", "rewrite/pad.graph", 10},
                      Target{"quantized_elementwise", "rewrite/quantized_elementwise.graph", 10},
                      Target{"quantized_moves", "rewrite/quantized_moves.graph", 10},
                      Target{"quantized_regions", "rewrite/quantized_regions.graph", 10},
                      Target{"quantized_sums", "rewrite/quantized_sums.graph", 10},
                      Target{"shapes", "rewrite/shapes.graph", 10},
                      Target{"swish", "rewrite/swish.graph", 10},
                      Target{"tile", "rewrite/tile.graph", 10}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon

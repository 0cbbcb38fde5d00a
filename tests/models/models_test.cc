// Compares every model under tests/models with the outputs that TensorFlow gave: gate on and off,
// session cache on and off, one thread and two.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "graph/npz/npz.h"
#include "graph/rewriter.h"
#include "kernels/interface/types.h"
#include "ops/op.h"
#include "primitive_cache/isa.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

struct ModelCase {
  std::string name;       // of the test
  std::string model;      // path
  std::string signature;  // empty: the default
  std::string inputs;     // .npz
  std::string outputs;    // .npz
};

void PrintTo(const ModelCase& c, std::ostream* out) { *out << c.model << " " << c.inputs; }

const char* const kModelFiles[] = {"saved_model", "model.pb", "graph.pb", "graph.pbtxt"};

std::string TestName(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return text;
}

std::vector<ModelCase> AllCases() {
  const fs::path root = SourcePath("tests/models");
  std::vector<ModelCase> cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const std::string file = entry.path().filename().string();
    if (!absl::StartsWith(file, "inputs") || !absl::EndsWith(file, ".npz")) continue;
    const fs::path folder = entry.path().parent_path();
    absl::string_view suffix = file;
    absl::ConsumePrefix(&suffix, "inputs");
    absl::ConsumeSuffix(&suffix, ".npz");
    for (const char* model : kModelFiles) {
      if (!fs::exists(folder / model)) continue;
      ModelCase c;
      c.model = (folder / model).string();
      c.inputs = entry.path().string();
      c.outputs = (folder / absl::StrCat("outputs", suffix, ".npz")).string();
      if (absl::StrContains(folder.filename().string(), "signatures")) {
        c.signature = std::string(absl::StripPrefix(suffix, "_"));
      }
      c.name = TestName(absl::StrCat(fs::relative(folder, root).string(), "_",
                                     entry.path().stem().string(), "_",
                                     fs::path(model).extension().string()));
      cases.push_back(std::move(c));
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const ModelCase& a, const ModelCase& b) { return a.name < b.name; });
  return cases;
}

bool IsFloatContraction(const Node& node) {
  static const std::set<std::string>* const ops =
      new std::set<std::string>{"Conv2D", "DepthwiseConv2dNative", "MatMul", "BatchMatMulV2",
                                "Einsum", "Conv2DBackpropInput"};
  const DType* dtype = node.attr<DType>("T");
  if (dtype != nullptr && IsInteger(*dtype)) return false;  // exact
  // TensorFlow's own fused ops count like the plain ones.
  return ops->contains(std::string(absl::StripPrefix(node.op, "_Fused")));
}

int FloatContractions(const Graph& graph) {
  int count = 0;
  for (NodeId id : graph.NodeIds()) count += IsFloatContraction(graph.node(id)) ? 1 : 0;
  for (const auto& [name, body] : graph.functions()) count += FloatContractions(*body);
  return count;
}

// The number of contractions that rounding errors pass through, at most; at least 1.
int Contractions(const Graph& graph) { return std::max(FloatContractions(graph), 1); }

// The largest difference over the largest expected value; infinite if NaNs or infinities differ.
double RelativeDifference(const Tensor& got, const Tensor& expected) {
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double e = expected.data<float>()[i], g = got.data<float>()[i];
    if (std::isnan(e) || std::isinf(e)) {
      if (!(std::isnan(e) ? std::isnan(g) : e == g)) return INFINITY;
      continue;
    }
    if (!std::isfinite(g)) return INFINITY;
    worst = std::max(worst, std::abs(e - g));
    scale = std::max(scale, std::abs(e));
  }
  return scale == 0 ? worst : worst / scale;
}

void ExpectOutputs(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& expected,
                   double tolerance) {
  for (const auto& [name, tensor] : expected) {
    const auto it = std::find_if(got.begin(), got.end(), [&name = name](const NamedTensor& t) {
      return t.first == name || t.first == name + ":0";
    });
    ASSERT_NE(it, got.end()) << "no output " << name;
    ASSERT_EQ(it->second.dtype(), tensor.dtype()) << name;
    ASSERT_EQ(it->second.shape().ToString(), tensor.shape().ToString()) << name;
    if (tensor.dtype() == DType::kFloat) {
      EXPECT_LE(RelativeDifference(it->second, tensor), tolerance) << name;
    } else {
      EXPECT_TRUE(Identical(it->second, tensor)) << name;
    }
  }
}

class ModelTest : public ::testing::TestWithParam<ModelCase> {};

TEST_P(ModelTest, AgreesWithTensorFlow) {
  const ModelCase& c = GetParam();
  const auto inputs = ReadNpz(c.inputs);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  const auto expected = ReadNpz(c.outputs);
  ASSERT_TRUE(expected.ok()) << expected.status();

  LoadOptions load;
  load.signature = c.signature;
  const auto model = LoadModel(c.model, load);
  ASSERT_TRUE(model.ok()) << model.status();
  // 1e-5 of the scale is the limit at ResNet-50's depth; independent rounding errors of the layers
  // grow with the root of their number.
  const double tolerance = 1e-5 * std::sqrt(Contractions(model->graph) / 50.0) + 1e-6;

  for (const Setting& setting : AllSettings()) {
    SCOPED_TRACE(setting.label);
    auto session = Session::Create(model->graph, setting.options);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE((*session)->report().status.ok()) << (*session)->report().status;
    const auto first = (*session)->Run(*inputs);
    ASSERT_TRUE(first.ok()) << first.status();
    ExpectOutputs(*first, *expected, tolerance);
    // The same bits again.
    const auto second = (*session)->Run(*inputs);
    ASSERT_TRUE(second.ok()) << second.status();
    for (size_t i = 0; i < first->size(); ++i) {
      EXPECT_TRUE(Identical((*first)[i].second, (*second)[i].second)) << (*first)[i].first;
    }
  }
}

// The second start reads what the first one wrote, and gives the same bits for both inputs.
TEST_P(ModelTest, SecondStartGivesTheSameBits) {
  const ModelCase& c = GetParam();
  const auto inputs = ReadNpz(c.inputs);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  const fs::path folder =
      fs::path(::testing::TempDir()) / absl::StrCat("cache_", getpid(), "_", c.name);
  fs::remove_all(folder);
  LoadOptions load;
  load.signature = c.signature;
  SessionOptions options = DefaultOptions(2);
  options.cache_dir = folder.string();
  std::vector<std::vector<NamedTensor>> results;
  using State = DiskCacheReport::State;
  for (State wanted : {State::kWritten, State::kRead}) {
    const auto session = Session::Load(c.model, load, options);
    ASSERT_TRUE(session.ok()) << session.status();
    const auto outputs = (*session)->Run(*inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    const DiskCacheReport report = (*session)->disk_cache();
    if (absl::IsUnimplemented(report.status)) GTEST_SKIP() << report.status;  // objects
    EXPECT_EQ(report.state, wanted) << report.status;
    results.push_back(*outputs);
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_EQ(results[0][i].first, results[1][i].first);
    EXPECT_TRUE(Identical(results[0][i].second, results[1][i].second)) << results[0][i].first;
  }
  fs::remove_all(folder);
}

std::unique_ptr<Session> SessionFor(const Graph& graph, Precision precision) {
  SessionOptions options = DefaultOptions(2);
  options.precision = precision;
  auto session = Session::Create(graph, options);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

Tensor RoundedToBfloat16(const Tensor& t) {
  if (t.dtype() != DType::kFloat) return t;
  std::vector<float> values(t.data<float>(), t.data<float>() + t.num_elements());
  for (float& v : values) v = static_cast<float>(static_cast<bfloat16>(v));
  return Tensor::From<float>(t.shape(), values);
}

// Whether the node may become part of a region that computes in bfloat16.
bool MayComputeInBfloat16(const Node& node) {
  const PrecisionRole role = FactsOf(node.op).precision;
  const DType* dtype = node.attr<DType>("T");
  return (role == PrecisionRole::kLeads || role == PrecisionRole::kFollows) && dtype != nullptr &&
         *dtype == DType::kFloat;
}

// Rounds what a node gives to bfloat16 and back to float.
void RoundResult(Rewriter& rewriter, NodeId id) {
  const std::string name = rewriter.node(id).name;
  Node down;
  down.name = name + "/down";
  down.op = "Cast";
  down.inputs = {{id, 0}};
  down.attrs["SrcT"] = DType::kFloat;
  down.attrs["DstT"] = DType::kBfloat16;
  const NodeId rounded = rewriter.AddNode(std::move(down));
  Node up;
  up.name = name + "/up";
  up.op = "Cast";
  up.inputs = {{rounded, 0}};
  up.attrs["SrcT"] = DType::kBfloat16;
  up.attrs["DstT"] = DType::kFloat;
  const NodeId result = rewriter.AddNode(std::move(up));
  rewriter.ReplaceAllUses({id, 0}, {result, 0});
  rewriter.SetInputs(rounded, {{id, 0}});
}

// The relative change of the float outputs if inputs and weights are rounded to bfloat16, and on
// request the results of the ops that may compute in bfloat16, while all computes in float.
double EffectOfRounding(Graph graph, std::vector<NamedTensor> inputs,
                        const std::vector<NamedTensor>& expected, bool results) {
  Rewriter rewriter(graph);
  for (NodeId id : graph.NodeIds()) {
    if (results && MayComputeInBfloat16(graph.node(id))) RoundResult(rewriter, id);
  }
  for (NodeId id : graph.NodeIds()) {
    if (graph.node(id).op != "Const") continue;
    rewriter.SetAttr(id, "value", RoundedToBfloat16(*graph.node(id).attr<Tensor>("value")));
  }
  for (auto& [name, tensor] : inputs) tensor = RoundedToBfloat16(tensor);
  const auto session = SessionFor(graph, Precision::kFloat);
  const auto got = session->Run(inputs);
  if (!got.ok()) return INFINITY;
  double worst = 0;
  for (const auto& [expected_name, value] : expected) {
    for (const auto& [name, tensor] : *got) {
      if (name != expected_name || value.dtype() != DType::kFloat) continue;
      worst = std::max(worst, RelativeDifference(tensor, value));
    }
  }
  return worst;
}

// In bfloat16, each layer's operands and result are rounded to 8 bits: three errors of up to 2^-9.
// Independent errors grow with the root of the depth. Outputs keep their dtype.
TEST_P(ModelTest, AgreesInBfloat16) {
  const ModelCase& c = GetParam();
  const auto inputs = ReadNpz(c.inputs);
  const auto expected = ReadNpz(c.outputs);
  ASSERT_TRUE(inputs.ok() && expected.ok());
  LoadOptions load;
  load.signature = c.signature;
  const auto model = LoadModel(c.model, load);
  ASSERT_TRUE(model.ok()) << model.status();
  const int contractions = Contractions(model->graph);
  const auto session = SessionFor(model->graph, Precision::kBfloat16);
  ASSERT_NE(session, nullptr);
  const SessionReport& report = session->report();
  ASSERT_TRUE(report.status.ok()) << report.status;
  const auto got = session->Run(*inputs);
  ASSERT_TRUE(got.ok()) << got.status();
  if (!HasBfloat16Instructions()) {
    EXPECT_FALSE(report.note.empty());
    EXPECT_EQ(report.rewrite.Fired("ConvertToBfloat16"), 0);
    return;
  }
  EXPECT_EQ(report.note, "");
  if (contractions > 2) {
    EXPECT_GT(report.rewrite.Fired("ConvertToBfloat16"), 0);
  }
  if (absl::StrContains(c.model, "/defects/")) return;  // consists of infinities and the like
  const double rounding = EffectOfRounding(model->graph, *inputs, *expected, /*results=*/false);
  if (rounding > std::ldexp(1, -6)) {
    GTEST_SKIP() << "ill-conditioned: rounding inputs and weights alone changes the outputs by "
                    "more than 1/64";
  }
  // The rounding of inputs, weights and results, which is unavoidable, and the order of the sums,
  // which may round a result the other way.
  const double least =
      EffectOfRounding(model->graph, *inputs, *expected, /*results=*/true) + std::ldexp(1, -8);
  ExpectOutputs(*got, *expected, std::max(least, std::ldexp(3 * std::sqrt(contractions), -9)));
}

INSTANTIATE_TEST_SUITE_P(Models, ModelTest, ::testing::ValuesIn(AllCases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon

// Runs the calls and models that TensorFlow's security advisories describe (README.md beside):
// each gives an error, or TensorFlow's result. Single ops are the golden cases of the topic `cve`,
// which numerics_test runs by kernel and in eager calls; here they are models of one node.
//
//   security_test --gtest_filter='*29512*'
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/text.h"
#include "ops/op.h"
#include "proto/export/export.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/support/golden_case.h"
#include "tests/support/limits.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"
#include "tests/support/tolerance.h"

namespace tenon {
namespace {

constexpr const char* kTopic = "cve";
constexpr bool kGates[] = {true, false};

std::string Folder() { return SourcePath("tests/security/"); }

SessionOptions OptionsFor(bool gate) {
  SessionOptions options = DefaultOptions(/*threads=*/2);
  options.flags->onednn_opts = gate;
  return options;
}

// An error that a caller can act upon: Internal would be a defect of ours.
void ExpectRefused(const absl::Status& status) {
  EXPECT_FALSE(status.ok()) << "TensorFlow refuses this";
  EXPECT_FALSE(absl::IsInternal(status)) << status;
}

// ---- Calls of one op ----------------------------------------------------------------------------

class CveCall : public ::testing::Test {
 public:
  explicit CveCall(GoldenCase golden) : case_(std::move(golden)) {}

  void TestBody() override {
    SCOPED_TRACE(case_.line);
    const OpLookup op = FindOp(case_.op);
    ASSERT_TRUE(op) << case_.op << " is not implemented";
    auto inputs = GoldenInputs(kTopic, case_);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    inputs_ = *std::move(inputs);
    const absl::StatusOr<Node> node = MakeNode(case_);
    if (!node.ok()) {
      ASSERT_TRUE(case_.fails) << node.status();
      return;
    }
    node_ = *node;
    const MemoryLimit limit;
    for (const bool gate : kGates) {
      for (const bool constants : {false, true}) {
        // A constant empty list of numbers, folded, would not reach the kernel; a fed one does.
        SCOPED_TRACE(absl::StrCat("gate ", gate ? "on" : "off", ", inputs ",
                                  constants ? "constant" : "fed"));
        Check(RunAsModel(*op.info, gate, constants));
      }
    }
  }

 private:
  absl::StatusOr<std::vector<Tensor>> RunAsModel(const OpInfo& op, bool gate, bool constants) {
    Graph graph;
    Node call = node_;
    std::vector<Tensor> feeds;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Node input;
      input.name = absl::StrCat("in", i);
      input.attrs["dtype"] = inputs_[i].dtype();
      const bool constant = constants || case_.inputs[i].constant;
      input.op = constant ? "Const" : "Placeholder";
      if (constant) {
        input.attrs["value"] = inputs_[i];
      } else {
        input.attrs["shape"] = inputs_[i].shape();
        feeds.push_back(inputs_[i]);
      }
      TENON_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(input)));
      if (!constant) graph.AddInput({absl::StrCat("in", i), id});
      call.inputs.push_back({id, 0});
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> outputs, OutputDTypes(op, call));
    call.name = "case";
    TENON_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(call)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      // A list or a ragged tensor cannot leave a model.
      if (outputs[i] == DType::kVariant || outputs[i] == DType::kResource) {
        graph.AddTarget(id);
        continue;
      }
      graph.AddOutput({absl::StrCat("out", i), {id, static_cast<int>(i)}});
    }
    if (outputs.empty()) graph.AddTarget(id);
    TENON_ASSIGN_OR_RETURN(const auto session, Session::Create(std::move(graph), OptionsFor(gate)));
    return session->Run(feeds);
  }

  void Check(const absl::StatusOr<std::vector<Tensor>>& outputs) {
    if (case_.safe && outputs.ok()) return;
    if (case_.fails) {
      ExpectRefused(outputs.status());
      return;
    }
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (size_t i = 0; i < case_.outputs.size(); ++i) {
      const auto golden =
          GoldenArray(kTopic, absl::StrCat(case_.name, "/out", i), case_.outputs[i]);
      ASSERT_TRUE(golden.ok()) << golden.status();
      EXPECT_EQ(Difference((*outputs)[i], *golden, ToleranceFor(node_, inputs_, *golden)), "");
    }
  }

  const GoldenCase case_;
  Node node_;
  std::vector<Tensor> inputs_;
};

// ---- Models -------------------------------------------------------------------------------------

struct ModelCase {
  std::string name;  // "CVE-2021-37644 negative count"
  bool fails = true;
  bool safe = false;  // fails, or gives a result
  std::string text;
  bool graphdef = false;  // protobuf's text format, else that of graph/text.h
};

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<ModelCase> ReadModelCases() {
  std::vector<ModelCase> cases;
  for (const bool graphdef : {false, true}) {
    const std::string text = ReadText(Folder() + (graphdef ? "graphdefs.txt" : "graphs.txt"));
    const std::vector<std::string> parts = absl::StrSplit(text, "\n=== ");
    for (size_t i = 1; i < parts.size(); ++i) {
      const std::pair<std::string, std::string> whole =
          absl::StrSplit(parts[i], absl::MaxSplits('\n', 1));
      absl::string_view head = whole.first;
      ModelCase c;
      c.safe = absl::ConsumeSuffix(&head, ": safe");
      c.fails = c.safe || absl::ConsumeSuffix(&head, ": error");
      if (!c.fails && !absl::ConsumeSuffix(&head, ": result")) head = "bad heading";
      c.name = std::string(head);
      c.text = whole.second;
      c.graphdef = graphdef;
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

absl::Status LoadAndRun(const std::string& path, const LoadOptions& load, bool gate) {
  TENON_ASSIGN_OR_RETURN(const auto session, Session::Load(path, load, OptionsFor(gate)));
  std::vector<NamedTensor> feeds;
  for (const TensorInfo& input : session->inputs()) {
    if (input.name == "x") feeds.emplace_back("x", Tensor::From<float>(Shape(), {1.0f}));
  }
  return session->Run(absl::MakeConstSpan(feeds)).status();
}

class CveModel : public ::testing::Test {
 public:
  explicit CveModel(ModelCase c) : case_(std::move(c)) {}

  void TestBody() override {
    const std::string path =
        absl::StrCat(::testing::TempDir(), "tenon_security_", getpid(), ".pbtxt");
    LoadOptions load;
    load.fetches = {"y"};
    std::string text = case_.text;
    if (!case_.graphdef) {
      const absl::StatusOr<Graph> graph = ParseGraph(text);
      ASSERT_TRUE(graph.ok()) << graph.status();
      const absl::StatusOr<std::string> exported = GraphDefText(*graph, {});
      ASSERT_TRUE(exported.ok()) << exported.status();
      text = *exported;
      const Endpoint y = graph->outputs()[0].source;
      load.fetches = {absl::StrCat(graph->node(y.node).name, ":", y.port)};
    }
    std::ofstream(path) << text;
    for (const bool gate : kGates) {
      const MemoryLimit limit;
      const absl::Status status = LoadAndRun(path, load, gate);
      if (case_.safe && status.ok()) continue;
      if (case_.fails) {
        ExpectRefused(status);
      } else {
        EXPECT_TRUE(status.ok()) << status;
      }
    }
    std::filesystem::remove(path);
  }

 private:
  const ModelCase case_;
};

// ---- What no file can hold ----------------------------------------------------------------------

// CVE-2021-29615: a reader that recurses by each level of the text overflows the stack.
TEST(CveText, DeepNesting) {
  const std::string path =
      absl::StrCat(::testing::TempDir(), "tenon_security_nested_", getpid(), ".pbtxt");
  for (const bool closed : {true, false}) {
    constexpr int kLevels = 200'000;
    {
      std::ofstream out(path);
      out << "node { name: \"y\" op: \"Const\" ";
      for (int i = 0; i < kLevels; ++i) {
        out << "attr { key: \"a\" value { func { name: \"f\" ";
      }
      for (int i = 0; closed && i < kLevels; ++i) out << "} } } ";
      if (closed) out << "}";
    }
    LoadOptions load;
    load.fetches = {"y"};
    ExpectRefused(LoadAndRun(path, load, /*gate=*/true));
  }
  std::filesystem::remove(path);
}

// ---- The list -----------------------------------------------------------------------------------

// "CVE-2021-29512" of the golden case cve_2021_29512_index.
std::string AdvisoryOf(absl::string_view case_name) {
  const std::vector<std::string> parts = absl::StrSplit(case_name, '_');
  return parts.size() < 3 ? "" : absl::StrCat("CVE-", parts[1], "-", parts[2]);
}

TEST(CveList, EveryAdvisoryThatConcernsUsHasACase) {
  std::set<std::string> with_case;
  const auto calls = GoldenCasesOf(kTopic);
  ASSERT_TRUE(calls.ok()) << calls.status();
  for (const GoldenCase& c : *calls) with_case.insert(AdvisoryOf(c.name));
  for (const ModelCase& c : ReadModelCases()) with_case.insert(c.name.substr(0, c.name.find(' ')));
  std::set<std::string> listed;
  std::ifstream list(Folder() + "advisories.txt");
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> columns = absl::StrSplit(line, " | ");
    ASSERT_EQ(columns.size(), 4u) << line;
    const std::string cve = columns[0].substr(0, columns[0].find(' '));
    EXPECT_TRUE(listed.insert(cve).second) << cve << " twice";
    if (columns[3] == "tested") {
      EXPECT_TRUE(with_case.count(cve)) << cve << " has no case";
    }
    if (columns[3] == "no such op") {
      for (absl::string_view op : absl::StrSplit(columns[2], ", ")) {
        EXPECT_FALSE(FindOp(std::string(op))) << cve << ": there is an op " << op;
      }
    }
  }
  EXPECT_GT(listed.size(), 400u);
  for (const std::string& cve : with_case)
    EXPECT_TRUE(listed.count(cve)) << cve << " is not listed";
}

bool RegisterCases() {
  if (auto calls = GoldenCasesOf(kTopic); calls.ok()) {
    for (const GoldenCase& c : *calls) {
      ::testing::RegisterTest("CveCall", c.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [c]() -> ::testing::Test* { return new CveCall(c); });
    }
  }
  for (const ModelCase& c : ReadModelCases()) {
    ::testing::RegisterTest("CveModel", c.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [c]() -> ::testing::Test* { return new CveModel(c); });
  }
  return true;
}

const bool registered = RegisterCases();

}  // namespace
}  // namespace tenon

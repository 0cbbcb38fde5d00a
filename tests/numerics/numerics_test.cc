// Runs every golden case on the reference kernel and, if the op has one, the accelerated kernel,
// with 1 and 2 threads, through the eager path with the gate on and off, and as a graph in a
// session, some or all of whose inputs are constants, and compares with TensorFlow's values. One
// test per case:
//
//   numerics_test --gtest_filter='reduce.mean_*'
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "env/flags.h"
#include "env/flush_denormals.h"
#include "ops/evaluate.h"
#include "ops/owned_outputs.h"
#include "runtime/eager/eager.h"
#include "runtime/session/session.h"
#include "tests/support/golden_case.h"
#include "tests/support/golden_graph.h"
#include "tests/support/prepared_case.h"
#include "tests/support/settings.h"
#include "tests/support/tolerance.h"

namespace tenon {
namespace {

enum class InPlace { kNever, kWhereAllowed };

// Runs it as a plan does: unread inputs are null, and outputs may overlap inputs if the kernel
// allows it.
absl::StatusOr<std::vector<Tensor>> RunPrepared(const PreparedKernel& prepared,
                                                const std::vector<Tensor>& inputs,
                                                InPlace in_place) {
  OwnedOutputs outputs(prepared.outputs);
  std::vector<const void*> in;
  for (const Tensor& t : inputs) in.push_back(t.raw());
  for (int i : prepared.unread) in[static_cast<size_t>(i)] = nullptr;
  std::vector<void*> out(prepared.outputs.size(), nullptr);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!prepared.outputs[i].shape.IsComplete()) continue;
    TENON_ASSIGN_OR_RETURN(out[i],
                           outputs.Allocate(static_cast<int>(i), prepared.outputs[i].shape));
  }
  if (in_place == InPlace::kWhereAllowed) {
    std::vector<bool> taken(out.size(), false);
    for (const auto& [input, output] : prepared.in_place) {
      const size_t i = static_cast<size_t>(input), o = static_cast<size_t>(output);
      if (taken[o] || out[o] == nullptr || in[i] == nullptr) continue;
      if (inputs[i].bytes() != outputs.tensors[o].bytes()) {
        return Internal("in place, but the sizes differ");
      }
      if (inputs[i].dtype() == DType::kString) continue;
      std::memcpy(out[o], inputs[i].raw(), inputs[i].bytes());
      in[i] = out[o];
      taken[o] = true;
    }
  }
  TENON_ASSIGN_OR_RETURN(
      Tensor scratch,
      Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(prepared.scratch_bytes)})));
  RunContext run(in.data(), out.data(), scratch.raw(), &outputs);
  TENON_RETURN_IF_ERROR(prepared.kernel->Run(run));
  return std::move(outputs.tensors);
}

class NumericsTest : public ::testing::Test {
 public:
  NumericsTest(std::string topic, GoldenCase golden)
      : topic_(std::move(topic)), case_(std::move(golden)) {}

  void TestBody() override {
    SCOPED_TRACE(case_.line);
    const OpLookup op = FindOp(case_.op);
    ASSERT_TRUE(op) << case_.op << " is not implemented";
    auto inputs = GoldenInputs(topic_, case_);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    inputs_ = *std::move(inputs);
    for (size_t i = 0; i < case_.outputs.size(); ++i) {
      auto t = GoldenArray(topic_, absl::StrCat(case_.name, "/out", i), case_.outputs[i]);
      ASSERT_TRUE(t.ok()) << t.status();
      goldens_.push_back(*std::move(t));
    }
    const absl::StatusOr<Node> node = MakeNode(case_);
    if (!node.ok() && case_.fails) {
      EXPECT_TRUE(absl::IsInvalidArgument(node.status())) << node.status();
      return;
    }
    ASSERT_TRUE(node.ok()) << node.status();
    plain_ = *node;
    for (int threads : {1, 2}) {
      for (InPlace in_place : {InPlace::kNever, InPlace::kWhereAllowed}) {
        Check(*node, threads, in_place);
        if (op.info->row.native == nullptr) continue;
        Node native = *node;
        native.op = op.info->row.native;
        Check(native, threads, in_place);
        if (HasFailure()) return;
      }
    }
    if (op.info->row.internal) return;  // not for users
    for (const bool gate : {true, false}) {
      // The second call uses what the first one cached.
      for (const char* call : {"first", "second"}) {
        // A stateful random op would continue its sequence, for which there is no golden value.
        if (op.info->row.stateful && call == std::string("second")) break;
        SCOPED_TRACE(absl::StrCat("eager, gate ", gate ? "on, " : "off, ", call, " call"));
        Compare(EagerContext(gate).Execute(case_.op, inputs_, node->attrs));
      }
    }
    if (!HasFailure()) CheckGraphs(*node);
  }

 private:
  void Check(const Node& node, int threads, InPlace in_place) {
    SCOPED_TRACE(absl::StrCat(node.op, ", ", threads, " threads",
                              in_place == InPlace::kNever ? "" : ", in place"));
    Compare(Run(node, threads, in_place));
  }

  // The rewriter sees other facts in each: which values it knows, and which shapes.
  void CheckGraphs(const Node& node) {
    using Kind = GraphInputKind;
    std::vector<Kind> stated, constant, integers, unknown;
    for (const GoldenCase::Input& input : case_.inputs) {
      stated.push_back(input.constant ? Kind::kConstant : Kind::kFed);
      constant.push_back(Kind::kConstant);
      integers.push_back(IsInteger(input.dtype) ? Kind::kConstant : Kind::kFed);
      unknown.push_back(input.constant ? Kind::kConstant : Kind::kFedUnknownShape);
    }
    std::vector<std::vector<Kind>> checked;
    for (const std::vector<Kind>& kinds : {stated, constant, integers, unknown}) {
      if (std::find(checked.begin(), checked.end(), kinds) != checked.end()) continue;
      checked.push_back(kinds);
      std::string text;
      for (const Kind kind : kinds) {
        absl::StrAppend(&text, kind == Kind::kConstant ? " constant"
                               : kind == Kind::kFed    ? " fed"
                                                       : " fed, shape unknown;");
      }
      SCOPED_TRACE(absl::StrCat("graph with inputs", text));
      const auto outputs = RunGraph(node, kinds);
      // TensorFlow may have refused the shapes when it built the graph, and only then.
      const bool shapes_known =
          std::find(kinds.begin(), kinds.end(), Kind::kFedUnknownShape) == kinds.end();
      if (case_.fails && outputs.ok() && !shapes_known) continue;
      Compare(outputs);
      if (goldens_.empty()) continue;
      SCOPED_TRACE("in a branch");
      Compare(RunGraph(node, kinds, /*in_branch=*/true));
    }
  }

  absl::StatusOr<std::vector<Tensor>> RunGraph(const Node& node,
                                               const std::vector<GraphInputKind>& kinds,
                                               bool in_branch = false) {
    const size_t outputs = std::max<size_t>(goldens_.size(), case_.fails || case_.safe ? 1 : 0);
    TENON_ASSIGN_OR_RETURN(Graph graph, GoldenGraph(node, inputs_, kinds, outputs));
    std::vector<Tensor> fed;
    if (in_branch) {
      std::vector<DType> dtypes;
      for (const Tensor& golden : goldens_) dtypes.push_back(golden.dtype());
      TENON_ASSIGN_OR_RETURN(graph, InBranch(std::move(graph), dtypes));
      fed.push_back(Tensor::Scalar<bool>(true));
    }
    TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           Session::Create(std::move(graph), DefaultOptions(/*threads=*/2)));
    EXPECT_TRUE(session->report().status.ok()) << session->report().status;
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] != GraphInputKind::kConstant) fed.push_back(inputs_[i]);
    }
    return session->Run(fed);
  }

  static Eager& EagerContext(bool gate) {
    static const auto make = [](bool onednn_opts) {
      SessionOptions options = DefaultOptions(/*threads=*/2);
      options.flags->onednn_opts = onednn_opts;
      return Eager::Create(options)->release();
    };
    static Eager* const on = make(true);
    static Eager* const off = make(false);
    return gate ? *on : *off;
  }

  void Compare(const absl::StatusOr<std::vector<Tensor>>& outputs) {
    if (case_.safe && outputs.ok()) return;
    if (case_.fails) {
      EXPECT_FALSE(outputs.ok()) << "TensorFlow refuses this";
      // A size may be valid and absurd.
      EXPECT_TRUE(absl::IsInvalidArgument(outputs.status()) ||
                  absl::IsResourceExhausted(outputs.status()))
          << outputs.status();
      return;
    }
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    ASSERT_GE(outputs->size(), goldens_.size());
    for (size_t i = 0; i < goldens_.size(); ++i) {
      const Tolerance tolerance = ToleranceFor(plain_, inputs_, goldens_[i]);
      const std::string difference = Difference((*outputs)[i], goldens_[i], tolerance);
      EXPECT_EQ(difference, "") << "output " << i << ", tolerance " << tolerance.relative
                                << " relative, " << tolerance.absolute << " absolute";
    }
  }

  absl::StatusOr<std::vector<Tensor>> Run(const Node& node, int threads, InPlace in_place) {
    const FlushDenormals flush;  // as in a session
    const Flags flags;
    Services services;
    services.flags = &flags;
    services.threads = threads;
    TENON_ASSIGN_OR_RETURN(const PreparedCase prepared,
                           PrepareCase(case_, node, inputs_, services));
    return RunPrepared(prepared.kernel, inputs_, in_place);
  }

  const std::string topic_;
  const GoldenCase case_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> goldens_;
  Node plain_;
};

class BadCaseFile : public ::testing::Test {
 public:
  explicit BadCaseFile(absl::Status status) : status_(std::move(status)) {}
  void TestBody() override { FAIL() << status_; }

 private:
  const absl::Status status_;
};

bool RegisterCases() {
  std::vector<std::string> topics = GoldenTopics();
  if (topics.empty()) topics.push_back("missing");
  for (const std::string& topic : topics) {
    absl::StatusOr<std::vector<GoldenCase>> cases = GoldenCasesOf(topic);
    if (!cases.ok()) {
      ::testing::RegisterTest(
          topic.c_str(), "file", nullptr, nullptr, __FILE__, __LINE__,
          [status = cases.status()]() -> ::testing::Test* { return new BadCaseFile(status); });
      continue;
    }
    for (const GoldenCase& c : *cases) {
      ::testing::RegisterTest(
          topic.c_str(), c.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [topic, c]() -> ::testing::Test* { return new NumericsTest(topic, c); });
    }
  }
  return true;
}

const bool registered = RegisterCases();

}  // namespace
}  // namespace tenon

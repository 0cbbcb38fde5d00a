// The memory that attention takes besides its inputs and its result: linear in the length, where
// the scores alone would be quadratic.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

constexpr int64_t kHeads = 4, kSize = 32, kWidth = kHeads * kSize;

// MASKED is the scaled scores, changed or not.
constexpr char kAttention[] = R"(
in q = %q
in k = %k
in v = %v
in mask = %mask
%q = Placeholder() {dtype=float, shape=<1,?,4,32>}
%k = Placeholder() {dtype=float, shape=<1,?,4,32>}
%v = Placeholder() {dtype=float, shape=<1,?,4,32>}
%mask = Placeholder() {dtype=float, shape=<1,1,1,?>}
%order = Const() {dtype=int32, value=int32<4>{0, 2, 1, 3}}
%scale = Const() {dtype=float, value=float<>{0.2}}
%qt = Transpose(%q, %order) {T=float, Tperm=int32}
%kt = Transpose(%k, %order) {T=float, Tperm=int32}
%vt = Transpose(%v, %order) {T=float, Tperm=int32}
%s = BatchMatMulV2(%qt, %kt) {T=float, adj_x=false, adj_y=true}
%m = Mul(%s, %scale) {T=float}
%hidden = AddV2(%m, %mask) {T=float}
%w = Softmax(MASKED) {T=float}
%o = BatchMatMulV2(%w, %vt) {T=float, adj_x=false, adj_y=false}
%y = Transpose(%o, %order) {T=float, Tperm=int32}
out y = %y
)";

std::vector<Tensor> InputsOf(int64_t length) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < 4; ++i) {
    Tensor t = *Tensor::Allocate(
        DType::kFloat, i < 3 ? Shape({1, length, kHeads, kSize}) : Shape({1, 1, 1, length}));
    for (int64_t j = 0; j < t.num_elements(); ++j) {
      t.data<float>()[j] = 0.01f * static_cast<float>((j * (i + 7)) % 101) - 0.5f;
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

// Of the process, in bytes: "VmRSS" now, "VmHWM" at most since ForgetPeak. 0: not known.
int64_t ResidentBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == field + ":" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}
bool ForgetPeak() {
  std::ofstream refs("/proc/self/clear_refs");
  return static_cast<bool>(refs << "5" << std::flush);
}

class AttentionMemory : public ::testing::TestWithParam<const char*> {};

TEST_P(AttentionMemory, IsLinearInTheLength) {
  auto graph = ParseGraph(absl::StrReplaceAll(kAttention, {{"MASKED", GetParam()}}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  SessionOptions options = DefaultOptions(2);
  options.memory_limit = int64_t{1} << 40;  // so that memory is counted
  auto session = Session::Create(*std::move(graph), options);
  ASSERT_TRUE(session.ok()) << session.status();

  std::vector<int64_t> arenas;
  for (const int64_t length : {1024, 2048, 4096}) {
    const std::vector<Tensor> inputs = InputsOf(length);
    const auto plan = (*session)->PlanFor(inputs);
    ASSERT_TRUE(plan.ok()) << plan.status();
    bool fused = false;
    for (const StepInfo& step : (*plan)->Describe())
      fused |= absl::StrContains(step.op, "Attention");
    ASSERT_TRUE(fused);
    arenas.push_back(static_cast<int64_t>((*plan)->stats().arena_bytes));
  }
  // Intermediate tensors and scratch memory: no more than q, k, v and the result.
  EXPECT_LE(arenas[1], 2 * arenas[0] + 4096);
  EXPECT_LE(arenas[2], 2 * arenas[1] + 4096);
  EXPECT_LE(arenas[2], 4 * 4096 * kWidth * static_cast<int64_t>(sizeof(float)));

  // And what kernels allocate by themselves.
  constexpr int64_t kScores = kHeads * 4096 * 4096 * static_cast<int64_t>(sizeof(float));
  const std::vector<Tensor> inputs = InputsOf(4096);
  const bool counts = ForgetPeak() && ResidentBytes("VmHWM") > 0;
  const int64_t before = ResidentBytes("VmRSS");
  ASSERT_TRUE((*session)->Run(inputs).ok());
  if (counts) {
    EXPECT_LE(ResidentBytes("VmHWM") - before, kScores / 8);
  }
  EXPECT_LE((*session)->memory_used()->peak, kScores / 8);
}

INSTANTIATE_TEST_SUITE_P(, AttentionMemory, ::testing::Values("%m", "%hidden"),
                         [](const auto& info) {
                           return std::string(info.index == 0 ? "Plain" : "Masked");
                         });

}  // namespace
}  // namespace tenon

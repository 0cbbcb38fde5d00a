// The cases of tests/rewrite/*.graph (data_cases.h). Each runs in three forms, node by node: as
// written, after the fuse phase, and renamed. The results must agree.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/text.h"
#include "graph_rewrite/pipeline.h"
#include "gtest/gtest.h"
#include "tests/support/interpreter.h"
#include "tests/unit/graph_rewrite/data_cases.h"

namespace tenon {
namespace {

std::string OpsOf(const Graph& g) {
  std::vector<std::string> parts;
  for (const auto& [op, count] : CountOps(g)) {
    if (op != "Const" && op != "Placeholder") parts.push_back(absl::StrCat(op, ":", count));
  }
  return absl::StrJoin(parts, " ");
}

std::string Sorted(absl::string_view ops) {
  std::vector<std::string> parts = absl::StrSplit(ops, ' ', absl::SkipEmpty());
  std::sort(parts.begin(), parts.end());
  return absl::StrJoin(parts, " ");
}

// Rewrites may change only rounding: 2e-5 of the output's scale covers reordered fp32 sums as long
// as those in these files (up to a few hundred terms).
void ExpectNear(const Tensor& want, const Tensor& got, float within, const std::string& what) {
  ASSERT_EQ(want.dtype(), got.dtype()) << what;
  ASSERT_EQ(want.shape().ToString(), got.shape().ToString()) << what;
  if (want.dtype() != DType::kFloat) {
    EXPECT_TRUE(Identical(want, got)) << what;
    return;
  }
  float scale = 0;
  for (float v : want.flat<float>())
    scale = std::isfinite(v) ? std::max(scale, std::abs(v)) : scale;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const float a = want.data<float>()[i], b = got.data<float>()[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    ASSERT_LE(std::abs(a - b), 2e-5f * scale + 1e-7f + within)
        << what << " element " << i << ": " << a << " became " << b;
  }
}

class RewriteData : public ::testing::TestWithParam<RewriteCase> {};

TEST_P(RewriteData, FiresAndKeepsTheNumbers) {
  const RewriteCase& c = GetParam();
  SCOPED_TRACE(absl::StrCat("tests/rewrite/", c.file, ".graph:", c.line, " ", c.title));
  auto parsed = ParseGraph(c.graph);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  Graph original = *std::move(parsed);
  absl::Status completed = testing::CompleteGraph(original);
  ASSERT_TRUE(completed.ok()) << completed;

  const Services services{.flags = &c.flags};
  Graph fused = original;
  auto report = Rewrite(fused, {.services = &services,
                                .dump = nullptr,
                                .last = c.last,
                                .record_steps = true,
                                .verify = true});
  ASSERT_TRUE(report.ok()) << report.status();
  const std::string after = PrintGraph(fused, {.max_elements = 8});
  for (const PhaseReport& p : report->phases) EXPECT_FALSE(p.hit_bound) << Name(p.phase);
  for (const std::string& rule : c.expect) {
    EXPECT_NE(FindRule(rule), nullptr) << rule;
    EXPECT_GT(report->Fired(rule), 0) << rule << " did not fire; the graph is now\n" << after;
  }
  for (const std::string& rule : c.expect_not) {
    EXPECT_NE(FindRule(rule), nullptr) << rule;
    EXPECT_EQ(report->Fired(rule), 0) << rule << " fired; the graph is now\n" << after;
  }
  if (c.check_ops) {
    EXPECT_EQ(OpsOf(fused), Sorted(c.ops)) << after;
  }

  // Functions run in sessions: tests/models compares their numbers.
  if (!original.functions().empty()) return;

  Graph renamed = original;
  ASSERT_TRUE(Rewrite(renamed, {.services = &services, .verify = true}).ok());

  std::map<std::string, Tensor> feeds = c.feeds;
  absl::Status fed = testing::FeedRandomly(original, 17, c.unknown, feeds);
  ASSERT_TRUE(fed.ok()) << fed;
  auto want = testing::Interpret(original, feeds, services);
  ASSERT_TRUE(want.ok()) << want.status();
  for (const auto& [graph, what] : {std::pair(&fused, "fused"), std::pair(&renamed, "renamed")}) {
    auto got = testing::Interpret(*graph, feeds, services);
    ASSERT_TRUE(got.ok()) << what << ": " << got.status() << "\n" << after;
    ASSERT_EQ(got->size(), want->size());
    for (size_t i = 0; i < want->size(); ++i) {
      ExpectNear((*want)[i], (*got)[i], c.within,
                 absl::StrCat(what, ", output ", original.outputs()[i].name, "\n", after));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, RewriteData, ::testing::ValuesIn(LoadRewriteCases()), RewriteCaseName);

}  // namespace
}  // namespace tenon

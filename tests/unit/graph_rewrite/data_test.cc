// The cases of tests/rewrite/*.graph. A case:
//
//   === title of the case
//   expect = FuseSwish          # must fire; one line per rule
//   expect-not = FuseHardSwish  # must not fire
//   ops = _Swish:1 Mul:2        # all nodes after the fuse phase, except Const and Placeholder
//   unknown = 3                 # value of unknown dimensions when it runs (default 2)
//   feed x = float<2>{nan, 1}   # instead of seeded numbers
//   flags = strict_nan
//   within = 0.02               # one scale of the integers, if ties may round differently
//   needs = int8                # a CPU that sums 8-bit products exactly; otherwise skipped
//   ---
//   the graph, as in graph/text.h; types and defaults are filled in
//
// Each case runs in three forms, node by node: as written, after the fuse phase, and renamed. The
// results must agree.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "env/flags.h"
#include "graph/text.h"
#include "graph_rewrite/pipeline.h"
#include "gtest/gtest.h"
#include "primitive_cache/convolution.h"
#include "tests/support/interpreter.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

struct Case {
  std::string title;
  std::string file;
  int line = 0;
  std::vector<std::string> expect, expect_not;
  std::string ops;
  bool check_ops = false;
  int64_t unknown = 2;
  std::map<std::string, Tensor> feeds;
  Flags flags;
  bool needs_int8 = false;
  float within = 0;
  std::string graph;
};

std::vector<Case> LoadCases() {
  std::vector<Case> cases;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/rewrite"))) {
    if (entry.path().extension() == ".graph") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    std::ifstream in(file);
    std::string line;
    bool in_graph = false;
    for (int number = 1; std::getline(in, line); ++number) {
      if (absl::StartsWith(line, "===")) {
        cases.emplace_back();
        cases.back().title =
            std::string(absl::StripAsciiWhitespace(absl::string_view(line).substr(3)));
        cases.back().file = std::filesystem::path(file).stem().string();
        cases.back().line = number;
        in_graph = false;
        continue;
      }
      if (cases.empty() || cases.back().file != std::filesystem::path(file).stem()) continue;
      Case& c = cases.back();
      if (in_graph) {
        c.graph += line + "\n";
        continue;
      }
      if (absl::StripAsciiWhitespace(line) == "---") {
        in_graph = true;
        continue;
      }
      const absl::string_view text =
          absl::StripAsciiWhitespace(absl::string_view(line).substr(0, line.find('#')));
      if (text.empty()) continue;
      const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
      const std::string key(absl::StripAsciiWhitespace(parts[0]));
      const std::string value(absl::StripAsciiWhitespace(parts.size() > 1 ? parts[1] : ""));
      if (key == "expect") {
        c.expect.push_back(value);
      } else if (key == "expect-not") {
        c.expect_not.push_back(value);
      } else if (key == "ops") {
        c.ops = value;
        c.check_ops = true;
      } else if (key == "unknown") {
        EXPECT_TRUE(absl::SimpleAtoi(value, &c.unknown));
      } else if (key == "flags") {
        EXPECT_EQ(value, "strict_nan") << c.title;
        c.flags.strict_nan = true;
      } else if (key == "needs") {
        EXPECT_EQ(value, "int8") << c.title;
        c.needs_int8 = true;
      } else if (key == "within") {
        EXPECT_TRUE(absl::SimpleAtof(value, &c.within)) << c.title;
      } else if (absl::StartsWith(key, "feed ")) {
        auto g = ParseGraph("%v = Const() {value=" + value + "}");
        EXPECT_TRUE(g.ok()) << c.title << g.status();
        if (g.ok()) c.feeds[key.substr(5)] = *g->node(0).attr<Tensor>("value");
      } else {
        ADD_FAILURE() << c.title << ": what is '" << line << "'?";
      }
    }
  }
  return cases;
}

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

class RewriteData : public ::testing::TestWithParam<Case> {};

TEST_P(RewriteData, FiresAndKeepsTheNumbers) {
  const Case& c = GetParam();
  if (c.needs_int8 && !HasExactInt8()) GTEST_SKIP() << "no exact 8-bit products here";
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
                                .last = Phase::kFuse,
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

INSTANTIATE_TEST_SUITE_P(, RewriteData, ::testing::ValuesIn(LoadCases()), [](const auto& info) {
  std::string name = info.param.file + "_";
  for (char c : info.param.title) name += absl::ascii_isalnum(c) ? c : '_';
  return absl::StrCat(name, "_", info.param.line);
});

}  // namespace
}  // namespace tenon

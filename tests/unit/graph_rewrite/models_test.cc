// The small versions of the seven models, rewritten: what is left is what the design promises.
#include "graph/text.h"
#include "graph_rewrite/pipeline.h"
#include "gtest/gtest.h"
#include "proto/model.h"

namespace tenon {
namespace {

struct Expected {
  const char* model;
  // Everything that still computes: all ops but Const and Placeholder.
  const char* ops;
};

class RewrittenModel : public ::testing::TestWithParam<Expected> {};

TEST_P(RewrittenModel, HasOnlyTheseOps) {
  const Expected& expected = GetParam();
  auto model =
      LoadModel(std::string(TENON_SOURCE_DIR) + "/tests/models/" + expected.model + "/saved_model",
                {.allow_missing_ops = true});
  ASSERT_TRUE(model.ok()) << model.status();
  const Flags flags;
  const Services services{.flags = &flags, .threads = 2};
  auto report = Rewrite(model->graph, {.services = &services, .verify = true});
  ASSERT_TRUE(report.ok()) << report.status();
  std::string ops;
  for (const auto& [op, count] : report->ops_after) {
    if (op != "Const" && op != "Placeholder") absl::StrAppend(&ops, op, ":", count, " ");
  }
  EXPECT_EQ(ops, expected.ops) << PrintGraph(model->graph, {.max_elements = 4});
  std::string fired;
  for (const PhaseReport& p : report->phases) {
    EXPECT_FALSE(p.hit_bound);
    absl::StrAppend(&fired, Name(p.phase), " ", p.ms, " ms, ", p.sweeps, " sweeps:");
    for (const auto& [rule, count] : p.fired) absl::StrAppend(&fired, " ", rule, ":", count);
    absl::StrAppend(&fired, "\n");
  }
  std::cout << fired;
}

INSTANTIATE_TEST_SUITE_P(, RewrittenModel,
                         ::testing::Values(Expected{"mobilenetv2",
                                                    "_MklNativeFusedConv2D:25 "
                                                    "_MklNativeFusedDepthwiseConv2dNative:12 "
                                                    "_MklNativeFusedMatMul:1 _MklNativeMean:1 "},
                                           Expected{"mlp", "_MklNativeFusedMatMul:4 "}),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace tenon

// Rewrites the small versions of the seven models, and checks which ops remain.
#include "env/flags.h"
#include "graph/text.h"
#include "graph_rewrite/pipeline.h"
#include "gtest/gtest.h"
#include "proto/import/model.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

struct Expected {
  const char* model;
  // All ops after the fuse phase, except Const and Placeholder.
  const char* ops;
};

class RewrittenModel : public ::testing::TestWithParam<Expected> {};

TEST_P(RewrittenModel, HasOnlyTheseOps) {
  const Expected& expected = GetParam();
  auto model =
      LoadModel(SourcePath(std::string("tests/models/") + expected.model + "/saved_model"), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const Flags flags;
  const Services services{.flags = &flags, .threads = 2};
  auto report =
      Rewrite(model->graph, {.services = &services, .last = Phase::kFuse, .verify = true});
  ASSERT_TRUE(report.ok()) << report.status();
  std::string ops;
  for (const auto& [op, count] : report->ops_after) {
    if (op != "Const" && op != "Placeholder") absl::StrAppend(&ops, op, ":", count, " ");
  }
  EXPECT_EQ(ops, expected.ops) << PrintGraph(model->graph, {.max_elements = 4});
  for (const PhaseReport& p : report->phases) EXPECT_FALSE(p.hit_bound) << Name(p.phase);
}

INSTANTIATE_TEST_SUITE_P(
    , RewrittenModel,
    ::testing::Values(
        Expected{"resnet50", "MaxPool:1 Mean:1 _FusedConv2D:16 _FusedMatMul:1 "},
        Expected{"mobilenetv2",
                 "Mean:1 _FusedConv2D:25 _FusedDepthwiseConv2dNative:12 _FusedMatMul:1 "},
        // The gates of squeeze-and-excite: a Mean that keeps its dimensions, and the product.
        Expected{"efficientnetb0",
                 "Mean:9 Mul:9 Reshape:8 _FusedConv2D:33 _FusedDepthwiseConv2dNative:8 "
                 "_FusedMatMul:1 "},
        Expected{"inceptionv3",
                 "AvgPool:3 ConcatV2:7 MaxPool:4 Mean:1 _FusedConv2D:41 _FusedMatMul:1 "},
        // Batch norm and Relu come before the convolutions, which read concatenations.
        Expected{"densenet121",
                 "AvgPool:3 ConcatV2:8 Conv2D:11 MaxPool:1 Mean:1 _FusedConv2D:9 "
                 "_FusedElementwise:12 _FusedMatMul:1 "},
        // The remaining ops work on token ids, the mask, and shapes.
        Expected{"bert4",
                 "AddV2:3 Cast:1 ExpandDims:1 GatherV2:3 Less:3 Pack:1 Range:1 "
                 "Reshape:1 SelectV2:3 Shape:2 StridedSlice:3 _AddLayerNorm:4 _Attention:2 "
                 "_FusedBatchMatMulV2:4 _FusedEinsum:8 _FusedElementwise:1 _FusedMatMul:2 "
                 "_LayerNorm:1 "},
        Expected{"mlp", "_FusedMatMul:4 "},
        Expected{"digits",
                 "MaxPool:1 Reshape:1 _FusedConv2D:3 _FusedDepthwiseConv2dNative:1 "
                 "_FusedMatMul:2 "}),
    [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace tenon

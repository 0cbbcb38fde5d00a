// SplitMergeTokenizeWithOffsets, TokenizerFromLogits: tokens from a decision per character.
#include "kernels/text/split_merge.h"

#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

absl::Status TokensShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape({-1}));
  c.set_output(1, SplitsOf(c.input(0)));
  return absl::OkStatus();
}

absl::Status LabelsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(TokensShape(c));
  if (c.input(0).IsComplete() && c.input(2).IsComplete() &&
      c.input(2).dim(0) != c.input(0).dim(0) + 1) {
    return InvalidArgument("Expecting row_splits have ", c.input(0).dim(0) + 1, " elements, got ",
                           c.input(2).dim(0));
  }
  return absl::OkStatus();
}

absl::Status LogitsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  TENON_RETURN_IF_ERROR(TokensShape(c));
  if (!c.input(0).IsComplete() || !c.input(1).IsComplete()) return absl::OkStatus();
  if (c.input(1).dim(0) != c.input(0).dim(0) || c.input(1).dim(2) != 2) {
    return InvalidArgument("Expecting logits to have ", c.input(0).dim(0),
                           " rows and 2 values per character, got ", c.input(1).ToString());
  }
  return absl::OkStatus();
}

const OpRegistration split_merge({
    .name = "SplitMergeTokenizeWithOffsets",
    .inputs = "input_values: string, labels: int32, row_splits: int32",
    .outputs = "output_values: string, output_row_splits: int64, start_values: int64, "
               "limit_values: int64",
    .attrs = "force_split_at_break_character: bool = true",
    .shape = LabelsShape,
    .reference = SplitByLabelsKernel,
});

const OpRegistration from_logits({
    .name = "TokenizerFromLogits",
    .inputs = "strings: string, logits: float, force_split_at_break_character: bool",
    .outputs = "output_values: string, row_splits: int64, start_values: int64, limit_values: int64",
    .shape = LogitsShape,
    .reference = SplitByLogitsKernel,
});

}  // namespace
}  // namespace tenon

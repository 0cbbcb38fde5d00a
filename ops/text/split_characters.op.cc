// WhitespaceTokenizeWithOffsets (V2), UnicodeScriptTokenizeWithOffsets: tokens between whitespace,
// and tokens of one script.
#include "kernels/text/split_characters.h"

#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

constexpr char kOutputs[] =
    "output_values: int32, output_values_inner_splits: Tsplits, output_offset_starts: int64, "
    "output_offset_limits: int64, output_outer_splits: Tsplits";

absl::Status CharactersShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  if (c.input(1).has_rank() && c.input(1).dim(0) == 0)
    return InvalidArgument("row splits are empty");
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape({-1}));
  c.set_output(4, c.input(1));
  return absl::OkStatus();
}

absl::Status TextsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape({-1}));
  c.set_output(1, SplitsOf(c.input(0)));
  return absl::OkStatus();
}

const OpRegistration whitespace({
    .name = "WhitespaceTokenizeWithOffsets",
    .inputs = "input_values: int32, input_splits: Tsplits",
    .outputs = kOutputs,
    .attrs = "Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = CharactersShape,
    .reference = SplitAtSpaceKernel,
});

const OpRegistration unicode_script({
    .name = "UnicodeScriptTokenizeWithOffsets",
    .inputs = "input_values: int32, input_splits: Tsplits",
    .outputs = kOutputs,
    .attrs = "Tsplits: type = int64; keep_whitespace: bool = false",
    .types = "Tsplits: int32 int64",
    .shape = CharactersShape,
    .reference = SplitAtScriptKernel,
});

const OpRegistration whitespace_v2({
    .name = "TFText>WhitespaceTokenizeWithOffsetsV2",
    .inputs = "input_values: string, input_config: string",
    .outputs = "output_tokens: string, output_row_splits: int64, output_start_offsets: int32, "
               "output_end_offsets: int32",
    .shape = TextsShape,
    .reference = SplitAtBitsKernel,
});

}  // namespace
}  // namespace tenon

// TFText>OffsetsToBoiseTags, TFText>BoiseTagsToOffsets: spans of a text as tags of its tokens.
#include "kernels/text/boise.h"

#include "ops/op.h"

namespace tenon {
namespace {

// Vectors, those from `first` to `last` of one size.
absl::Status ExpectSameSize(ShapeContext& c, int first, int last) {
  for (int i = first; i <= last; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (c.input(i).IsComplete() && c.input(first).IsComplete() &&
        c.input(i).dim(0) != c.input(first).dim(0)) {
      return InvalidArgument("inputs ", first, " to ", last, " must have the same size, got ",
                             c.input(first).dim(0), " and ", c.input(i).dim(0));
    }
  }
  return absl::OkStatus();
}

absl::Status TagsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSameSize(c, 0, 1));
  TENON_RETURN_IF_ERROR(ExpectSameSize(c, 2, 4));
  TENON_RETURN_IF_ERROR(ExpectSameSize(c, 5, 9));
  TENON_RETURN_IF_ERROR(c.ExpectRank(10, 0));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status SpansShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSameSize(c, 0, 2));
  TENON_RETURN_IF_ERROR(ExpectSameSize(c, 3, 5));
  for (int i = 0; i < 3; ++i) c.set_output(i, Shape({-1}));
  c.set_output(3, c.input(3));
  return absl::OkStatus();
}

const OpRegistration to_tags({
    .name = "TFText>OffsetsToBoiseTags",
    .inputs = "input_token_begin_offsets: int32, input_token_end_offsets: int32, "
              "input_span_begin_offsets: int32, input_span_end_offsets: int32, "
              "input_span_type: string, input_token_begin_row_splits: int64, "
              "input_token_end_row_splits: int64, input_span_begin_row_splits: int64, "
              "input_span_end_row_splits: int64, input_span_type_row_splits: int64, "
              "input_use_strict_boundary_mode: bool",
    .outputs = "output_boise_tags: string",
    .shape = TagsShape,
    .reference = SpansToTagsKernel,
});

const OpRegistration to_spans({
    .name = "TFText>BoiseTagsToOffsets",
    .inputs = "input_token_begin_offsets: int32, input_token_end_offsets: int32, "
              "input_boise_tags: string, input_token_begin_row_splits: int64, "
              "input_token_end_row_splits: int64, input_boise_tags_row_splits: int64",
    .outputs = "output_span_begin_offsets: int32, output_span_end_offsets: int32, "
               "output_span_type: string, output_row_splits: int64",
    .shape = SpansShape,
    .reference = TagsToSpansKernel,
});

}  // namespace
}  // namespace tenon

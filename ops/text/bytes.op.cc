// ByteSplitWithOffsets, ByteSplitByOffsets, Utf8Binarize, NgramsStringJoin of TensorFlow Text.
#include "kernels/text/bytes.h"

#include <algorithm>

#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

absl::Status BytesShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape({-1}));
  c.set_output(1, SplitsOf(c.input(0)));
  return absl::OkStatus();
}

absl::Status OffsetsShape(ShapeContext& c) {
  for (int i = 0; i < 4; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  c.set_output(0, Shape({-1}));
  c.set_output(1, c.input(3));
  if (c.input(0).IsComplete() && c.input(3).IsComplete() &&
      c.input(3).dim(0) != c.input(0).dim(0) + 1) {
    return InvalidArgument("there are ", c.input(3).dim(0), " row splits for ", c.input(0).dim(0),
                           " texts");
  }
  return absl::OkStatus();
}

absl::Status BinarizeShape(ShapeContext& c) {
  constexpr int64_t kMost = 1 << 20;
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_ASSIGN_OR_RETURN(const int64_t length, c.attrs().Int("word_length"));
  TENON_ASSIGN_OR_RETURN(const int64_t bits, c.attrs().Int("bits_per_char"));
  if (length < 0 || bits < 0 || length > kMost || bits > kMost) {
    return InvalidArgument("words of ", length, " characters of ", bits, " bits");
  }
  const int64_t rows = c.input(0).has_rank() ? c.input(0).dim(0) : -1;
  c.set_output(0, Shape({rows, length * bits}));
  return c.outputs()[0].IsComplete() ? c.outputs()[0].CheckedElements().status() : absl::OkStatus();
}

absl::Status RunsShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t width, c.attrs().Int("width"));
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.attrs().Int("axis"));
  if (axis != -1) return InvalidArgument("axis != -1: ", axis);
  if (width < 1) return InvalidArgument("a width of ", width);
  for (int i = 1; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (c.input(i).has_rank() && c.input(i).dim(0) == 0) {
      return InvalidArgument("row splits are empty");
    }
    c.set_output(i, c.input(i));
  }
  Shape values = c.input(0);
  if (!values.has_rank()) return absl::OkStatus();
  if (values.rank() == 0) return InvalidArgument("tokens must have an axis");
  if (c.num_inputs() > 1) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
    c.set_output(0, Shape({-1}));
    return absl::OkStatus();
  }
  const int last = values.rank() - 1;
  if (values.dim(last) >= 0) {
    values.set_dim(last, std::max<int64_t>(0, values.dim(last) - width + 1));
  }
  c.set_output(0, std::move(values));
  return absl::OkStatus();
}

const OpRegistration byte_split({
    .name = "TFText>ByteSplitWithOffsets",
    .inputs = "input_values: string",
    .outputs = "output_bytes: uint8, output_row_splits: int64, output_start_offsets: int32, "
               "output_end_offsets: int32",
    .shape = BytesShape,
    .reference = ByteSplitKernel,
});

const OpRegistration split_by_offsets({
    .name = "TFText>ByteSplitByOffsets",
    .inputs = "input_values: string, input_start_offsets: int32, input_end_offsets: int32, "
              "input_row_splits: int64",
    .outputs = "output_values: string, output_row_splits: int64",
    .shape = OffsetsShape,
    .reference = SplitByOffsetsKernel,
});

const OpRegistration binarize({
    .name = "TFText>Utf8Binarize",
    .inputs = "input_tokens: string",
    .outputs = "output_binarizations: float",
    .attrs = "word_length: int; bits_per_char: int; replacement_char: int",
    .shape = BinarizeShape,
    .reference = BinarizeKernel,
});

const OpRegistration join_runs({
    .name = "TFText>NgramsStringJoin",
    .inputs = "input_values: string, input_row_splits: RAGGED_RANK * Tsplits",
    .outputs = "output_values: string, output_row_splits: RAGGED_RANK * Tsplits",
    .attrs = "width: int; axis: int; string_separator: string; RAGGED_RANK: int; "
             "Tsplits: type = int64",
    .types = "Tsplits: int64",
    .shape = RunsShape,
    .reference = JoinRunsKernel,
});

}  // namespace
}  // namespace tenon

// WordpieceTokenizeWithOffsets: words split into the pieces of a vocabulary. Import replaces the
// vocabulary's table with its keys and values.
#include "kernels/text/wordpiece.h"

#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kOutputs[] =
    "output_values: string, output_row_lengths: int64, start_values: int64, limit_values: int64";
constexpr char kAttrs[] =
    "suffix_indicator: string; max_bytes_per_word: int; max_chars_per_token: int = 0; "
    "use_unknown_token: bool; unknown_token: string; split_unknown_characters: bool = false; "
    "output_row_partition_type: string = row_lengths";

absl::Status TokenizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  const std::string rows = c.attrs().String("output_row_partition_type", "row_lengths");
  if (rows != "row_lengths" && rows != "row_splits") {
    return InvalidArgument("output_row_partition_type '", rows, "'");
  }
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape({-1}));
  const int64_t words = c.input(0).has_rank() ? c.input(0).dim(0) : -1;
  if (words >= 0) c.set_output(1, Shape({rows == "row_splits" ? words + 1 : words}));
  return absl::OkStatus();
}

absl::Status VocabularyShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  if (c.input(1).IsComplete() && c.input(2).IsComplete() && c.input(1) != c.input(2)) {
    return InvalidArgument("the table has ", c.input(1).dim(0), " keys and ", c.input(2).dim(0),
                           " values");
  }
  return TokenizeShape(c);
}

const OpRegistration wordpiece({
    .name = "WordpieceTokenizeWithOffsets",
    .inputs = "input_values: string, vocab_lookup_table: resource",
    .outputs = kOutputs,
    .attrs = kAttrs,
    .shape = TokenizeShape,
});

const OpRegistration wordpiece_of_constants({
    .name = "_WordpieceTokenize",
    .inputs = "input_values: string, table_keys: string, table_values: int64",
    .outputs = kOutputs,
    .attrs = kAttrs,
    .shape = VocabularyShape,
    .reference = WordpieceKernel,
    .internal = true,
});

}  // namespace
}  // namespace tenon

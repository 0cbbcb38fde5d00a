// UnicodeDecode(WithOffsets), UnicodeEncode, UnicodeTranscode: conversions between UTF-8 and code
// points (and to UTF-16-BE and UTF-32-BE). Other input encodings are Unimplemented.
#include "kernels/strings/unicode.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DecodeShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape({in.IsComplete() ? in.num_elements() + 1 : -1}));
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, Shape({-1}));
  return absl::OkStatus();
}

absl::Status EncodeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape& splits = c.input(1);
  if (splits.has_rank() && splits.dim(0) == 0) return InvalidArgument("row splits are empty");
  c.set_output(0, Shape({splits.IsComplete() ? splits.dim(0) - 1 : -1}));
  return absl::OkStatus();
}

const OpRegistration unicode_decode({
    .name = "UnicodeDecode",
    .inputs = "input: string",
    .outputs = "row_splits: Tsplits, char_values: int32",
    .attrs = "input_encoding: string; errors: string = replace; replacement_char: int = 65533; "
             "replace_control_characters: bool = false; Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = DecodeShape,
    .reference = UnicodeDecodeKernel,
});

const OpRegistration unicode_decode_with_offsets({
    .name = "UnicodeDecodeWithOffsets",
    .inputs = "input: string",
    .outputs = "row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    .attrs = "input_encoding: string; errors: string = replace; replacement_char: int = 65533; "
             "replace_control_characters: bool = false; Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = DecodeShape,
    .reference = UnicodeDecodeKernel,
});

const OpRegistration unicode_transcode({
    .name = "UnicodeTranscode",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "input_encoding: string; output_encoding: string; errors: string = replace; "
             "replacement_char: int = 65533; replace_control_characters: bool = false",
    .shape = UnchangedShape,
    .reference = UnicodeTranscodeKernel,
});

const OpRegistration unicode_encode({
    .name = "UnicodeEncode",
    .inputs = "input_values: int32, input_splits: Tsplits",
    .outputs = "output: string",
    .attrs = "errors: string = replace; output_encoding: string; replacement_char: int = 65533; "
             "Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = EncodeShape,
    .reference = UnicodeEncodeKernel,
});

}  // namespace
}  // namespace tenon

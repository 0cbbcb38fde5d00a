// TFText>FastSentencepieceTokenize and …Detokenize: sentencepiece models that are inputs.
#include "kernels/text/fast_sentencepiece.h"

#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

absl::Status CodesShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  for (int i = 4; i < 7; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  c.set_output(0, Shape({-1}));
  c.set_output(1, SplitsOf(c.input(1)));
  return absl::OkStatus();
}

absl::Status TextsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  c.set_output(0, Shape({-1}));
  if (!c.input(2).IsComplete()) return absl::OkStatus();
  const int64_t splits = c.input(2).num_elements();
  if (splits == 0) return InvalidArgument("input_splits must have at least 1 element.");
  c.set_output(0, Shape({splits - 1}));
  return absl::OkStatus();
}

const OpRegistration fast_tokenize({
    .name = "TFText>FastSentencepieceTokenize",
    .inputs = "sp_model: uint8, input: string, nbest_size: int32, alpha: float, add_bos: bool, "
              "add_eos: bool, reverse: bool",
    .outputs = "output_values: out_type, output_splits: Tsplits",
    .attrs = "out_type: type = int32; Tsplits: type = int32",
    .types = "out_type: int32 string; Tsplits: int32 int64",
    .shape = CodesShape,
    .reference = FastSentencepieceTokenizeKernel,
});

const OpRegistration fast_detokenize({
    .name = "TFText>FastSentencepieceDetokenize",
    .inputs = "sp_model: uint8, input_values: int32, input_splits: Tsplits",
    .outputs = "output: string",
    .attrs = "Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = TextsShape,
    .reference = FastSentencepieceDetokenizeKernel,
});

}  // namespace
}  // namespace tenon

// TensorFlow Text's fast BERT ops, which read prebuilt models: FastBertNormalize,
// FastWordpieceTokenizeWithOffsets, FastWordpieceDetokenize.
#include "kernels/text/bert_normalize.h"
#include "kernels/text/fast_wordpiece.h"
#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

// Vectors; output `splits` has one entry more than input 0.
template <int splits>
absl::Status TokensShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape({-1}));
  c.set_output(splits, SplitsOf(c.input(0)));
  return absl::OkStatus();
}

absl::Status NormalizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(TokensShape<2>(c));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status DetokenizeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  TENON_ASSIGN_OR_RETURN(const Shape rows, RowsOf(c.input(1)));
  c.set_output(0, rows);
  return absl::OkStatus();
}

const OpRegistration normalize({
    .name = "FastBertNormalize",
    .inputs = "input_values: string, fast_bert_normalizer_model: uint8",
    .outputs = "output_values: string, output_offsets: int64, output_row_splits: int64",
    .attrs = "get_offsets: bool = false",
    .shape = NormalizeShape,
    .reference = BertNormalizeKernel,
});

const OpRegistration tokenize({
    .name = "FastWordpieceTokenizeWithOffsets",
    .inputs = "input_values: string, wp_model: uint8",
    .outputs = "output_subwords: string, output_ids: int64, output_row_splits: int64, "
               "start_values: int64, end_values: int64",
    .shape = TokensShape<2>,
    .reference = FastWordpieceKernel,
});

const OpRegistration detokenize({
    .name = "TFText>FastWordpieceDetokenize",
    .inputs = "input_values: int32, input_row_splits: int64, wp_model: uint8",
    .outputs = "output_words: string",
    .shape = DetokenizeShape,
    .reference = FastWordpieceDetokenizeKernel,
});

}  // namespace
}  // namespace tenon

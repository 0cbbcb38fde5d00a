// PhraseTokenize, TFText>PhraseDetokenize: texts as phrases of a vocabulary.
#include "kernels/text/phrases.h"

#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

absl::Status PhrasesShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  for (int i = 0; i < 3; ++i) c.set_output(i, Shape({-1}));
  c.set_output(2, SplitsOf(c.input(0)));
  return absl::OkStatus();
}

absl::Status JoinedShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  TENON_ASSIGN_OR_RETURN(const Shape rows, RowsOf(c.input(1)));
  c.set_output(0, rows);
  return absl::OkStatus();
}

const OpRegistration phrase_tokenize({
    .name = "PhraseTokenize",
    .inputs = "input_values: string, phrase_model: uint8",
    .outputs = "output_subwords: string, output_ids: int64, output_row_splits: int64",
    .shape = PhrasesShape,
    .reference = PhraseTokenizeKernel,
});

const OpRegistration phrase_detokenize({
    .name = "TFText>PhraseDetokenize",
    .inputs = "input_values: int32, input_row_splits: int64, phrase_model: uint8",
    .outputs = "output_words: string",
    .shape = JoinedShape,
    .reference = PhraseDetokenizeKernel,
});

}  // namespace
}  // namespace tenon

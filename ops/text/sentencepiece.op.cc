// Tokenizers by SentencePiece models. The ops take a resource handle of the model; import gives the
// model itself to rows of the same name with an underscore (proto/import/text_models.h).
#include "kernels/text/sentencepiece.h"

#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

absl::Status TokenizeShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    // nbest_size and alpha may have a value for each text.
    if (i != 2 && i != 3) TENON_RETURN_IF_ERROR(c.ExpectRank(i, i == 1 ? 1 : 0));
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape({-1}));
  if (!c.attrs().Bool("return_nbest", false)) c.set_output(1, SplitsOf(c.input(1)));
  return absl::OkStatus();
}

absl::Status DetokenizeShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, i == 1 || i == 2 ? 1 : 0));
  }
  TENON_ASSIGN_OR_RETURN(const Shape rows,
                         RowsOf(c.input(2), "input_splits must have at least 1 element."));
  c.set_output(0, rows);
  return absl::OkStatus();
}

absl::Status MapShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

absl::Status SizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return ScalarShape(c);
}

const OpRegistration model({
    .name = "SentencepieceOp",
    .outputs = "handle: resource",
    .attrs = "model: string = ; container: string = ; shared_name: string = ; "
             "use_node_name_sharing: bool = false",
    .shape = ScalarShape,
});

// An op, and the row that takes the model.
class OpOfModel {
 public:
  OpOfModel(OpRow row, const char* of_model, const char* inputs)
      : op_(WithoutKernel(row)), of_model_(WithModel(row, of_model, inputs)) {}

 private:
  static OpRow WithoutKernel(OpRow row) {
    row.reference = nullptr;
    return row;
  }
  static OpRow WithModel(OpRow row, const char* name, const char* inputs) {
    row.name = name;
    row.inputs = inputs;
    row.internal = true;
    return row;
  }

  const OpRegistration op_, of_model_;
};

const OpOfModel tokenize(
    {
        .name = "SentencepieceTokenizeOp",
        .inputs = "sp_handle: resource, input: string, nbest_size: int32, alpha: float, "
                  "add_bos: bool, add_eos: bool, reverse: bool",
        .outputs = "output_values: out_type, output_splits: Tsplits",
        .attrs = "out_type: type = int32; Tsplits: type = int64; return_nbest: bool = false",
        .types = "out_type: int32 string; Tsplits: int32 int64",
        .shape = TokenizeShape,
        .reference = SentencePieceTokenizeKernel,
    },
    "_SentencepieceTokenizeOp",
    "model: string, input: string, nbest_size: int32, alpha: float, add_bos: bool, "
    "add_eos: bool, reverse: bool");

const OpOfModel tokenize_with_offsets(
    {
        .name = "SentencepieceTokenizeWithOffsetsOp",
        .inputs = "sp_handle: resource, input: string, nbest_size: int32, alpha: float, "
                  "add_bos: bool, add_eos: bool, reverse: bool",
        .outputs = "output_values: out_type, output_splits: Tsplits, "
                   "output_offset_starts: int64, output_offset_limits: int64",
        .attrs = "out_type: type = int32; Tsplits: type = int64; return_nbest: bool = false",
        .types = "out_type: int32 string; Tsplits: int32 int64",
        .shape = TokenizeShape,
        .reference = SentencePieceTokenizeKernel,
    },
    "_SentencepieceTokenizeWithOffsetsOp",
    "model: string, input: string, nbest_size: int32, alpha: float, add_bos: bool, "
    "add_eos: bool, reverse: bool");

const OpOfModel detokenize(
    {
        .name = "SentencepieceDetokenizeOp",
        .inputs = "sp_handle: resource, input_values: T, input_splits: Tsplits, add_bos: bool, "
                  "add_eos: bool, reverse: bool",
        .outputs = "output: string",
        .attrs = "T: type = int32; Tsplits: type = int64",
        .types = "T: int32 string; Tsplits: int32 int64",
        .shape = DetokenizeShape,
        .reference = SentencePieceDetokenizeKernel,
    },
    "_SentencepieceDetokenizeOp",
    "model: string, input_values: T, input_splits: Tsplits, add_bos: bool, add_eos: bool, "
    "reverse: bool");

const OpOfModel vocab_size(
    {
        .name = "SentencepieceVocabSizeOp",
        .inputs = "sp_handle: resource",
        .outputs = "vocab_size: int32",
        .shape = SizeShape,
        .reference = SentencePieceVocabSizeKernel,
    },
    "_SentencepieceVocabSizeOp", "model: string");

const OpOfModel id_to_string(
    {
        .name = "SentencepieceIdToStringOp",
        .inputs = "sp_handle: resource, input: int32",
        .outputs = "values: string",
        .shape = MapShape,
        .reference = SentencePieceIdToStringKernel,
    },
    "_SentencepieceIdToStringOp", "model: string, input: int32");

const OpOfModel string_to_id(
    {
        .name = "SentencepieceStringToIdOp",
        .inputs = "sp_handle: resource, input: string",
        .outputs = "values: int32",
        .shape = MapShape,
        .reference = SentencePieceStringToIdKernel,
    },
    "_SentencepieceStringToIdOp", "model: string, input: string");

}  // namespace
}  // namespace tenon

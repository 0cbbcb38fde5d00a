// SentenceFragments, SentenceFragmentsV2: texts as fragments of sentences.
#include "kernels/text/sentences.h"

#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kFragments[] =
    "fragment_start: int64, fragment_end: int64, fragment_properties: int64, "
    "terminal_punc_token: int64, output_row_lengths: int64";

absl::Status FragmentsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape({-1}));
  c.set_output(4, c.input(0));
  return absl::OkStatus();
}

// Inputs: row_lengths, token_start, token_end, token_word, token_properties.
absl::Status TokenFragmentsShape(ShapeContext& c) {
  for (int i = 1; i < 5; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  const Shape& tokens = c.input(3);
  for (int i = 1; i < 5; ++i) {
    if (!tokens.IsComplete() || !c.input(i).IsComplete()) continue;
    const int64_t size = c.input(i).dim(0), n = tokens.dim(0);
    // Properties beyond the tokens are ignored, as in TensorFlow Text.
    if (i == 4 ? size < n : size != n) {
      return InvalidArgument("input ", i, " has ", size, " elements for ", n, " tokens");
    }
  }
  return FragmentsShape(c);
}

// What to do with text that is not UTF-8 is checked, but changes nothing, as in TensorFlow Text:
// such bytes are never punctuation.
absl::StatusOr<std::unique_ptr<Kernel>> TokenFragments(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::string encoding, p.attrs().String("input_encoding"));
  if (encoding != "UTF-8") return Unimplemented("input_encoding '", encoding, "'");
  const std::string errors = p.attrs().String("errors", "replace");
  if (errors != "strict" && errors != "replace" && errors != "ignore") {
    return InvalidArgument("errors '", errors, "'");
  }
  const int64_t replacement = p.attrs().Int("replacement_char", 0xFFFD);
  if (replacement < 0 || replacement > 0x10FFFF) {
    return InvalidArgument("replacement_char ", replacement);
  }
  p.InputNotRead(1);
  p.InputNotRead(2);
  return SentencesOfTokensKernel(p);
}

const OpRegistration sentence_fragments({
    .name = "SentenceFragments",
    .inputs = "row_lengths: int64, token_start: int64, token_end: int64, token_word: string, "
              "token_properties: int64",
    .outputs = kFragments,
    .attrs = "input_encoding: string; errors: string = replace; replacement_char: int = 65533; "
             "replace_control_characters: bool = false",
    .shape = TokenFragmentsShape,
    .reference = TokenFragments,
});

const OpRegistration sentence_fragments_v2({
    .name = "SentenceFragmentsV2",
    .inputs = "doc: string",
    .outputs = kFragments,
    .shape = FragmentsShape,
    .reference = SentencesKernel,
});

}  // namespace
}  // namespace tenon

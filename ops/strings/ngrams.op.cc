// StringNGrams: each row's sequences of tokens, of every requested width, joined by a separator;
// rows may be padded at both ends.
#include "kernels/strings/ngrams.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status NGramsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  c.set_output(0, Shape({-1}));
  c.set_output(1, c.input(1));
  return absl::OkStatus();
}

const OpRegistration string_ngrams({
    .name = "StringNGrams",
    .inputs = "data: string, data_splits: Tsplits",
    .outputs = "ngrams: string, ngrams_splits: Tsplits",
    .attrs = "separator: string; ngram_widths: list(int); left_pad: string; right_pad: string; "
             "pad_width: int; preserve_short_sequences: bool; Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = NGramsShape,
    .reference = NGramsKernel,
});

}  // namespace
}  // namespace tenon

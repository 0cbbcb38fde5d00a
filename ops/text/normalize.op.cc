// CaseFoldUTF8, NormalizeUTF8(WithOffsetsMap), FindSourceOffsets: Unicode normal forms, and offsets
// in the text before.
#include "kernels/text/normalize.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status OffsetsShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

const OpRegistration case_fold({
    .name = "CaseFoldUTF8",
    .inputs = "input: string",
    .outputs = "output: string",
    .shape = UnchangedShape,
    .reference = CaseFoldKernel,
});

const OpRegistration normalize({
    .name = "NormalizeUTF8",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "normalization_form: string",
    .shape = UnchangedShape,
    .reference = NormalizeKernel,
});

const OpRegistration normalize_with_offsets_map({
    .name = "NormalizeUTF8WithOffsetsMap",
    .inputs = "input: string",
    .outputs = "output: string, offsets_map: variant",
    .attrs = "normalization_form: string",
    .shape = UnchangedShape,
    .reference = NormalizeKernel,
});

const OpRegistration find_source_offsets({
    .name = "FindSourceOffsets",
    .inputs = "offsets_map: variant, input_offsets_values: int64, input_offsets_splits: Tsplits",
    .outputs = "output_offsets_values: int64",
    .attrs = "Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = OffsetsShape,
    .reference = SourceOffsetsKernel,
});

}  // namespace
}  // namespace tenon

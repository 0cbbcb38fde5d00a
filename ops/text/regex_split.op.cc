// RegexSplitWithOffsets: texts split at what a regular expression matches.
#include "kernels/text/regex_split.h"

#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

absl::Status SplitShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  for (int i = 0; i < 3; ++i) c.set_output(i, Shape({-1}));
  c.set_output(3, SplitsOf(c.input(0)));
  return absl::OkStatus();
}

const OpRegistration regex_split({
    .name = "RegexSplitWithOffsets",
    .inputs = "input: string, delim_regex_pattern: string, keep_delim_regex_pattern: string",
    .outputs = "tokens: string, begin_offsets: int64, end_offsets: int64, row_splits: int64",
    .shape = SplitShape,
    .reference = RegexSplitKernel,
});

}  // namespace
}  // namespace tenon

// StringSplit, StringSplitV2: the parts of strings as a sparse tensor, one row per string.
#include "kernels/strings/split.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SplitShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  c.set_output(0, Shape({-1, 2}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({2}));
  return absl::OkStatus();
}

const OpRegistration string_split_op({
    .name = "StringSplit",
    .inputs = "input: string, delimiter: string",
    .outputs = "indices: int64, values: string, shape: int64",
    .attrs = "skip_empty: bool = true",
    .shape = SplitShape,
    .reference = SplitAtBytesKernel,
});

const OpRegistration string_split_v2_op({
    .name = "StringSplitV2",
    .inputs = "input: string, sep: string",
    .outputs = "indices: int64, values: string, shape: int64",
    .attrs = "maxsplit: int = -1",
    .shape = SplitShape,
    .reference = SplitAtTextKernel,
});

}  // namespace
}  // namespace tenon

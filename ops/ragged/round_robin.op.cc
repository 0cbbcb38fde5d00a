// RoundRobinTrim, RoundRobinGenerateMasks of TensorFlow Text: several ragged tensors, shortened
// until their rows together fit.
#include "kernels/ragged/round_robin.h"

#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kInputs[] =
    "max_sequence_length: int32, input_values: N * T, input_row_splits: N * Tsplits";
constexpr char kAttrs[] = "N: int; T: type; Tsplits: type";
constexpr char kTypes[] =
    "T: string bool float double int8 int16 int32 int64 uint8 uint16 uint32 uint64; "
    "Tsplits: int32 int64";

absl::Status CheckInputs(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  for (int i = 1; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  const int n = (c.num_inputs() - 1) / 2;
  if (n < 1) return InvalidArgument("N must be at least 1");
  for (int i = 1 + n; i < c.num_inputs(); ++i) {
    if (c.input(i).has_rank() && c.input(i).dim(0) == 0) {
      return InvalidArgument("row splits are empty");
    }
  }
  return absl::OkStatus();
}

absl::Status TrimShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckInputs(c));
  const int n = (c.num_inputs() - 1) / 2;
  for (int i = 0; i < n; ++i) {
    c.set_output(i, Shape({-1}));
    c.set_output(n + i, c.input(1 + n + i));
  }
  return absl::OkStatus();
}

absl::Status MasksShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckInputs(c));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(1 + i));
  return absl::OkStatus();
}

const OpRegistration trim({
    .name = "TFText>RoundRobinTrim",
    .inputs = kInputs,
    .outputs = "values: N * T, row_splits: N * Tsplits",
    .attrs = kAttrs,
    .types = kTypes,
    .shape = TrimShape,
    .reference = RoundRobinTrimKernel,
});

const OpRegistration masks({
    .name = "TFText>RoundRobinGenerateMasks",
    .inputs = kInputs,
    .outputs = "masks: N * bool",
    .attrs = kAttrs,
    .types = kTypes,
    .shape = MasksShape,
    .reference = RoundRobinMasksKernel,
});

}  // namespace
}  // namespace tenon

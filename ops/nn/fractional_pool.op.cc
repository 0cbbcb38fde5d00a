// FractionalMaxPool, FractionalAvgPool and their gradients: windows of different sizes, at random.
#include "kernels/pooling/fractional_pool.h"

#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status FractionalPoolShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  const bool seeded = c.attrs().Int("seed", 0) != 0 || c.attrs().Int("seed2", 0) != 0;
  if (seeded && !c.attrs().Bool("deterministic", false)) {
    return InvalidArgument("seed and seed2 must be 0 unless deterministic is true");
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                         FractionalPoolSizes(c.attrs(), c.input(0)));
  c.set_output(0, Shape(sizes));
  c.set_output(1, Shape({AddDims(sizes[1], 1)}));
  c.set_output(2, Shape({AddDims(sizes[2], 1)}));
  return absl::OkStatus();
}

// Checks the pooling sequences, inputs `first` and first + 1, of an output of shape `out`.
absl::Status CheckPoolingSequences(const ShapeContext& c, int first, const Shape& out) {
  for (int i : {0, 1}) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(first + i, 1));
    const Shape expected({out.has_rank() ? AddDims(out.dim(1 + i), 1) : -1});
    if (expected.CompatibleWith(c.input(first + i))) continue;
    return InvalidArgument("input ", first + i, " must have shape ", expected.ToString(),
                           ", but has ", c.input(first + i).ToString());
  }
  return absl::OkStatus();
}

// The shapes of the forward op's input and output must have the same batch and channels, and none
// may be empty.
absl::Status CheckPooled(const Shape& in, const Shape& out) {
  if (!in.has_rank() || !out.has_rank()) return absl::OkStatus();
  for (int i = 0; i < 4; ++i) {
    const bool same = in.dim(i) < 0 || out.dim(i) < 0 || in.dim(i) == out.dim(i);
    if (((i == 0 || i == 3) && !same) || in.dim(i) == 0 || out.dim(i) == 0) {
      return InvalidArgument("an image of shape ", in.ToString(), " pooled to ", out.ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status FractionalMaxPoolGradShape(ShapeContext& c) {
  for (int i : {0, 1, 2}) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 4));
  TENON_ASSIGN_OR_RETURN(const Shape out, MergeShapes(c.input(1), c.input(2)));
  TENON_RETURN_IF_ERROR(CheckPooled(c.input(0), out));
  TENON_RETURN_IF_ERROR(CheckPoolingSequences(c, 3, out));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status FractionalAvgPoolGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 4));
  TENON_RETURN_IF_ERROR(CheckPoolingSequences(c, 2, c.input(1)));
  if (!Shape({4}).CompatibleWith(c.input(0))) {
    return InvalidArgument("orig_input_tensor_shape must have 4 elements, has shape ",
                           c.input(0).ToString());
  }
  Shape in = Shape::UnknownOfRank(4);
  if (c.value(0) != nullptr) {
    TENON_ASSIGN_OR_RETURN(in, ShapeOfValue(*c.value(0), MinusOne::kRefused));
    TENON_RETURN_IF_ERROR(in.CheckedElements().status());
  }
  TENON_RETURN_IF_ERROR(CheckPooled(in, c.input(1)));
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

constexpr char kFractionalAttrs[] =
    "pooling_ratio: list(float); pseudo_random: bool = false; overlapping: bool = false; "
    "deterministic: bool = false; seed: int = 0; seed2: int = 0; T: type";
constexpr char kFractionalOutputs[] =
    "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64";

const OpRegistration fractional_max_pool({
    .name = "FractionalMaxPool",
    .inputs = "value: T",
    .outputs = kFractionalOutputs,
    .attrs = kFractionalAttrs,
    .types = "T: float double int32 int64",
    .shape = FractionalPoolShape,
    .reference = FractionalMaxPool,
    .stateful = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration fractional_avg_pool({
    .name = "FractionalAvgPool",
    .inputs = "value: T",
    .outputs = kFractionalOutputs,
    .attrs = kFractionalAttrs,
    .types = "T: float double int32 int64",
    .shape = FractionalPoolShape,
    .reference = FractionalAvgPool,
    .stateful = true,
});

const OpRegistration fractional_max_pool_grad({
    .name = "FractionalMaxPoolGrad",
    .inputs = "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
              "col_pooling_sequence: int64",
    .outputs = "output: T",
    .attrs = "overlapping: bool = false; T: type",
    .types = "T: float double int32 int64",
    .shape = FractionalMaxPoolGradShape,
    .reference = FractionalMaxPoolGrad,
});

const OpRegistration fractional_avg_pool_grad({
    .name = "FractionalAvgPoolGrad",
    .inputs = "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
              "col_pooling_sequence: int64",
    .outputs = "output: T",
    .attrs = "overlapping: bool = false; T: type",
    .types = "T: float double int32 int64",
    .shape = FractionalAvgPoolGradShape,
    .reference = FractionalAvgPoolGrad,
});

}  // namespace
}  // namespace tenon

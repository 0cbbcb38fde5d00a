// Pad and PadV2 (a constant border), MirrorPad (the tensor's own border, mirrored), MirrorPadGrad.
#include "kernels/layout/pad.h"

#include <algorithm>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status PadShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  if (c.num_inputs() > 2 && c.input(2).has_rank() && c.input(2).rank() != 0) {
    return InvalidArgument("constant_values must be a scalar, but has shape ",
                           c.input(2).ToString());
  }
  const Shape& in = c.input(0);
  const Shape& paddings = c.input(1);
  if (paddings.has_rank() && paddings.dim(1) >= 0 && paddings.dim(1) != 2) {
    return InvalidArgument("paddings must have two columns, but have shape ", paddings.ToString());
  }
  if (!in.has_rank()) {
    if (paddings.has_rank() && paddings.dim(0) >= 0) {
      c.set_output(0, Shape::UnknownOfRank(static_cast<int>(paddings.dim(0))));
    }
    return absl::OkStatus();
  }
  if (c.value(1) == nullptr) {
    if (paddings.has_rank() && paddings.dim(0) >= 0 && paddings.dim(0) != in.rank()) {
      return InvalidArgument("paddings of shape ", paddings.ToString(), " for shape ",
                             in.ToString());
    }
    c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, ReadPaddings(*c.value(1), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    const Padding& pad = pads[static_cast<size_t>(i)];
    int64_t size = in.dim(i);
    if (size >= 0 && (__builtin_add_overflow(size, pad.before, &size) ||
                      __builtin_add_overflow(size, pad.after, &size))) {
      return InvalidArgument("paddings that are too large");
    }
    out.push_back(size);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status MirrorPadShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(c.attrs()));
  TENON_RETURN_IF_ERROR(PadShape(c));
  const Shape& in = c.input(0);
  if (!in.has_rank() || c.value(1) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, ReadPaddings(*c.value(1), in.rank()));
  for (int i = 0; i < in.rank(); ++i) {
    const Padding& pad = pads[static_cast<size_t>(i)];
    if (in.dim(i) >= 0 &&
        std::max(pad.before, pad.after) > std::max<int64_t>(in.dim(i) - skip, 0)) {
      return InvalidArgument("paddings ", pad.before, ", ", pad.after, " of dimension ", i,
                             " are larger than its border of ", in.dim(i) - skip);
    }
  }
  return absl::OkStatus();
}

// The input has the padded shape, the output the plain one.
absl::Status MirrorPadGradShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(c.attrs()));
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (c.value(1) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, ReadPaddings(*c.value(1), in.rank()));
  Shape out = in;
  for (int i = 0; i < in.rank(); ++i) {
    const Padding& pad = pads[static_cast<size_t>(i)];
    if (in.dim(i) < 0) continue;
    // Each is at most the input's size, so nothing overflows.
    const int64_t widest = std::max(pad.before, pad.after);
    const int64_t rest = widest > in.dim(i) ? -1 : in.dim(i) - pad.before - pad.after;
    if (rest < 0 || widest > std::max<int64_t>(rest - skip, 0)) {
      return InvalidArgument("paddings ", pad.before, ", ", pad.after, " of dimension ", i,
                             " do not fit a padded size of ", in.dim(i));
    }
    out.set_dim(i, rest);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration pad({
    .name = "Pad",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32",
    .types = "Tpaddings: int32 int64",
    .shape = PadShape,
    .reference = PadKernel,
    .alias_if_same_size = true,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .batch_axis = batch_axis::FirstInput,
    .on_integers = OnIntegers::kPads,
});

const OpRegistration pad_v2({
    .name = "PadV2",
    .inputs = "input: T, paddings: Tpaddings, constant_values: T",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32",
    .types = "Tpaddings: int32 int64",
    .shape = PadShape,
    .reference = PadKernel,
    .alias_if_same_size = true,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .batch_axis = batch_axis::FirstInput,
    .on_integers = OnIntegers::kPads,
});

const OpRegistration mirror_pad({
    .name = "MirrorPad",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32; mode: string",
    .types = "Tpaddings: int32 int64",
    .shape = MirrorPadShape,
    .reference = MirrorPadKernel,
    .alias_if_same_size = true,
    .moves_elements = true,
    .batch_axis = batch_axis::FirstInput,
});

const OpRegistration mirror_pad_grad({
    .name = "MirrorPadGrad",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32; mode: string",
    .types = "Tpaddings: int32 int64",
    .shape = MirrorPadGradShape,
    .reference = MirrorPadGradKernel,
    .error_bound = ErrorBound::kFoldedPads,
});

}  // namespace
}  // namespace tenon

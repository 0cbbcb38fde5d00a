// Pack (stack along a new axis) and Unpack.
#include "kernels/interface/axis.h"
#include "kernels/layout/join.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status PackShape(ShapeContext& c) {
  if (c.num_inputs() < 1) return InvalidArgument("nothing to pack");
  Shape part = Shape::Unknown();
  for (int i = 0; i < c.num_inputs(); ++i) {
    absl::StatusOr<Shape> merged = MergeShapes(part, c.input(i));
    if (!merged.ok()) {
      return InvalidArgument("cannot pack ", c.input(0).ToString(), " and ", c.input(i).ToString());
    }
    part = *std::move(merged);
  }
  if (!part.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs().Int("axis", 0), part.rank() + 1));
  part.insert(axis, c.num_inputs());
  c.set_output(0, std::move(part));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Pack(PrepareContext& p) {
  const Shape& part = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p.attrs().Int("axis", 0), part.rank() + 1));
  Join join;
  join.dtype = p.output_dtype(0);
  join.outer = Product(part, 0, axis);
  join.chunks.assign(static_cast<size_t>(p.num_inputs()), Product(part, axis, part.rank()));
  return JoinKernel(std::move(join), 0, p.services().threads);
}

absl::Status UnpackShape(ShapeContext& c) {
  Shape part = c.input(0);
  if (!part.has_rank()) return absl::OkStatus();
  if (part.rank() == 0) return InvalidArgument("cannot unpack a scalar");
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs().Int("axis", 0), part.rank()));
  if (part.dim(axis) >= 0 && part.dim(axis) != c.num_outputs()) {
    return InvalidArgument("cannot unpack axis ", axis, " of ", part.ToString(), " into ",
                           c.num_outputs(), " parts");
  }
  part.erase(axis);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, part);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Unpack(PrepareContext& p) {
  const Shape& whole = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p.attrs().Int("axis", 0), whole.rank()));
  Join join;
  join.dtype = p.input_dtype(0);
  join.outer = Product(whole, 0, axis);
  join.chunks.assign(static_cast<size_t>(p.num_outputs()), Product(whole, axis + 1, whole.rank()));
  return SplitKernel(std::move(join), 0, p.services().threads);
}

const OpRegistration pack({
    .name = "Pack",
    .inputs = "values: N * T",
    .outputs = "output: T",
    .attrs = "N: int; T: type; axis: int = 0",
    .shape = PackShape,
    .reference = Pack,
    .moves_elements = true,
    .batch_axis = batch_axis::Pack,
});

const OpRegistration unpack({
    .name = "Unpack",
    .inputs = "value: T",
    .outputs = "output: num * T",
    .attrs = "num: int; T: type; axis: int = 0",
    .shape = UnpackShape,
    .reference = Unpack,
    .moves_elements = true,
    .batch_axis = batch_axis::Unpack,
});

}  // namespace
}  // namespace tenon

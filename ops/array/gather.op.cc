// Gather, GatherV2 (an axis, batch dimensions).
#include "kernels/layout/gather.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GatherShape(ShapeContext& c) {
  const Shape& params = c.input(0);
  const Shape& indices = c.input(1);
  const bool has_axis = c.num_inputs() > 2;
  if (has_axis) TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  if (!params.has_rank() || !indices.has_rank()) return absl::OkStatus();
  if (params.rank() == 0) return InvalidArgument("cannot gather from a scalar");
  if (has_axis && c.value(2) == nullptr) {
    const int64_t batch_dims = c.attrs().Int("batch_dims", 0);
    if (batch_dims >= 0 && batch_dims <= indices.rank()) {
      const int rank = params.rank() - 1 + indices.rank() - static_cast<int>(batch_dims);
      if (rank >= 0) c.set_output(0, Shape::UnknownOfRank(rank));
    }
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const GatherAxes axes, FindGatherAxes(c.attrs(), params, indices,
                                                               has_axis ? c.value(2) : nullptr));
  Shape out;
  for (int i = 0; i < axes.axis; ++i) {
    int64_t d = params.dim(i);
    if (d < 0 && i < axes.batch_dims) d = indices.dim(i);
    out.push_back(d);
  }
  for (int i = axes.batch_dims; i < indices.rank(); ++i) out.push_back(indices.dim(i));
  for (int i = axes.axis + 1; i < params.rank(); ++i) out.push_back(params.dim(i));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration gather({
    .name = "Gather",
    .inputs = "params: Tparams, indices: Tindices",
    .outputs = "output: Tparams",
    .attrs = "validate_indices: bool = true; Tparams: type; Tindices: type",
    .types = "Tindices: int32 int64",
    .shape = GatherShape,
    .reference = GatherKernel,
    .batch_axis = batch_axis::Gather,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration gather_v2({
    .name = "GatherV2",
    .inputs = "params: Tparams, indices: Tindices, axis: Taxis",
    .outputs = "output: Tparams",
    .attrs = "batch_dims: int = 0; Tparams: type; Tindices: type; Taxis: type",
    .types = "Tindices: int16 int32 int64; Taxis: int32 int64",
    .shape = GatherShape,
    .reference = GatherKernel,
    .batch_axis = batch_axis::Gather,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon

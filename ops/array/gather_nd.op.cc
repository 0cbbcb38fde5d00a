// GatherNd (slices given by index vectors) and ScatterNd (their sum into zeros).
#include "kernels/interface/axis.h"
#include "kernels/layout/addressing.h"
#include "kernels/layout/gather.h"
#include "kernels/layout/scatter.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GatherNdShape(ShapeContext& c) {
  const Shape& params = c.input(0);
  const Shape& indices = c.input(1);
  if (indices.has_rank() && indices.rank() < 1) {
    return InvalidArgument("indices must be at least a vector");
  }
  if (params.has_rank() && params.rank() < 1) return InvalidArgument("cannot gather from a scalar");
  if (!params.has_rank() || !indices.has_rank()) return absl::OkStatus();
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return absl::OkStatus();
  if (depth > params.rank()) {
    return InvalidArgument("index vectors of ", depth, " for shape ", params.ToString());
  }
  Shape out;
  for (int i = 0; i < indices.rank() - 1; ++i) out.push_back(indices.dim(i));
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) out.push_back(params.dim(i));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ScatterNdShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  if (c.value(2) == nullptr) {
    if (c.input(2).has_rank() && c.input(2).dim(0) >= 0) {
      c.set_output(0, Shape::UnknownOfRank(static_cast<int>(c.input(2).dim(0))));
    }
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, ShapeOfValue(*c.value(2), MinusOne::kRefused));
  TENON_RETURN_IF_ERROR(CheckUpdates(out, c.input(0), c.input(1)));
  c.set_output(0, out);
  return absl::OkStatus();
}

const OpRegistration gather_nd({
    .name = "GatherNd",
    .inputs = "params: Tparams, indices: Tindices",
    .outputs = "output: Tparams",
    .attrs = "Tparams: type; Tindices: type; bad_indices_policy: string = ",
    .types = "Tindices: int16 int32 int64",
    .shape = GatherNdShape,
    .reference = GatherNdKernel,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration scatter_nd({
    .name = "ScatterNd",
    .inputs = "indices: Tindices, updates: T, shape: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; bad_indices_policy: string = ",
    .types = "Tindices: int16 int32 int64",
    .shape = ScatterNdShape,
    .reference = ScatterNdKernel,
    .error_bound = ErrorBound::kScatter,
});

}  // namespace
}  // namespace tenon

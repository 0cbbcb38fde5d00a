// Gather, GatherV2 (an axis, batch dimensions).
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct GatherAxes {
  int axis;
  int batch_dims;
};

// `axis` may be null (Gather: 0).
absl::StatusOr<GatherAxes> Axes(const AttrReader& attrs, const Shape& params, const Shape& indices,
                                const Tensor* axis) {
  GatherAxes out{0, 0};
  const int64_t batch_dims = attrs.Int("batch_dims", 0);
  if (batch_dims < -indices.rank() || batch_dims > indices.rank()) {
    return InvalidArgument("batch_dims ", batch_dims, " for indices of shape ", indices.ToString());
  }
  out.batch_dims = static_cast<int>(batch_dims < 0 ? batch_dims + indices.rank() : batch_dims);
  int64_t value = 0;
  if (axis != nullptr) {
    TENON_ASSIGN_OR_RETURN(value, ScalarInteger(*axis, "axis"));
  }
  TENON_ASSIGN_OR_RETURN(out.axis, NormalizeAxis(value, params.rank()));
  if (out.batch_dims > out.axis) {
    return InvalidArgument("batch_dims ", out.batch_dims, " is greater than axis ", out.axis);
  }
  for (int i = 0; i < out.batch_dims; ++i) {
    if (params.dim(i) >= 0 && indices.dim(i) >= 0 && params.dim(i) != indices.dim(i)) {
      return InvalidArgument("batch dimension ", i, " differs: params ", params.ToString(),
                             ", indices ", indices.ToString());
    }
  }
  return out;
}

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
  TENON_ASSIGN_OR_RETURN(const GatherAxes axes,
                         Axes(c.attrs(), params, indices, has_axis ? c.value(2) : nullptr));
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

absl::StatusOr<std::unique_ptr<Kernel>> GatherReference(PrepareContext& p) {
  const bool has_axis = p.num_inputs() > 2;
  const Tensor* axis = has_axis ? p.value(2) : nullptr;
  if (has_axis && axis == nullptr) return PrepareLate(p, GatherReference, {2});
  if (has_axis) p.InputNotRead(2);
  const Shape& params = p.input_shape(0);
  const Shape& indices = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const GatherAxes axes, Axes(p.attrs(), params, indices, axis));
  const int64_t batch = Product(params, 0, axes.batch_dims);
  const int64_t outer = Product(params, axes.batch_dims, axes.axis);
  const int64_t limit = params.dim(axes.axis);
  const int64_t inner = Product(params, axes.axis + 1, params.rank());
  const int64_t count = Product(indices, axes.batch_dims, indices.rank());
  const DType dtype = p.input_dtype(0);

  return DispatchType(TypeList<int16_t, int32_t, int64_t>{}, p.input_dtype(1), [&]<typename I>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const I* ids = run.input<I>(1);
      for (int64_t i = 0; i < batch * count; ++i) {
        if (ids[i] < 0 || ids[i] >= limit) {
          return InvalidArgument("index ", i, " is ", ids[i], ", which is not in [0, ", limit, ")");
        }
      }
      VisitStorage(dtype, [&]<typename T>() {
        const T* in = run.input<T>(0);
        T* out = run.output<T>(0);
        for (int64_t b = 0; b < batch; ++b, ids += count) {
          for (int64_t o = 0; o < outer; ++o, in += limit * inner) {
            for (int64_t i = 0; i < count; ++i, out += inner) {
              std::copy_n(in + ids[i] * inner, inner, out);
            }
          }
        }
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration gather({
    .name = "Gather",
    .inputs = "params: Tparams, indices: Tindices",
    .outputs = "output: Tparams",
    .attrs = "validate_indices: bool = true; Tparams: type; Tindices: type",
    .types = "Tindices: int32 int64",
    .shape = GatherShape,
    .reference = GatherReference,
});

const OpRegistration gather_v2({
    .name = "GatherV2",
    .inputs = "params: Tparams, indices: Tindices, axis: Taxis",
    .outputs = "output: Tparams",
    .attrs = "batch_dims: int = 0; Tparams: type; Tindices: type; Taxis: type",
    .types = "Tindices: int16 int32 int64; Taxis: int32 int64",
    .shape = GatherShape,
    .reference = GatherReference,
});

}  // namespace
}  // namespace tenon

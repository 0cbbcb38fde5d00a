// GatherNd (slices that index vectors name) and ScatterNd (their sum into zeros).
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/addressing.h"
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

absl::StatusOr<std::unique_ptr<Kernel>> GatherNd(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Addressing a,
                         MakeAddressing(p.attrs(), p.input_shape(0), p.input_shape(1)));
  const DType dtype = p.input_dtype(0);
  return DispatchType(TypeList<int16_t, int32_t, int64_t>{}, p.input_dtype(1), [&]<typename I>() {
    return MakeKernel([a, dtype](RunContext& run) {
      absl::Status status;
      VisitStorage(dtype, [&]<typename T>() {
        const T* in = run.input<T>(0);
        T* out = run.output<T>(0);
        const I* index = run.input<I>(1);
        for (int64_t i = 0; i < a.count; ++i, index += a.depth, out += a.slice) {
          const int64_t offset = a.Offset(index);
          if (offset >= 0) {
            std::copy_n(in + offset, a.slice, out);
          } else if (a.ignore_bad) {
            std::fill_n(out, a.slice, T());
          } else {
            status = BadIndex(i, a.whole);
            return;
          }
        }
      });
      return status;
    });
  });
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

absl::StatusOr<std::unique_ptr<Kernel>> ScatterNd(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ScatterNd, {2});
  p.InputNotRead(2);
  TENON_ASSIGN_OR_RETURN(const Addressing a,
                         MakeAddressing(p.attrs(), p.output_shape(0), p.input_shape(0)));
  const int64_t n = p.output_shape(0).num_elements();
  return DispatchType(AllTypes{}, p.input_dtype(1), [&]<typename T>() {
    return DispatchType(TypeList<int16_t, int32_t, int64_t>{}, p.input_dtype(0), [&]<typename I>() {
      return MakeKernel([a, n](RunContext& run) -> absl::Status {
        T* out = run.output<T>(0);
        const I* index = run.input<I>(0);
        const T* updates = run.input<T>(1);
        std::fill_n(out, n, T());
        for (int64_t i = 0; i < a.count; ++i, index += a.depth, updates += a.slice) {
          const int64_t offset = a.Offset(index);
          if (offset < 0 && a.ignore_bad) continue;
          if (offset < 0) return BadIndex(i, a.whole);
          for (int64_t k = 0; k < a.slice; ++k) {
            out[offset + k] = Accumulate<T>(out[offset + k], updates[k]);
          }
        }
        return absl::OkStatus();
      });
    });
  });
}

const OpRegistration gather_nd({
    .name = "GatherNd",
    .inputs = "params: Tparams, indices: Tindices",
    .outputs = "output: Tparams",
    .attrs = "Tparams: type; Tindices: type; bad_indices_policy: string = ",
    .types = "Tindices: int16 int32 int64",
    .shape = GatherNdShape,
    .reference = GatherNd,
});

const OpRegistration scatter_nd({
    .name = "ScatterNd",
    .inputs = "indices: Tindices, updates: T, shape: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; bad_indices_policy: string = ",
    .types = "Tindices: int16 int32 int64",
    .shape = ScatterNdShape,
    .reference = ScatterNd,
});

}  // namespace
}  // namespace tenon

// Diag: a tensor of shape S becomes the diagonal of one of shape [S, S]; DiagPart takes it out
// again.
#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DiagShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (in.rank() < 1) return InvalidArgument("diagonal must not be a scalar");
  Shape out = in;
  for (int64_t d : in.dims()) out.push_back(d);
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status DiagPartShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  const size_t half = static_cast<size_t>(in.rank()) / 2;
  const auto merged =
      MergeShapes(Shape(in.dims().subspan(0, half)), Shape(in.dims().subspan(half)));
  if (in.rank() < 2 || in.rank() % 2 != 0 || !merged.ok()) {
    return InvalidArgument("input must have shape [S, S], but has ", in.ToString());
  }
  c.set_output(0, *merged);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Diag(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const DType dtype = p.input_dtype(0);
  return MakeKernel([n, dtype](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      T* out = run.output<T>(0);
      std::fill_n(out, n * n, T());
      for (int64_t i = 0; i < n; ++i) out[i * (n + 1)] = run.input<T>(0)[i];
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DiagPart(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  const DType dtype = p.input_dtype(0);
  return MakeKernel([n, dtype](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      for (int64_t i = 0; i < n; ++i) run.output<T>(0)[i] = run.input<T>(0)[i * (n + 1)];
    });
    return absl::OkStatus();
  });
}

const OpRegistration diag_op({
    .name = "Diag",
    .inputs = "diagonal: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int32 int64 complex64 complex128",
    .shape = DiagShape,
    .reference = Diag,
});

const OpRegistration diag_part_op({
    .name = "DiagPart",
    .inputs = "input: T",
    .outputs = "diagonal: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int32 int64 complex64 complex128",
    .shape = DiagPartShape,
    .reference = DiagPart,
});

}  // namespace
}  // namespace tenon

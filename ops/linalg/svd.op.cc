// Svd, BatchSvd and XlaSvd: U diag(s) V^H = A, with singular values in descending order. Computed
// in double.
#include "kernels/linalg/svd.h"

#include <algorithm>

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SvdShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectMatrices(in));
  if (!in.has_rank()) return absl::OkStatus();
  const int64_t m = in.dim(in.rank() - 2), n = in.dim(in.rank() - 1);
  const int64_t p = m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool full = c.attrs().Bool("full_matrices", false);
  c.set_output(0, WithMatrix(in, {p}));
  if (!c.attrs().Bool("compute_uv", true)) {
    c.set_output(1, Shape({0}));
    c.set_output(2, Shape({0}));
    return absl::OkStatus();
  }
  c.set_output(1, WithMatrix(in, {m, full ? m : p}));
  c.set_output(2, WithMatrix(in, {n, full ? n : p}));
  return absl::OkStatus();
}

absl::Status XlaSvdShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectMatrices(in));
  if (!in.has_rank()) return absl::OkStatus();
  const int64_t m = in.dim(in.rank() - 2), n = in.dim(in.rank() - 1);
  c.set_output(0, WithMatrix(in, {m < 0 || n < 0 ? -1 : std::min(m, n)}));
  c.set_output(1, WithMatrix(in, {m, m}));
  c.set_output(2, WithMatrix(in, {n, n}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> TfSvd(PrepareContext& p) {
  return Svd(p, {.vectors = p.attrs().Bool("compute_uv", true),
                 .full = p.attrs().Bool("full_matrices", false)});
}

const OpRegistration svd_op({
    .name = "Svd",
    .inputs = "input: T",
    .outputs = "s: T, u: T, v: T",
    .attrs = "compute_uv: bool = true; full_matrices: bool = false; T: type",
    .types = "T: double float complex64 complex128",
    .shape = SvdShape,
    .reference = TfSvd,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_svd_op({
    .name = "BatchSvd",
    .inputs = "input: T",
    .outputs = "s: T, u: T, v: T",
    .attrs = "compute_uv: bool = true; full_matrices: bool = false; T: type",
    .types = "T: double float complex64 complex128",
    .shape = SvdShape,
    .reference = TfSvd,
    .error_bound = ErrorBound::kLinearAlgebra,
});

absl::StatusOr<std::unique_ptr<Kernel>> XlaSvd(PrepareContext& p) { return Svd(p, {.full = true}); }

// The attributes control XLA's iteration.
const OpRegistration xla_svd_op({
    .name = "XlaSvd",
    .inputs = "a: T",
    .outputs = "s: T, u: T, v: T",
    .attrs = "max_iter: int; epsilon: float; precision_config: string; T: type",
    .types = "T: double float",
    .shape = XlaSvdShape,
    .reference = XlaSvd,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon

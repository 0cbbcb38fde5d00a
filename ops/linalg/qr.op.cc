// Qr: Q R = A with orthonormal columns of Q and upper triangular R, by Householder reflections.
#include "kernels/linalg/qr.h"

#include <algorithm>

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status QrShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectMatrices(in));
  if (!in.has_rank()) return absl::OkStatus();
  const int64_t m = in.dim(in.rank() - 2), n = in.dim(in.rank() - 1);
  const int64_t p = m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool full = c.attrs().Bool("full_matrices", false);
  c.set_output(0, WithMatrix(in, {m, full ? m : p}));
  c.set_output(1, WithMatrix(in, {full ? m : p, n}));
  return absl::OkStatus();
}

const OpRegistration qr_op({
    .name = "Qr",
    .inputs = "input: T",
    .outputs = "q: T, r: T",
    .attrs = "full_matrices: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = QrShape,
    .reference = Qr,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon

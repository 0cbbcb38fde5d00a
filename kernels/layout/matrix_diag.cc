#include "kernels/layout/matrix_diag.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/diagonals.h"

namespace tenon {
namespace {

// Copies between matrices and packed diagonals: calls f(matrix element, packed element) for every
// element of a diagonal.
template <typename F>
void ForEachElement(const Diagonals& d, int64_t rows, int64_t cols, int64_t longest, F&& f) {
  for (int64_t k = d.upper; k >= d.lower; --k) {
    const int64_t n = Diagonals::Length(k, rows, cols);
    const int64_t packed = (d.upper - k) * longest + d.Offset(k, rows, cols, longest);
    int64_t at = k >= 0 ? k : -k * cols;
    for (int64_t i = 0; i < n; ++i, at += cols + 1) f(at, packed + i);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MatrixDiagKernel(PrepareContext& p) {
  const bool parameters = p.num_inputs() > 1;
  if (parameters && !ValuesKnown(p, 1, 3)) return PrepareLate(p, MatrixDiagKernel, {1, 2, 3});
  TENON_ASSIGN_OR_RETURN(const Diagonals d,
                         MakeDiagonals(p.attrs(), parameters ? p.value(1) : nullptr));
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  const int64_t rows = out.dim(out.rank() - 2), cols = out.dim(out.rank() - 1);
  const int64_t batch = Product(out, 0, out.rank() - 2), longest = in.dim(in.rank() - 1);
  if (rows > 0 && cols > 0) TENON_RETURN_IF_ERROR(d.Check(rows, cols));
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      const T* x = run.input<T>(0);
      T* y = run.output<T>(0);
      std::fill_n(y, batch * rows * cols, parameters ? *run.input<T>(4) : T());
      if (rows == 0 || cols == 0) return;
      for (int64_t b = 0; b < batch; ++b, x += d.count() * longest, y += rows * cols) {
        ForEachElement(d, rows, cols, longest, [&](int64_t at, int64_t from) { y[at] = x[from]; });
      }
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixDiagPartKernel(PrepareContext& p) {
  const bool parameters = p.num_inputs() > 1;
  if (parameters && !ValuesKnown(p, 1, 1)) return PrepareLate(p, MatrixDiagPartKernel, {1});
  TENON_ASSIGN_OR_RETURN(const Diagonals d,
                         MakeDiagonals(p.attrs(), parameters ? p.value(1) : nullptr));
  const Shape& in = p.input_shape(0);
  const int64_t rows = in.dim(in.rank() - 2), cols = in.dim(in.rank() - 1);
  const int64_t batch = Product(in, 0, in.rank() - 2);
  const int64_t longest = p.output_shape(0).dim(p.output_shape(0).rank() - 1);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      const T* x = run.input<T>(0);
      T* y = run.output<T>(0);
      std::fill_n(y, batch * d.count() * longest, parameters ? *run.input<T>(2) : T());
      if (rows == 0 || cols == 0) return;
      for (int64_t b = 0; b < batch; ++b, x += rows * cols, y += d.count() * longest) {
        ForEachElement(d, rows, cols, longest, [&](int64_t at, int64_t to) { y[to] = x[at]; });
      }
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixSetDiagKernel(PrepareContext& p) {
  const bool parameters = p.num_inputs() > 2;
  if (parameters && !ValuesKnown(p, 2, 2)) return PrepareLate(p, MatrixSetDiagKernel, {2});
  TENON_ASSIGN_OR_RETURN(const Diagonals d,
                         MakeDiagonals(p.attrs(), parameters ? p.value(2) : nullptr));
  const Shape& in = p.input_shape(0);
  const int64_t rows = in.dim(in.rank() - 2), cols = in.dim(in.rank() - 1);
  const int64_t batch = Product(in, 0, in.rank() - 2);
  const int64_t longest = p.input_shape(1).dim(p.input_shape(1).rank() - 1);
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  p.AllowInPlace(0, 0);
  return MakeKernel([=](RunContext& run) {
    CopyElements(threads, dtype, run.input(0), run.output(0), batch * rows * cols);
    if (rows == 0 || cols == 0) return absl::OkStatus();
    VisitStorage(dtype, [&]<typename T>() {
      const T* x = run.input<T>(1);
      T* y = run.output<T>(0);
      for (int64_t b = 0; b < batch; ++b, y += rows * cols, x += d.count() * longest) {
        ForEachElement(d, rows, cols, longest, [&](int64_t at, int64_t from) { y[at] = x[from]; });
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon

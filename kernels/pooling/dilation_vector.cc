#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/tap_range.h"
#include "kernels/pooling/dilation.h"
#include "kernels/pooling/dilation_simd.h"

namespace tenon {
namespace {

struct DilationProblem {
  DilationGeometry g;
  DilationColumns columns;
  DilationLoop loop;

  // Output row y, counted over all images.
  void Row(const float* in, const float* filter, int64_t y, float* out) const {
    const DilationAxis& rows = g.axes[0];
    const int64_t top = rows.at(y % rows.out, 0), in_row = columns.in * columns.channels;
    const TapRange taps = TapsInside(top, rows.in, rows.filter, rows.rate);
    DilationRow row{.filter_rows = taps.last - taps.first};
    if (row.filter_rows > 0) {  // otherwise, nothing is read
      row.in = in + (y / rows.out * rows.in + top + taps.first * rows.rate) * in_row;
      row.filter = filter + taps.first * columns.filter * columns.channels;
    }
    if (row.filter_rows > 1) row.in_step = rows.rate * in_row;
    loop(row, columns, out + y * columns.out * columns.channels);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorDilation(PrepareContext& p) {
  if (p.input_dtype(0) != DType::kFloat) return Unimplemented("only float");
  TENON_ASSIGN_OR_RETURN(const DilationGeometry g,
                         DilationGeometryOf(p.attrs(), p.input_shape(0), p.input_shape(1)));
  const DilationAxis& c = g.axes[1];
  const DilationProblem problem{
      g, {c.in, c.filter, c.out, c.stride, c.rate, c.pad, g.channels}, FindDilationLoop()};
  const int threads = p.services().threads;
  const double ns = 0.15 * static_cast<double>(c.out * g.channels) *
                    static_cast<double>(g.axes[0].filter * c.filter);
  return MakeKernel(
      [problem, threads, ns](RunContext& run) {
        const DilationGeometry& g = problem.g;
        ParallelFor(
            threads, g.batch * g.axes[0].out, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
              for (int64_t y = begin; y < end; ++y) {
                problem.Row(run.input<float>(0), run.input<float>(1), y, run.output<float>(0));
              }
            });
        return absl::OkStatus();
      },
      "vector");
}

}  // namespace tenon

// Pools of float and bfloat16 in vector code, channels last. oneDNN's kernels for this layout
// took 1.5 to 2.5 times as long in Inception v3.
#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/pooling/pool.h"
#include "kernels/pooling/pool_rows.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> PoolVectorKernel(PrepareContext& p, int spatial,
                                                         PoolKind kind) {
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, PoolGeometryOf(p, spatial));
  TENON_RETURN_IF_ERROR(CheckWindows(g));
  constexpr int64_t kMostTaps = int64_t{1} << 24;  // some 50 ms to find them
  if (!CheckTaps(g).ok() || g.out_positions() > kMostTaps / g.window_positions()) {
    return Unimplemented("too many windows");
  }
  // Threads share rows. Their number does not decide, because oneDNN's sums round differently.
  constexpr int64_t kFewestRows = 8;
  if (g.batch * (g.out_positions() / std::max<int64_t>(g.out.back(), 1)) < kFewestRows) {
    return Unimplemented("few rows");
  }
  TENON_ASSIGN_OR_RETURN(const VectorPool pool, VectorPoolOf(p, std::move(g), p.output_dtype(0)));
  TENON_ASSIGN_OR_RETURN(const RowTaps inputs, RowTaps::Make(pool, TapTable::Direction::kToInput));
  const PoolLoop loop = kind == PoolKind::kMax ? pool.loops.largest : pool.loops.mean;
  auto run = [pool, inputs, loop](RunContext& r) {
    inputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
      row.x = PoolElementAt(r.input(0), origin, pool);
      row.out = PoolElementAt(r.output(0), at, pool);
      loop(row);
    });
    return absl::OkStatus();
  };
  return MakeKernel(std::move(run), "vector");
}

}  // namespace tenon

#include "kernels/matmul/row_kernel.h"

#include <algorithm>
#include <utility>

#include "env/cpu.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/panel_kernel.h"
#include "kernels/matmul/panel_layout.h"
#include "kernels/matmul/row_product_simd.h"
#include "kernels/matmul/tile_kernel.h"
#include "kernels/matmul/tile_product.h"

namespace tenon {
namespace {

// Of one thread, for the grain: ranges of 2 us and more are worth a thread.
constexpr double kFlopsPerNs = 100, kLeastNs = 2000;
// Operands and results of rows that are computed together stay in the first-level cache.
constexpr int64_t kChunkBytes = 32 << 10, kLeastChunkRows = 48;
// Sums up to which results are written as fast as they are computed. If these do not fit in the
// second-level cache, whole rows are computed, one tile after the other: memory is written in
// order, twice as fast as panel by panel (6272 rows of 16 and 96 floats: 240 us, 480 by chunks of
// 16 rows; Zen 4).
constexpr int64_t kFewTerms = 64;
// With AVX2, the time of oneDNN's kernel over that of these loops is 1.1 to 2 up to this many
// operations, and 0.9 to 1.1 from there on (Zen 4).
constexpr double kMostAvx2Flops = 1e7;
constexpr size_t kAvx2Columns = 16;

class RowKernelImpl final : public Kernel {
 public:
  RowKernelImpl(PrepareContext& p, const RowsByMatrix& product, const RowPanels& panels_of,
                std::shared_ptr<const PackedWeights> weights, const FusedOps& fused)
      : product_(product),
        width_(static_cast<int64_t>(panels_of.width)),
        multiply_(FindRowProduct()),
        weights_(std::move(weights)),
        first_(PlanRegisterChain(p, fused)),
        rest_(p, first_.RestOf(fused), static_cast<size_t>(product.n)),
        threads_(ThreadsWorth(p.services().threads, Flops(), weights_->bytes())) {
    const int64_t panels = CeilDiv(product.n, width_);
    // The side that is larger is not read by all threads.
    by_columns_ = product.n > 2 * product.m && panels % threads_ == 0;
    units_ = by_columns_ ? panels : product.m;
    const double unit_ns = Flops() / static_cast<double>(units_) / kFlopsPerNs;
    grain_ = static_cast<int64_t>(kLeastNs / unit_ns) + 1;
    chunk_ = std::max(kChunkBytes / 4 / (product.n + product.k), kLeastChunkRows);
    // Large weights are read once for as many rows as the second-level cache keeps beside a panel.
    const size_t half_cache = SecondLevelCacheBytes() / 2;
    if (weights_->bytes() > half_cache) {
      chunk_ = std::max(chunk_, static_cast<int64_t>(half_cache / sizeof(float)) / product.k);
    }
    const bool in_order = product.k <= kFewTerms &&
                          static_cast<size_t>(product.m * product.n) * sizeof(float) > half_cache;
    step_ = in_order ? static_cast<int64_t>(panels_of.tile_rows) : chunk_;
    // Tiles store each of its elements after they have read it.
    if (first_.addend >= 0 && !SameInput(p, first_.addend, 0)) p.AllowInPlace(first_.addend, 0);
  }

  absl::Status Run(RunContext& r) const override {
    ParallelFor(threads_, units_, grain_, [&](int64_t begin, int64_t end) {
      if (by_columns_) {
        Compute(r, 0, product_.m, begin * width_, std::min(end * width_, product_.n));
      } else {
        Compute(r, begin, end, 0, product_.n);
      }
    });
    rest_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "rows"; }
  double Flops() const override {
    return 2.0 * static_cast<double>(product_.m) * static_cast<double>(product_.n) *
           static_cast<double>(product_.k);
  }

 private:
  void Compute(RunContext& r, int64_t first_row, int64_t last_row, int64_t first_column,
               int64_t last_column) const {
    const auto size = [](int64_t n) { return static_cast<size_t>(n); };
    RowProduct p;
    p.a_row = p.terms = size(product_.k);
    p.out_row = size(product_.n);
    p.part = EqualTerms(p.terms);
    p.width = size(width_);
    p.panel = p.width * p.terms;
    p.w = static_cast<const float*>(weights_->data()) + size(first_column) * p.terms;
    p.columns = size(last_column - first_column);
    p.clamp_low = first_.clamp_low;
    p.clamp_high = first_.clamp_high;
    if (first_.bias >= 0) p.bias = r.input<float>(first_.bias) + first_column;
    for (int64_t begin = first_row; begin < last_row; begin += chunk_) {
      const int64_t end = std::min(begin + chunk_, last_row);
      for (int64_t row = begin; row < end; row += step_) {
        p.rows = size(std::min(step_, end - row));
        p.a = r.input<float>(0) + row * product_.k;
        const int64_t at = row * product_.n + first_column;
        p.out = r.output<float>(0) + at;
        if (first_.addend >= 0) p.addend = r.input<float>(first_.addend) + at;
        multiply_(p);
      }
      rest_.Apply(r, {size(begin), size(end - begin), size(first_column), p.columns});
    }
  }

  const RowsByMatrix product_;
  const int64_t width_;  // of a panel
  const RowProductFn multiply_;
  const std::shared_ptr<const PackedWeights> weights_;
  const RegisterChain first_;
  const TileChain rest_;
  const int threads_;
  bool by_columns_ = false;
  int64_t units_ = 0, grain_ = 1;  // rows, or panels
  int64_t chunk_ = 0;              // rows
  int64_t step_ = 0;               // of a chunk that are computed together
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RowKernel(PrepareContext& p, const RowsByMatrix& product,
                                                  const FusedOps& fused) {
  const auto bytes = static_cast<size_t>(product.n * product.k) * sizeof(float);
  if (p.constant(1) == nullptr || product.n < 2 || bytes > product.most_bytes) {
    return Unimplemented("not a small constant matrix");
  }
  if (FindBlockedLoops().columns <= kAvx2Columns &&
      2.0 * static_cast<double>(product.m * product.n * product.k) > kMostAvx2Flops) {
    return Unimplemented("oneDNN is as fast");
  }
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  RowPanels panels = RowPanelsOf(size(product.n));
  // Tiles read no others.
  if (HasTileProducts()) panels.width = FindBlockedLoops().columns;
  const int threads = p.services().threads;
  auto layout = ElementPanels({size(product.k), size(product.n), product.transposed, panels.width},
                              sizeof(float), threads);
  const size_t panel_bytes = size(product.k) * panels.width * sizeof(float);
  const PanelSums sums{product.m, product.n, product.k, {panels.width, panel_bytes}, threads};
  if (product.m <= kFewRows) return FewRowsKernel(p, sums, std::move(layout), fused);
  auto tiles = TileKernel(p, sums, layout, fused);
  if (tiles.ok() || !absl::IsUnimplemented(tiles.status())) return tiles;
  TENON_ASSIGN_OR_RETURN(auto weights, PackConstant(*p.constant(1), std::move(layout)));
  p.InputNotRead(1);
  return std::make_unique<RowKernelImpl>(p, product, panels, std::move(weights), fused);
}

}  // namespace tenon

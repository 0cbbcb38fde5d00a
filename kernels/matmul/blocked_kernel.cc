#include "kernels/matmul/blocked_kernel.h"

#include <algorithm>
#include <utility>

#include "env/cpu.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"

namespace tenon {
namespace {

constexpr int64_t kMostRows = 144;  // of a task
constexpr int64_t kMostColumns = 1024;
constexpr int64_t kTasksPerThread = 2;
// Rows that are multiples of this many floats apart share few sets of the first-level cache.
constexpr int64_t kFewSets = 1024;

// The terms of a call of the loops: as many parts of a sum as are fast, and as leave an eighth of
// the second-level cache to weights and results. At least one part, of which 144 rows fit 256 KiB.
size_t BlockTerms(const BlockedLoops& loops, int64_t rows, int64_t depth) {
  const size_t part = EqualTerms(static_cast<size_t>(depth));
  const size_t cached =
      SecondLevelCacheBytes() / 8 * 7 / (static_cast<size_t>(rows) * sizeof(float));
  return std::max<size_t>(std::min(cached, loops.most_terms) / part, 1) * part;
}

class BlockedKernelImpl final : public Kernel {
 public:
  BlockedKernelImpl(const PrepareContext& p, const PanelSums& product, const BlockedLoops& loops,
                    std::shared_ptr<const PackedWeights> weights, const FusedOps& fused,
                    std::unique_ptr<const RowSource> source)
      : product_(product),
        loops_(loops),
        weights_(std::move(weights)),
        source_(std::move(source)),
        chain_(p, fused, static_cast<size_t>(product.n)),
        threads_(product.threads) {
    copies_ = source_ != nullptr || product.k % kFewSets == 0;
    row_parts_ = CeilDiv(product.m, kMostRows);
    strips_ = CeilDiv(product.n, static_cast<int64_t>(loops.columns));
    column_parts_ = CeilDiv(product.n, kMostColumns);
    const auto tasks = [this] { return row_parts_ * column_parts_; };
    // Several for each thread, so that a slow one does not delay the others much; each copies rows.
    const int64_t wanted = copies_ ? 1 : kTasksPerThread * threads_;
    while (column_parts_ < strips_ && tasks() < 4 * threads_ &&
           (tasks() % threads_ != 0 || tasks() < wanted)) {
      ++column_parts_;
    }
    rows_ = CeilDiv(product.m, row_parts_);
    terms_ = BlockTerms(loops, rows_, product.k);
    copy_row_ = CopiedRow(std::min(terms_, static_cast<size_t>(product.k)));
    if (source_ != nullptr && source_->Scatters()) {
      result_row_ = CeilDiv(strips_, column_parts_) * static_cast<int64_t>(loops.columns);
    }
  }

  size_t scratch_bytes() const {
    return static_cast<size_t>(threads_) * own_scratch() * sizeof(float);
  }

  absl::Status Run(RunContext& r) const override {
    const float* const a = r.input<float>(product_.input);
    float* const scratch = static_cast<float*>(r.scratch());
    ParallelTasks(threads_, row_parts_ * column_parts_, [&](int thread, int64_t i) {
      const OutputPart part = Part(i);
      float* const own = scratch + static_cast<size_t>(thread) * own_scratch();
      const auto all_columns = static_cast<size_t>(product_.n);
      if (result_row_ == 0) {
        Multiply(part, a, own, r.output<float>(0) + part.row * all_columns + part.column,
                 all_columns);
        chain_.Apply(r, part);
      } else {
        float* const result = own + block_floats();
        Multiply(part, a, own, result, static_cast<size_t>(result_row_));
        Scatter(r, part, result);
      }
    });
    chain_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return source_ == nullptr ? "blocks" : "gathered blocks";
  }
  double Flops() const override {
    return 2.0 * static_cast<double>(product_.m) * static_cast<double>(product_.n) *
           static_cast<double>(product_.k);
  }

 private:
  size_t block_floats() const { return static_cast<size_t>(rows_) * copy_row_; }
  size_t own_scratch() const { return block_floats() + static_cast<size_t>(rows_ * result_row_); }

  OutputPart Part(int64_t task) const {
    return PartOfTask(product_, {rows_, column_parts_, static_cast<int64_t>(loops_.columns)}, task);
  }

  // Moves a part's results to their rows.
  void Scatter(RunContext& r, OutputPart part, const float* result) const {
    const auto first = static_cast<int64_t>(part.row);
    const size_t rows = std::exchange(part.rows, 1);
    for (size_t i = 0; i < rows; ++i, result += result_row_) {
      part.row = static_cast<size_t>(source_->OutputRow(first + static_cast<int64_t>(i)));
      std::copy_n(result, part.columns,
                  r.output<float>(0) + part.row * static_cast<size_t>(product_.n) + part.column);
      chain_.Apply(r, part);
    }
  }

  void Multiply(const OutputPart& part, const float* a, float* block, float* out,
                size_t out_row) const {
    const auto depth = static_cast<size_t>(product_.k);
    BlockedProduct p;
    p.part = EqualTerms(depth);
    p.a_row = copies_ ? copy_row_ : depth;
    p.rows = part.rows;
    p.column = part.column;
    p.columns = part.columns;
    p.width = product_.panels.width;
    p.panel = product_.panels.panel_bytes / sizeof(float);
    p.out_row = out_row;
    p.out = out;
    const float* const w =
        static_cast<const float*>(weights_->data()) + product_.panels_at / sizeof(float);
    // The part's first weights.
    const float* const first = w + p.column / p.width * p.panel + p.column % p.width;
    const bool more_rows = part.row + part.rows < static_cast<size_t>(product_.m);
    p.next_row = depth;
    for (size_t k = 0; k < depth && part.rows > 0; k += terms_) {
      p.terms = std::min(terms_, depth - k);
      p.w = w + k * p.width;
      p.add = k > 0;
      p.a = copies_ ? block : a + part.row * depth + k;
      if (copies_) CopyBlock(part, k, p.terms, a, block);
      const bool more = k + terms_ < depth;
      p.next_w = more ? first + (k + terms_) * p.width : (more_rows ? first : nullptr);
      p.next_terms = std::min(terms_, depth - (more ? k + terms_ : 0));
      p.next = NextBlock(part, k + terms_, p.next_terms, a);
      loops_.multiply(p);
    }
  }

  // The block that begins with term k, of these rows or else of the next ones; null if there is
  // none, if the cache is not large enough for two, or rows are gathered.
  const float* NextBlock(const OutputPart& part, size_t k, size_t terms, const float* a) const {
    const auto depth = static_cast<size_t>(product_.k);
    const bool room = 2 * part.rows * terms * sizeof(float) <= SecondLevelCacheBytes() / 8 * 5;
    if (source_ != nullptr || !room) return nullptr;
    if (k < depth) return a + part.row * depth + k;
    const bool more = part.row + 2 * part.rows <= static_cast<size_t>(product_.m);
    return more ? a + (part.row + part.rows) * depth : nullptr;
  }

  void CopyBlock(const OutputPart& part, size_t k, size_t terms, const float* a,
                 float* block) const {
    if (source_ != nullptr) {
      source_->Copy(a, static_cast<int64_t>(part.row), static_cast<int64_t>(part.rows),
                    static_cast<int64_t>(k), static_cast<int64_t>(terms), block,
                    static_cast<int64_t>(copy_row_));
      return;
    }
    const auto depth = static_cast<size_t>(product_.k);
    for (size_t i = 0; i < part.rows; ++i) {
      std::copy_n(a + (part.row + i) * depth + k, terms, block + i * copy_row_);
    }
  }

  const PanelSums product_;
  const BlockedLoops loops_;
  const std::shared_ptr<const PackedWeights> weights_;
  const std::unique_ptr<const RowSource> source_;
  const TileChain chain_;
  const int threads_;
  bool copies_ = false;
  int64_t rows_ = 0, row_parts_ = 0, strips_ = 0, column_parts_ = 0;
  size_t terms_ = 0, copy_row_ = 0;  // of a block; from row to row of a copy
  int64_t result_row_ = 0;           // likewise of results that are scattered
};

}  // namespace

OutputPart PartOfTask(const PanelSums& product, const PartSizes& sizes, int64_t task) {
  const int64_t i = task / sizes.column_parts, j = task % sizes.column_parts;
  const int64_t strips = CeilDiv(product.n, sizes.strip);
  const int64_t row = i * sizes.rows, rows = std::min(sizes.rows, product.m - row);
  const int64_t column = strips * j / sizes.column_parts * sizes.strip;
  const int64_t end = std::min(strips * (j + 1) / sizes.column_parts * sizes.strip, product.n);
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  return {size(row), size(std::max<int64_t>(rows, 0)), size(column), size(end - column)};
}

absl::StatusOr<std::unique_ptr<Kernel>> BlockedKernel(PrepareContext& p, const PanelSums& product,
                                                      std::shared_ptr<const PackedLayout> layout,
                                                      const FusedOps& fused,
                                                      std::unique_ptr<const RowSource> rows) {
  const BlockedLoops loops = FindBlockedLoops();
  const bool one = product.n <= static_cast<int64_t>(product.panels.width);
  if (!loops.supports(product.panels.width, one)) {
    return Unimplemented("no loops for panels of this width");
  }
  TENON_ASSIGN_OR_RETURN(auto weights, PackConstant(*p.constant(1), std::move(layout)));
  auto kernel = std::make_unique<BlockedKernelImpl>(p, product, loops, std::move(weights), fused,
                                                    std::move(rows));
  p.RequestScratch(kernel->scratch_bytes());
  p.InputNotRead(1);
  return kernel;
}

}  // namespace tenon

#include "kernels/matmul/tile_kernel.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "env/flags.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/tile_product.h"

namespace tenon {
namespace {

// Of a task: its rows in parts take up to two thirds of a second-level cache of 2 MiB.
constexpr int64_t kMostTaskRows = 208;
// The rest of the chain is applied after this many columns, while they are still in the cache.
constexpr size_t kChainColumns = 256;

// Nanoseconds of one thread, measured on Sapphire Rapids: for a multiplication, for splitting a
// float of a (and gathering it), for splitting a weight, for storing a result, and for a run (all
// threads wait for the first weights and for rows that other cores hold).
constexpr double kMultiply = 0.0062;
constexpr double kSplit = 0.13, kGather = 0.1, kSplitWeight = 0.26, kStore = 0.3, kRun = 5000;
// Those of vector code: for a multiplication, and for reading a weight; with few rows, weights are
// read while others are multiplied (16 × 768 by 768 × 3072, 2 threads: .26 ms, on tiles .39).
constexpr double kVectorMultiply = 0.0118, kReadWeight = 0.3, kReadWeightForFewRows = 0.13;
constexpr int64_t kFewRows = 24;
// Tiles must be estimated to be this many times as fast with this many threads. (The estimate does
// not depend on the actual number of threads, so that the bits of results do not.)
constexpr double kLeastSpeed = 1.12;
constexpr int kEstimateThreads = 2;
// Of rows that are gathered, in parts.
constexpr size_t kCopiedRow = CopiedRow(kPartTerms);

// How the output is cut into tasks: blocks of `rows` rows by ranges of strips, which are
// kTileColumns columns.
struct TileTasks {
  int64_t rows = 0, row_parts = 0, column_parts = 0;
  double ns = 0;  // of all tasks on all threads
};

double TaskNs(const PanelSums& product, int64_t rows, int64_t columns, bool gathered) {
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  const double multiplications = static_cast<double>(RoundUp(size(rows), kTileRows)) *
                                 static_cast<double>(RoundUp(size(columns), kTileColumns / 2)) *
                                 static_cast<double>(RoundUp(size(product.k), kTileTerms));
  const double r = static_cast<double>(rows), c = static_cast<double>(columns);
  const double k = static_cast<double>(product.k);
  return kMultiply * multiplications + r * k * (kSplit + (gathered ? kGather : 0)) +
         k * c * kSplitWeight + r * c * kStore;
}

TileTasks ChooseTasks(const PanelSums& product, bool gathered) {
  const auto row_tile = static_cast<int64_t>(kTileRows);
  const auto strip = static_cast<int64_t>(kTileColumns);
  const int64_t strips = CeilDiv(product.n, strip);
  TileTasks best;
  for (int64_t wanted = CeilDiv(product.m, kMostTaskRows);; wanted *= 2) {
    TileTasks tasks;
    tasks.rows = CeilDiv(CeilDiv(product.m, wanted), row_tile) * row_tile;
    tasks.row_parts = CeilDiv(product.m, tasks.rows);
    tasks.column_parts = std::min(strips, CeilDiv(product.threads, tasks.row_parts));
    // A number of tasks that keeps all threads busy to the end, if there are few.
    while (tasks.column_parts < strips &&
           tasks.row_parts * tasks.column_parts < 4 * product.threads &&
           tasks.row_parts * tasks.column_parts % product.threads != 0) {
      ++tasks.column_parts;
    }
    const int64_t columns = std::min(product.n, CeilDiv(strips, tasks.column_parts) * strip);
    const int64_t turns = CeilDiv(tasks.row_parts * tasks.column_parts, product.threads);
    tasks.ns = static_cast<double>(turns) *
               TaskNs(product, std::min(tasks.rows, product.m), columns, gathered);
    if (best.rows == 0 || tasks.ns < best.ns) best = tasks;
    if (tasks.rows == row_tile) return best;
  }
}

class TileKernelImpl final : public Kernel {
 public:
  TileKernelImpl(const PrepareContext& p, const PanelSums& product,
                 std::shared_ptr<const PackedWeights> weights, const FusedOps& fused,
                 std::unique_ptr<const RowSource> source)
      : product_(product),
        tasks_(ChooseTasks(product, source != nullptr)),
        threads_(static_cast<int>(std::min<int64_t>(product.threads, NumTasks()))),
        loops_(FindBlockedLoops()),
        weights_(std::move(weights)),
        source_(std::move(source)),
        first_(PlanRegisterChain(p, fused)),
        rest_(p, first_.RestOf(fused), static_cast<size_t>(product.n)),
        first_again_(p,
                     FusedOps(fused.begin(), fused.begin() + static_cast<ptrdiff_t>(first_.count)),
                     static_cast<size_t>(product.n)) {
    const auto rows = static_cast<size_t>(tasks_.rows);
    const size_t blocks = (depth() + kMostTileTerms - 1) / kMostTileTerms;
    terms_ = RoundUp((depth() + blocks - 1) / blocks, kTileTerms);
    const auto place = [this](size_t bytes) {
      return std::exchange(scratch_, scratch_ + RoundUp(bytes, kCacheLine));
    };
    parts_at_ = place(TileRowsBytes(rows, terms_));
    loops_at_ = place(TileProductScratch(rows));
    largest_at_ = place(rows * sizeof(uint32_t));
    if (source_ != nullptr) block_at_ = place(rows * kCopiedRow * sizeof(float));
  }

  size_t scratch_bytes() const { return static_cast<size_t>(threads_) * scratch_; }

  absl::Status Run(RunContext& r) const override {
    char* const scratch = static_cast<char*>(r.scratch());
    ParallelTasks(threads_, NumTasks(), [&](int thread, int64_t i) {
      Compute(r, Part(i), scratch + static_cast<size_t>(thread) * scratch_);
    });
    rest_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return source_ == nullptr ? "tiles" : "gathered tiles";
  }
  double Flops() const override {
    return 2.0 * static_cast<double>(product_.m) * static_cast<double>(product_.n) *
           static_cast<double>(product_.k);
  }

 private:
  int64_t NumTasks() const { return tasks_.row_parts * tasks_.column_parts; }
  size_t depth() const { return static_cast<size_t>(product_.k); }
  size_t columns() const { return static_cast<size_t>(product_.n); }
  size_t panel() const { return product_.panels.panel_bytes / sizeof(float); }
  const float* weights(size_t term) const {
    return static_cast<const float*>(weights_->data()) + term * product_.panels.width;
  }

  OutputPart Part(int64_t task) const {
    return PartOfTask(product_,
                      {tasks_.rows, tasks_.column_parts, static_cast<int64_t>(kTileColumns)}, task);
  }

  void Compute(RunContext& r, const OutputPart& part, char* scratch) const {
    const float* const a = r.input<float>(0);
    float* const out = r.output<float>(0) + part.row * columns();
    auto* const largest = reinterpret_cast<uint32_t*>(scratch + largest_at_);
    std::fill_n(largest, part.rows, 0u);
    TileProduct p;
    p.a.parts = reinterpret_cast<uint16_t*>(scratch + parts_at_);
    p.a.rows = part.rows;
    p.scratch = scratch + loops_at_;
    p.width = product_.panels.width;
    p.panel = panel();
    p.out_row = columns();
    size_t inexact = 0;  // rows
    for (size_t k = 0; k < depth(); k += terms_) {
      p.a.terms = std::min(terms_, depth() - k);
      Split(part, k, a, scratch, p.a);
      const bool last = k + terms_ >= depth();
      if (last) {
        inexact =
            static_cast<size_t>(std::count_if(largest, largest + part.rows, IsInexactOnTiles));
      }
      if (inexact == part.rows) break;
      p.w = weights(k);
      p.add = k > 0;
      for (size_t j = 0; j < part.columns; j += kChainColumns) {
        const OutputPart some = {part.row, part.rows, part.column + j,
                                 std::min(kChainColumns, part.columns - j)};
        p.column = some.column;
        p.columns = some.columns;
        p.out = out + some.column;
        if (last) p.finish = Finish(r, some);
        MultiplyTiles(p);
        if (last && inexact == 0) rest_.Apply(r, some);
      }
    }
    if (inexact == 0) return;
    for (size_t i = 0, end = 0; i < part.rows; i = end) {
      const bool exact = !IsInexactOnTiles(largest[i]);
      while (end < part.rows && IsInexactOnTiles(largest[end]) != exact) ++end;
      if (exact) continue;
      const OutputPart rows = {part.row + i, end - i, part.column, part.columns};
      MultiplyInVectorCode(rows, a, scratch, r.output<float>(0));
      first_again_.Apply(r, rows);
    }
    rest_.Apply(r, part);
  }

  TileFinish Finish(RunContext& r, const OutputPart& part) const {
    TileFinish finish;
    if (first_.bias >= 0) finish.bias = r.input<float>(first_.bias) + part.column;
    if (first_.addend >= 0) {
      finish.addend = r.input<float>(first_.addend) + part.row * columns() + part.column;
    }
    finish.clamp_low = first_.clamp_low;
    finish.clamp_high = first_.clamp_high;
    return finish;
  }

  // The terms from k on of the rows of `part`, in parts.
  void Split(const OutputPart& part, size_t k, const float* a, char* scratch,
             const TileRows& to) const {
    auto* const largest = reinterpret_cast<uint32_t*>(scratch + largest_at_);
    if (source_ == nullptr) {
      return SplitRows(a + part.row * depth() + k, depth(), 0, to.terms, to, largest);
    }
    float* const block = reinterpret_cast<float*>(scratch + block_at_);
    for (size_t first = 0; first < to.terms; first += kPartTerms) {
      const size_t terms = std::min(kPartTerms, to.terms - first);
      Copy(part.row, part.rows, k + first, terms, a, block);
      SplitRows(block, kCopiedRow, first, terms, to, largest);
    }
  }

  void MultiplyInVectorCode(const OutputPart& part, const float* a, char* scratch,
                            float* out) const {
    float* const block = reinterpret_cast<float*>(scratch + block_at_);
    const size_t terms = EqualTerms(depth());
    BlockedProduct p;
    p.part = terms;
    p.a_row = source_ == nullptr ? depth() : kCopiedRow;
    p.rows = part.rows;
    p.column = part.column;
    p.columns = part.columns;
    p.width = product_.panels.width;
    p.panel = panel();
    p.out_row = columns();
    p.out = out + part.row * columns() + part.column;
    for (size_t k = 0; k < depth(); k += terms) {
      p.terms = std::min(terms, depth() - k);
      p.w = weights(k);
      p.add = k > 0;
      p.a = source_ == nullptr ? a + part.row * depth() + k : block;
      if (source_ != nullptr) Copy(part.row, part.rows, k, p.terms, a, block);
      loops_.multiply(p);
    }
  }

  void Copy(size_t row, size_t rows, size_t term, size_t terms, const float* a, float* to) const {
    const auto size = [](size_t n) { return static_cast<int64_t>(n); };
    source_->Copy(a, size(row), size(rows), size(term), size(terms), to, kCopiedRow);
  }

  const PanelSums product_;
  const TileTasks tasks_;
  const int threads_;
  const BlockedLoops loops_;
  const std::shared_ptr<const PackedWeights> weights_;
  const std::unique_ptr<const RowSource> source_;
  // The output must not overlap an addend: rows are written before they are complete.
  const RegisterChain first_;    // applied in registers
  const TileChain rest_;         // the remaining ops
  const TileChain first_again_;  // `first_` as steps, for rows that vector code computes
  size_t terms_ = 0;             // of a block of a
  // Of each thread: where its rows in parts are, what the loops need, the largest magnitude of each
  // row, and gathered rows.
  size_t scratch_ = 0, parts_at_ = 0, loops_at_ = 0, largest_at_ = 0, block_at_ = 0;
};

// Whether tiles multiply the weights exactly, and without overflow.
bool TilesRead(const PackedWeights& weights, const PanelSums& product) {
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  const size_t width = product.panels.width;
  const size_t panel = product.panels.panel_bytes / sizeof(float);
  return weights.WithinLimit(product.threads) && weights.Checked([&] {
    std::atomic<bool> tiny = false;
    const double ns = 0.05 * static_cast<double>(product.k) * static_cast<double>(width);
    ParallelFor(product.threads, CeilDiv(product.n, static_cast<int64_t>(width)), ParallelGrain(ns),
                [&](int64_t begin, int64_t end) {
                  const size_t first = size(begin) * width;
                  const size_t columns = std::min(size(end) * width, size(product.n)) - first;
                  if (HasTinyColumn(static_cast<const float*>(weights.data()) + size(begin) * panel,
                                    size(product.k), columns, width, panel)) {
                    tiny = true;
                  }
                });
    return !tiny;
  });
}

// Whether the CPU has tiles, and they pay. `gathered`: the rows come from a RowSource.
bool TilesPay(const PrepareContext& p, const PanelSums& product, bool gathered) {
  const size_t width = product.panels.width;
  const bool one = product.n <= static_cast<int64_t>(width);
  constexpr int64_t kNever = 0, kAlways = 2;
  const Flags* const flags = p.services().flags;
  const int64_t use = flags == nullptr ? Flags().tiles : flags->tiles;
  if (use == kNever || !HasTileProducts() || width % (kTileColumns / 2) != 0 ||
      !FindBlockedLoops().supports(width, one)) {
    return false;
  }
  if (use == kAlways) return true;
  const double weights = static_cast<double>(product.n) * static_cast<double>(product.k);
  const double read = product.m <= kFewRows ? kReadWeightForFewRows : kReadWeight;
  const double vector_ns =
      weights * (kVectorMultiply * static_cast<double>(product.m) + read) / kEstimateThreads;
  PanelSums estimate = product;
  estimate.threads = kEstimateThreads;
  return vector_ns >= kLeastSpeed * (ChooseTasks(estimate, gathered).ns + kRun);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> TileKernel(PrepareContext& p, const PanelSums& product,
                                                   std::shared_ptr<const PackedLayout> layout,
                                                   const FusedOps& fused,
                                                   std::unique_ptr<const RowSource> rows) {
  if (!TilesPay(p, product, rows != nullptr)) return Unimplemented("vector code is as fast");
  TENON_ASSIGN_OR_RETURN(auto weights, PackConstant(*p.constant(1), std::move(layout)));
  if (!TilesRead(*weights, product)) return Unimplemented("weights that tiles would round");
  auto kernel =
      std::make_unique<TileKernelImpl>(p, product, std::move(weights), fused, std::move(rows));
  p.RequestScratch(kernel->scratch_bytes());
  p.InputNotRead(1);
  return kernel;
}

}  // namespace tenon

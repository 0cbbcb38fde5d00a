#include "kernels/matmul/bfloat16_kernel.h"

#include <algorithm>
#include <utility>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/interface/parallel.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

// Nanoseconds of one thread: of a row by a strip, for 32 terms and for what follows the sums; for
// reading a byte of weights or rows, and for copying one of rows; of a task.
constexpr double kStepNs = 0.7, kFinishNs = 3, kReadNs = 0.05, kCopyNs = 0.03, kTaskNs = 1000;

}  // namespace

Bfloat16Part ChooseBfloat16Part(const Bfloat16Work& work, const Bfloat16Strips& weights,
                                int threads) {
  const size_t strips = weights.strips(), all_threads = static_cast<size_t>(threads);
  Bfloat16Part best;
  double best_ns = 0;
  for (size_t lines = work.lines;; lines = (lines + 1) / 2) {
    const size_t bytes = work.bytes(lines);
    if (bytes > kMostRowBytes && lines > 1) continue;
    const size_t line_parts = (work.lines + lines - 1) / lines;
    for (size_t parts = 1; parts <= std::min(strips, 2 * all_threads); ++parts) {
      Bfloat16Part part;
      part.lines = lines;
      part.strips = (strips + parts - 1) / parts;
      part.line_parts = line_parts;
      part.strip_parts = (strips + part.strips - 1) / part.strips;
      const size_t tasks = work.images * part.line_parts * part.strip_parts;
      const double turns = static_cast<double>((tasks + all_threads - 1) / all_threads);
      const double rows = static_cast<double>(lines * work.per_line);
      const double steps = static_cast<double>(weights.taps * weights.steps());
      const double task =
          rows * static_cast<double>(part.strips) * (steps * kStepNs + kFinishNs) +
          static_cast<double>(part.strips * weights.strip_bytes() + bytes) * kReadNs +
          (work.copied ? static_cast<double>(bytes) * kCopyNs : 0) + kTaskNs;
      if (best.line_parts != 0 && turns * task >= best_ns) continue;
      best = part;
      best_ns = turns * task;
    }
    if (lines == 1) return best;
  }
}

std::optional<Bfloat16Chain> PlanBfloat16Chain(const PrepareContext& p, const FusedOps& fused) {
  Bfloat16Chain chain{.first = PlanRegisterChain(p, fused)};
  if (chain.first.clamp_low) {
    chain.last = chain.first.clamp_high ? Bfloat16Last::kRelu6 : Bfloat16Last::kRelu;
  }
  const FusedOps rest = chain.first.RestOf(fused);
  if (rest.empty()) return chain;
  if (rest.size() > 1 || chain.first.clamp_low) return std::nullopt;
  switch (rest[0].op) {
    case ElementwiseOp::kSwish:
      chain.last = Bfloat16Last::kSwish;
      return chain;
    case ElementwiseOp::kGeluExact:
      chain.last = Bfloat16Last::kGeluExact;
      return chain;
    case ElementwiseOp::kGeluApproximate:
      chain.last = Bfloat16Last::kGeluApproximate;
      return chain;
    default:
      return std::nullopt;
  }
}

Bfloat16Finish Bfloat16Chain::Finish(RunContext& r) const {
  Bfloat16Finish finish;
  if (first.bias >= 0) finish.bias = r.input<uint16_t>(first.bias);
  if (first.addend >= 0) finish.addend = r.input<uint16_t>(first.addend);
  finish.last = last;
  return finish;
}

absl::StatusOr<std::shared_ptr<const PackedWeights>> PackBfloat16Weights(
    PrepareContext& p, const Bfloat16Strips& strips, int threads) {
  TENON_ASSIGN_OR_RETURN(auto weights,
                         PackConstant(*p.constant(1), Bfloat16StripLayout(strips, threads)));
  p.InputNotRead(1);
  return weights;
}

Bfloat16TaskKernel::Bfloat16TaskKernel(const Bfloat16Work& work, const Bfloat16Strips& strips,
                                       std::shared_ptr<const PackedWeights> weights,
                                       const Bfloat16Chain& chain, int threads)
    : work_(work),
      strips_(strips),
      part_(ChooseBfloat16Part(work, strips, threads)),
      threads_(static_cast<int>(std::min<int64_t>(threads, NumTasks()))),
      weights_(std::move(weights)),
      chain_(chain) {}

absl::Status Bfloat16TaskKernel::Run(RunContext& r) const {
  char* const scratch = static_cast<char*>(r.scratch());
  const size_t bytes = TaskBytes();
  ParallelTasks(threads_, NumTasks(), [&](int thread, int64_t task) {
    Compute(r, static_cast<size_t>(task), scratch + static_cast<size_t>(thread) * bytes);
  });
  return absl::OkStatus();
}

Bfloat16Product Bfloat16TaskKernel::ProductOf(RunContext& r, size_t task) const {
  Bfloat16Product p;
  p.strips = strips_;
  p.first_strip = task % part_.strip_parts * part_.strips;
  p.end_strip = std::min(p.first_strip + part_.strips, strips_.strips());
  p.weights = static_cast<const char*>(weights_->data());
  p.out = r.output<uint16_t>(0);
  p.finish = chain_.Finish(r);
  return p;
}

namespace {

class DenseKernel final : public Bfloat16TaskKernel {
 public:
  DenseKernel(Bfloat16Dense product, const Bfloat16Strips& strips, const Bfloat16Work& work,
              std::shared_ptr<const PackedWeights> weights, const Bfloat16Chain& chain, int threads)
      : Bfloat16TaskKernel(work, strips, std::move(weights), chain, threads),
        product_(std::move(product)) {}

  double Flops() const override { return product_.flops(); }
  size_t HeldBytes() const override { return product_.places.size() * sizeof(size_t); }

 private:
  // The copied rows of a task.
  size_t TaskBytes() const override {
    if (!work_.copied) return 0;
    const size_t elements = PackedBfloat16Elements(strips_, part_.lines * work_.per_line);
    return RoundUp(elements * sizeof(uint16_t), kCacheLine);
  }

  void Compute(RunContext& r, size_t task, char* scratch) const override {
    const size_t line = task / part_.strip_parts * part_.lines;
    const size_t first_row = line * work_.per_line;
    Bfloat16Product p = ProductOf(r, task);
    p.rows = std::min(part_.lines, work_.lines - line) * work_.per_line;
    p.a = r.input<uint16_t>(0);
    p.a_row = product_.terms;
    p.only_row = product_.rows == 1;
    const size_t tap = 0;
    p.taps = &tap;
    if (product_.places.empty()) {
      p.a += first_row * product_.terms;
    } else {
      p.a_rows = product_.places.data() + first_row;
    }
    if (work_.copied) p.packed = reinterpret_cast<uint16_t*>(scratch);
    p.out_first = first_row;
    MultiplyBfloat16Tiles(p);
  }

  const Bfloat16Dense product_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Bfloat16DenseKernel(PrepareContext& p,
                                                            Bfloat16Dense product,
                                                            const FusedOps& fused) {
  if (p.output_dtype(0) != DType::kBfloat16 || !AllowsTiles() || p.constant(1) == nullptr) {
    return Unimplemented("no product of bfloat16 for tiles");
  }
  const std::optional<Bfloat16Chain> chain = PlanBfloat16Chain(p, fused);
  if (!chain.has_value()) return Unimplemented("another chain");
  Bfloat16Strips strips;
  strips.channels = product.terms;
  strips.columns = product.columns;
  strips.transposed = product.transposed;
  Bfloat16Work work;
  work.lines = product.rows;
  work.per_line = 1;
  // In pieces of which the rows fill tiles.
  constexpr size_t kPiece = 32;
  if (work.lines % kPiece == 0) {
    work.per_line = kPiece;
    work.lines /= kPiece;
  }
  // Longer rows do not stay in the first-level cache; tiles read a copy in their order as fast from
  // the next one.
  constexpr size_t kLongRow = 384;
  work.copied = !product.places.empty() || product.terms % kBfloat16TileTerms != 0 ||
                product.terms > kLongRow;
  work.line_bytes = work.per_line * product.terms * sizeof(uint16_t);
  const int threads =
      ThreadsWorth(p.services().threads, product.flops(), strips.strips() * strips.strip_bytes());
  TENON_ASSIGN_OR_RETURN(auto weights, PackBfloat16Weights(p, strips, threads));
  auto kernel = std::make_unique<DenseKernel>(std::move(product), strips, work, std::move(weights),
                                              *chain, threads);
  p.RequestScratch(kernel->scratch_bytes());
  return kernel;
}

}  // namespace tenon

#include "kernels/contraction/vector_tail.h"

#include <algorithm>

#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// Smaller results are not worth a second pass.
constexpr int64_t kLeastElements = int64_t{1} << 15;
// The results of one step that stay in the first-level cache for the next.
constexpr int64_t kBlock = 4096;

bool FasterOutside(ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  return info->post_op.has_value() && info->post_op->faster_outside;
}

// Channels may come first, so per-channel operands are not handled here.
std::optional<NodeTileStep> StepOf(const PrepareContext& p, const FusedOp& op) {
  if (op.bias) return std::nullopt;
  std::optional<NodeTileStep> s = TileStepOf(p, op);
  if (s.has_value() && s->step.kind == TileStep::Operand::kPerChannel) return std::nullopt;
  return s;
}

}  // namespace

size_t VectorTail::Begin(const PrepareContext& p, const FusedOps& fused) {
  if (p.output_dtype(0) != DType::kFloat) return fused.size();
  if (p.output_shape(0).num_elements() < kLeastElements) return fused.size();
  for (size_t i = 0; i < fused.size(); ++i) {
    if (!FasterOutside(fused[i].op)) continue;
    const auto can_run = [&](const FusedOp& op) { return StepOf(p, op).has_value(); };
    const auto at = fused.begin() + static_cast<ptrdiff_t>(i);
    return std::all_of(at, fused.end(), can_run) ? i : fused.size();
  }
  return fused.size();
}

VectorTail::VectorTail(const PrepareContext& p, absl::Span<const FusedOp> ops)
    : elements_(p.output_shape(0).num_elements()), threads_(p.services().threads) {
  double ns = 0;
  for (const FusedOp& op : ops) {
    steps_.push_back(*StepOf(p, op));
    ns += steps_.back().ns;
  }
  grain_ = ParallelGrain(ns * kBlock);
}

void VectorTail::Run(RunContext& r, void* result) const {
  if (steps_.empty()) return;
  float* const out = static_cast<float*>(result);
  const int64_t blocks = (elements_ + kBlock - 1) / kBlock;
  ParallelFor(threads_, blocks, grain_, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * kBlock; at < std::min(end * kBlock, elements_); at += kBlock) {
      const auto n = static_cast<size_t>(std::min(kBlock, elements_ - at));
      for (const NodeTileStep& s : steps_) {
        const float* b = s.input < 0 ? nullptr : r.input<float>(s.input);
        if (s.step.kind == TileStep::Operand::kWhole) b += at;
        s.step.fn(out + at, b, nullptr, out + at, n, s.step.parameter);
      }
    }
  });
}

}  // namespace tenon

#include "kernels/contraction/vector_tail.h"

#include <algorithm>

#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

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

bool VectorTail::CanRun(const PrepareContext& p, absl::Span<const FusedOp> ops) {
  return p.output_dtype(0) == DType::kFloat &&
         std::all_of(ops.begin(), ops.end(),
                     [&](const FusedOp& op) { return StepOf(p, op).has_value(); });
}

size_t VectorTail::Begin(const PrepareContext& p, const FusedOps& fused) {
  const auto first = std::find_if(fused.begin(), fused.end(),
                                  [](const FusedOp& op) { return FasterOutside(op.op); });
  const auto begin = static_cast<size_t>(first - fused.begin());
  return CanRun(p, absl::MakeConstSpan(fused).subspan(begin)) ? begin : fused.size();
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

#include "kernels/contraction/tile_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tenon {
namespace {

constexpr size_t kElementsTogether = 2048;  // they stay in the first-level cache

}  // namespace

TileChain::TileChain(const PrepareContext& p, const FusedOps& fused, size_t columns)
    : columns_(columns) {
  for (const FusedOp& op : fused) {
    std::optional<NodeTileStep> step = TileStepOf(p, op);
    if (!step.has_value()) {
      steps_.clear();
      rest_ = FusedPass(p, fused, p.output_shape(0).rank() - 1);
      return;
    }
    by_row_ = by_row_ || step->step.kind == TileStep::Operand::kPerChannel;
    steps_.push_back(*std::move(step));
  }
}

void TileChain::Apply(RunContext& r, const OutputPart& part) const {
  if (steps_.empty()) return;
  // Whole rows are adjacent: short ones are computed together.
  const bool together = part.columns == columns_ && !by_row_;
  const size_t rows = together ? std::max<size_t>(kElementsTogether / columns_, 1) : 1;
  for (size_t row = 0; row < part.rows; row += rows) {
    const size_t at = (part.row + row) * columns_ + part.column;
    const size_t count = std::min(rows, part.rows - row) * part.columns;
    float* const out = r.output<float>(0) + at;
    for (const NodeTileStep& s : steps_) {
      const float* b = s.input < 0 ? nullptr : r.input<float>(s.input);
      if (s.step.kind == TileStep::Operand::kPerChannel) b += part.column;
      if (s.step.kind == TileStep::Operand::kWhole) b += at;
      s.step.fn(out, b, nullptr, out, count, s.step.parameter);
    }
  }
}

void TileChain::Finish(RunContext& r) const { rest_.Run(r, r.output(0)); }

}  // namespace tenon

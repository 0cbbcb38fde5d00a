#include "kernels/contraction/tile_chain.h"

#include <optional>
#include <utility>

namespace tenon {

TileChain::TileChain(const PrepareContext& p, const FusedOps& fused, size_t columns)
    : columns_(columns) {
  for (const FusedOp& op : fused) {
    std::optional<NodeTileStep> step = TileStepOf(p, op);
    if (!step.has_value()) {
      steps_.clear();
      rest_ = FusedPass(p, fused, p.output_shape(0).rank() - 1);
      return;
    }
    steps_.push_back(*std::move(step));
  }
}

void TileChain::Apply(RunContext& r, const OutputPart& part) const {
  if (steps_.empty()) return;
  for (size_t row = part.row; row < part.row + part.rows; ++row) {
    const size_t at = row * columns_ + part.column;
    float* const out = r.output<float>(0) + at;
    for (const NodeTileStep& s : steps_) {
      const float* b = s.input < 0 ? nullptr : r.input<float>(s.input);
      if (s.step.kind == TileStep::Operand::kPerChannel) b += part.column;
      if (s.step.kind == TileStep::Operand::kWhole) b += at;
      s.step.fn(out, b, nullptr, out, part.columns, s.step.parameter);
    }
  }
}

void TileChain::Finish(RunContext& r) const { rest_.Run(r, r.output(0)); }

}  // namespace tenon

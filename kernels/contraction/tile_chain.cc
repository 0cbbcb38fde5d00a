#include "kernels/contraction/tile_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace tenon {
namespace {

constexpr size_t kElementsTogether = 2048;  // they stay in the first-level cache
// Of elements of a row for which calls for single rows cost more than copies of their operands.
constexpr size_t kShortRow = 128;

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
    row_operands_ += step->step.kind == TileStep::Operand::kPerChannel;
    whole_operands_ |= step->step.kind == TileStep::Operand::kWhole;
    steps_.push_back(*std::move(step));
  }
}

void TileChain::Apply(RunContext& r, const OutputPart& part) const {
  if (steps_.empty()) return;
  ApplyAt(r, part, r.output<float>(0) + part.row * columns_ + part.column, columns_);
}

void TileChain::ApplyAt(RunContext& r, const OutputPart& part, float* out, size_t row) const {
  if (steps_.empty()) return;
  // Whole rows are adjacent: short ones are computed together, with as many copies of an operand
  // that is a row.
  size_t rows = 1;
  if (part.columns == row && (row_operands_ == 0 || row <= kShortRow) &&
      (row == columns_ || !whole_operands_)) {
    rows = std::clamp<size_t>(kElementsTogether / row, 1, std::max<size_t>(part.rows, 1));
  }
  absl::InlinedVector<float, kElementsTogether> copies;
  absl::InlinedVector<const float*, 4> operands;
  for (const NodeTileStep& s : steps_) {
    const float* b = s.input < 0 ? nullptr : r.input<float>(s.input);
    if (s.step.kind == TileStep::Operand::kPerChannel) b += part.column;
    if (s.step.kind == TileStep::Operand::kWhole) b += part.row * columns_ + part.column;
    operands.push_back(b);
  }
  if (rows > 1 && row_operands_ > 0) {
    copies.reserve(rows * row * row_operands_);  // keeps the pointers valid
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].step.kind != TileStep::Operand::kPerChannel) continue;
      const size_t first = copies.size();
      for (size_t n = 0; n < rows; ++n) {
        copies.insert(copies.end(), operands[i], operands[i] + row);
      }
      operands[i] = copies.data() + first;
    }
  }
  for (size_t n = 0; n < part.rows; n += rows, out += rows * row) {
    const size_t count = std::min(rows, part.rows - n) * part.columns;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const TileStep& step = steps_[i].step;
      const bool whole = step.kind == TileStep::Operand::kWhole;
      step.fn(out, whole ? operands[i] + n * columns_ : operands[i], nullptr, out, count,
              step.parameter);
    }
  }
}

void TileChain::Finish(RunContext& r) const { rest_.Run(r, r.output(0)); }

}  // namespace tenon

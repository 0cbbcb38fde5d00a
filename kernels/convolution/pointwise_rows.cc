#include "kernels/convolution/pointwise_rows.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/convolution/conv.h"
#include "kernels/matmul/blocked_product_simd.h"

namespace tenon {
namespace {

bool IsPointwise(const ConvGeometry& g) {
  const auto is = [](const Dims& dims, int64_t value) {
    return std::all_of(dims.begin(), dims.end(), [value](int64_t d) { return d == value; });
  };
  return is(g.window, 1) && is(g.attrs.strides, 1) && is(g.pads_begin, 0) && is(g.pads_end, 0);
}

}  // namespace

absl::StatusOr<PointwiseRows> PointwiseRows::Make(PrepareContext& p, const ConvGeometry& g,
                                                  bool all_rows) {
  if (!HasConstantFilter(p, g) || !IsPointwise(g)) {
    return Unimplemented("not a 1x1 convolution of floats by a constant filter");
  }
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ParseFusedOps(p.attrs(), 2, p.num_inputs()));
  for (const FusedOp& op : fused) {
    if (op.input < 0 || all_rows) continue;
    if (p.input_shape(op.input).num_elements() > g.out_channels) {
      return Unimplemented("an operand with more than a value for each channel");
    }
  }
  if (!TileChain(p, fused, static_cast<size_t>(g.out_channels)).InParts()) {
    return Unimplemented("a fused op that needs the whole result");
  }
  const size_t panel = RowPanelsOf(static_cast<size_t>(g.out_channels)).width;
  TENON_ASSIGN_OR_RETURN(
      auto filter, PackConstant(*p.constant(1), FilterPanels(g, panel, p.services().threads)));
  p.InputNotRead(1);
  return PointwiseRows(p, g, fused, std::move(filter), static_cast<int64_t>(panel));
}

PointwiseRows::PointwiseRows(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                             std::shared_ptr<const PackedWeights> filter, int64_t panel)
    : terms_(g.in_channels),
      columns_(g.out_channels),
      panel_(panel),
      multiply_(FindRowProduct()),
      filter_(std::move(filter)),
      first_(PlanRegisterChain(p, fused)),
      rest_(p, first_.RestOf(fused), static_cast<size_t>(columns_)) {}

void PointwiseRows::Run(RunContext& r, const float* a, int64_t row, int64_t rows, int64_t column,
                        int64_t columns, float* out, int64_t out_row) const {
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  RowProduct p;
  p.a = a;
  p.a_row = p.terms = size(terms_);
  p.part = EqualTerms(p.terms);
  p.rows = size(rows);
  p.columns = size(columns);
  p.width = size(panel_);
  p.panel = p.width * p.terms;
  p.w = static_cast<const float*>(filter_->data()) + size(column) * p.terms;
  if (first_.bias >= 0) p.bias = r.input<float>(first_.bias) + column;
  if (first_.addend >= 0) p.addend = r.input<float>(first_.addend) + row * columns_ + column;
  p.clamp_low = first_.clamp_low;
  p.clamp_high = first_.clamp_high;
  p.out = out;
  p.out_row = size(out_row);
  multiply_(p);
  rest_.ApplyAt(r, {size(row), p.rows, size(column), p.columns}, out, p.out_row);
}

}  // namespace tenon

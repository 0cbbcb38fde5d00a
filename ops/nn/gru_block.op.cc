// GRUBlockCell: one step of a GRU in one op; the gates are outputs, because a gradient needs them.
#include <cmath>

#include "kernels/interface/types.h"
#include "kernels/sequence/gru.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kX = kGruX, kHPrev = kGruHPrev, kWru = kGruWru, kWc = kGruWc, kBru = kGruBru,
              kBc = kGruBc;

absl::Status GruShape(ShapeContext& c) {
  for (int i : {kX, kHPrev, kWru, kWc}) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 2));
  for (int i : {kBru, kBc}) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  const Shape &x = c.input(kX), &h = c.input(kHPrev);
  const int64_t batch = x.has_rank() ? x.dim(0) : -1, features = x.has_rank() ? x.dim(1) : -1;
  const int64_t cell = h.has_rank() ? h.dim(1) : -1;
  if (cell > (int64_t{1} << 60)) return InvalidArgument("a cell of ", cell, " units");
  const int64_t rows = cell < 0 || features < 0 ? -1 : features + cell;
  const int64_t gates = cell < 0 ? -1 : 2 * cell;
  const Shape wanted[] = {x,
                          Shape({batch, cell}),
                          Shape({rows, gates}),
                          Shape({rows, cell}),
                          Shape({gates}),
                          Shape({cell})};
  for (int i = 1; i <= kBc; ++i) {
    if (wanted[i].CompatibleWith(c.input(i))) continue;
    return InvalidArgument("input ", i, " has shape ", c.input(i).ToString(), ", but must have ",
                           wanted[i].ToString());
  }
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape({batch, cell}));
  return absl::OkStatus();
}

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using In = Eigen::Map<const Matrix>;
using Out = Eigen::Map<Matrix>;

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

absl::StatusOr<std::unique_ptr<Kernel>> PrepareGru(PrepareContext& p) {
  const int64_t batch = p.input_shape(kX).dim(0), features = p.input_shape(kX).dim(1);
  const int64_t cell = p.input_shape(kHPrev).dim(1), rows = features + cell;
  const int64_t floats = Shape({batch, rows + 2 * cell}).num_elements();
  p.RequestScratch(static_cast<size_t>(floats) * sizeof(float));
  return MakeKernel([=](RunContext& run) {
    if (batch * cell == 0) return absl::OkStatus();
    In x(run.input<float>(kX), batch, features), h_prev(run.input<float>(kHPrev), batch, cell);
    In b_ru(run.input<float>(kBru), 1, 2 * cell), b_c(run.input<float>(kBc), 1, cell);
    Out r(run.output<float>(0), batch, cell), u(run.output<float>(1), batch, cell);
    Out c(run.output<float>(2), batch, cell), h(run.output<float>(3), batch, cell);
    float* scratch = static_cast<float*>(run.scratch());
    Out joined(scratch, batch, rows), gates(scratch + batch * rows, batch, 2 * cell);
    joined.leftCols(features) = x;
    joined.rightCols(cell) = h_prev;
    gates.noalias() = joined * In(run.input<float>(kWru), rows, 2 * cell);
    gates.rowwise() += b_ru.row(0);
    r = gates.leftCols(cell).unaryExpr(&Sigmoid);
    u = gates.rightCols(cell).unaryExpr(&Sigmoid);
    joined.rightCols(cell) = h_prev.cwiseProduct(r);
    c.noalias() = joined * In(run.input<float>(kWc), rows, cell);
    c.rowwise() += b_c.row(0);
    c = c.unaryExpr([](float v) { return std::tanh(v); }).eval();
    h = u.cwiseProduct(h_prev) + (1 - u.array()).matrix().cwiseProduct(c);
    return absl::OkStatus();
  });
}

const OpRegistration gru_block_cell({
    .name = "GRUBlockCell",
    .inputs = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T",
    .outputs = "r: T, u: T, c: T, h: T",
    .attrs = "T: type",
    .types = "T: float",
    .shape = GruShape,
    .reference = PrepareGru,
    .accelerated = GruVector,
    .native = "_MklNativeGRUBlockCell",
    .error_bound = ErrorBound::kGruCell,
});

}  // namespace
}  // namespace tenon

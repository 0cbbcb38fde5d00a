// GRUBlockCellGrad: the gradients of a GRUBlockCell step, from its gates.
#include "kernels/interface/types.h"
#include "kernels/sequence/gru.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kX = 0, kHPrev = 1, kWru = 2, kWc = 3, kR = 6, kU = 7, kC = 8, kGrad = 9;
constexpr int kDx = 0, kDhPrev = 1, kDcBar = 2, kDruBar = 3;

absl::Status GruGradShape(ShapeContext& c) {
  const Shape &x = c.input(kX), &h = c.input(kHPrev);
  TENON_RETURN_IF_ERROR(c.ExpectRank(kX, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(kHPrev, 2));
  const int64_t batch = x.has_rank() ? x.dim(0) : -1, features = x.has_rank() ? x.dim(1) : -1;
  const int64_t cell = h.has_rank() ? h.dim(1) : -1;
  if (cell > (int64_t{1} << 60)) return InvalidArgument("a cell of ", cell, " units");
  const int64_t rows = cell < 0 || features < 0 ? -1 : features + cell;
  const int64_t gates = cell < 0 ? -1 : 2 * cell;
  const Shape state({batch, cell});
  const Shape wanted[] = {x,
                          state,
                          Shape({rows, gates}),
                          Shape({rows, cell}),
                          Shape({gates}),
                          Shape({cell}),
                          state,
                          state,
                          state,
                          state};
  for (int i = 1; i <= kGrad; ++i) {
    if (wanted[i].CompatibleWith(c.input(i))) continue;
    return InvalidArgument("input ", i, " has shape ", c.input(i).ToString(), ", but must have ",
                           wanted[i].ToString());
  }
  c.set_output(kDx, x);
  c.set_output(kDhPrev, state);
  c.set_output(kDcBar, state);
  c.set_output(kDruBar, Shape({batch, gates}));
  return absl::OkStatus();
}

using Array = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

absl::StatusOr<std::unique_ptr<Kernel>> PrepareGruGrad(PrepareContext& p) {
  const int64_t batch = p.input_shape(kX).dim(0), features = p.input_shape(kX).dim(1);
  const int64_t cell = p.input_shape(kHPrev).dim(1), rows = features + cell;
  return MakeKernel([=](RunContext& run) {
    auto in = [&](int i) { return Eigen::Map<const Array>(run.input<float>(i), batch, cell); };
    auto weights = [&](int i, int64_t cols) {
      return Eigen::Map<const Matrix>(run.input<float>(i), rows, cols);
    };
    const auto h_prev = in(kHPrev), r = in(kR), u = in(kU), c = in(kC), grad = in(kGrad);
    Eigen::Map<Array> dc(run.output<float>(kDcBar), batch, cell);
    Eigen::Map<Array> dru(run.output<float>(kDruBar), batch, 2 * cell);
    dc = grad * (1 - u) * (1 - c * c);
    const Matrix through_c = dc.matrix() * weights(kWc, cell).transpose();
    const Array d_hr = through_c.rightCols(cell).array();
    dru.leftCols(cell) = d_hr * h_prev * r * (1 - r);
    dru.rightCols(cell) = grad * (h_prev - c) * u * (1 - u);
    const Matrix through_ru = dru.matrix() * weights(kWru, 2 * cell).transpose();
    Eigen::Map<Matrix>(run.output<float>(kDx), batch, features) =
        through_ru.leftCols(features) + through_c.leftCols(features);
    Eigen::Map<Array>(run.output<float>(kDhPrev), batch, cell) =
        through_ru.rightCols(cell).array() + d_hr * r + grad * u;
    return absl::OkStatus();
  });
}

const OpRegistration gru_block_cell_grad({
    .name = "GRUBlockCellGrad",
    .inputs = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T",
    .outputs = "d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    .attrs = "T: type",
    .types = "T: float",
    .shape = GruGradShape,
    .reference = PrepareGruGrad,
    .accelerated = GruGradVector,
    .native = "_MklNativeGRUBlockCellGrad",
    .error_bound = ErrorBound::kGruCell,
});

}  // namespace
}  // namespace tenon

#include "kernels/sequence/gru.h"

#include "env/status.h"
#include "env/team.h"
#include "kernels/interface/parallel.h"
#include "kernels/sequence/cells_simd.h"
#include "kernels/sequence/gate_products.h"

namespace tenon {
namespace {

struct GruSizes {
  size_t batch = 0, features = 0, cell = 0;
  bool empty() const { return batch == 0 || features == 0 || cell == 0; }
};
GruSizes SizesOfGru(const PrepareContext& p) {
  const auto size = [&](int input, int axis) {
    return static_cast<size_t>(p.input_shape(input).dim(axis));
  };
  return {size(kGruX, 0), size(kGruX, 1), size(kGruHPrev, 1)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> GruVector(PrepareContext& p) {
  const GruSizes sizes = SizesOfGru(p);
  if (sizes.empty()) return Unimplemented("nothing to compute");
  const auto [batch, features, cell] = sizes;
  const size_t state = batch * cell;
  p.RequestScratch(7 * state * sizeof(float));
  const int threads = ThreadsOfSteps(
      static_cast<double>(batch * (features + cell)) * 3.0 * static_cast<double>(cell),
      p.services().threads);
  return MakeKernel(
      [=, batch = batch, features = features, cell = cell, code = FindCellCode(),
       multiply = FindSmallProduct()](RunContext& run) {
        float* const from_x = static_cast<float*>(run.scratch());
        float* const from_h = from_x + 3 * state;
        float* const reset_h = from_h + 3 * state;
        const float* const x = run.input<float>(kGruX);
        const float* const h_prev = run.input<float>(kGruHPrev);
        const float *const w_ru = run.input<float>(kGruWru), *const w_c = run.input<float>(kGruWc);
        Barrier barrier;
        RunTeam(threads, [&](int member, int team) {
          const UnitRange units = UnitsOfMember(cell, member, team);
          const CellPart part{batch, cell, units.begin, units.end};
          const auto products = [&](size_t gates, const float* w, const float* h, size_t at) {
            MultiplyGates(multiply, {features, gates, cell, w}, batch, x, units, from_x + at);
            MultiplyGates(multiply, {cell, gates, cell, w + features * gates * cell}, batch, h,
                          units, from_h + at);
          };
          products(2, w_ru, h_prev, 0);
          code.gru_gates({part, from_x, from_h, run.input<float>(kGruBru), h_prev,
                          run.output<float>(0), run.output<float>(1), reset_h});
          if (team > 1) barrier.Wait(team);
          products(1, w_c, reset_h, 2 * state);
          code.gru_state({part, from_x + 2 * state, from_h + 2 * state, run.input<float>(kGruBc),
                          h_prev, run.output<float>(1), run.output<float>(2),
                          run.output<float>(3)});
        });
        return absl::OkStatus();
      },
      "vector");
}

absl::StatusOr<std::unique_ptr<Kernel>> GruGradVector(PrepareContext& p) {
  const GruSizes sizes = SizesOfGru(p);
  if (sizes.empty()) return Unimplemented("nothing to compute");
  const auto [batch, features, cell] = sizes;
  const size_t rows = features + cell;
  p.RequestScratch(2 * batch * rows * sizeof(float));
  const int threads = p.services().threads;
  return MakeKernel(
      [=, batch = batch, features = features, cell = cell,
       multiply = FindSmallProduct()](RunContext& run) {
        constexpr int kR = 6, kU = 7, kC = 8, kGrad = 9;
        const auto in = [&](int i) { return run.input<float>(i); };
        const float *const h_prev = in(kGruHPrev), *const r = in(kR), *const u = in(kU);
        const float *const c = in(kC), *const grad = in(kGrad);
        float *const dx = run.output<float>(0), *const dh = run.output<float>(1);
        float *const dc = run.output<float>(2), *const dru = run.output<float>(3);
        float* const through_c = static_cast<float*>(run.scratch());
        float* const through_ru = through_c + batch * rows;
        // out[batch, rows] = a[batch, terms] times the transpose of w[rows, terms].
        const auto product = [&](const float* a, size_t terms, const float* w, float* out) {
          SmallProduct all;
          all.m = batch;
          all.k = all.a_row = all.b_column = terms;
          all.a_column = all.b_row = 1;
          all.out_row = rows;
          const double ns = 0.05 * static_cast<double>(batch * terms) + 1;
          ParallelFor(threads, static_cast<int64_t>(rows), ParallelGrain(ns),
                      [&](int64_t begin, int64_t end) {
                        SmallProduct part = all;
                        part.n = static_cast<size_t>(end - begin);
                        multiply(part, a, w + static_cast<size_t>(begin) * terms, out + begin);
                      });
        };
        for (size_t i = 0; i < batch * cell; ++i) dc[i] = grad[i] * (1 - u[i]) * (1 - c[i] * c[i]);
        product(dc, cell, in(kGruWc), through_c);
        for (size_t b = 0; b < batch; ++b) {
          for (size_t k = 0; k < cell; ++k) {
            const size_t i = b * cell + k;
            const float d_hr = through_c[b * rows + features + k];
            dru[2 * b * cell + k] = d_hr * h_prev[i] * r[i] * (1 - r[i]);
            dru[(2 * b + 1) * cell + k] = grad[i] * (h_prev[i] - c[i]) * u[i] * (1 - u[i]);
          }
        }
        product(dru, 2 * cell, in(kGruWru), through_ru);
        for (size_t b = 0; b < batch; ++b) {
          const float *const of_ru = through_ru + b * rows, *const of_c = through_c + b * rows;
          for (size_t k = 0; k < features; ++k) dx[b * features + k] = of_ru[k] + of_c[k];
          for (size_t k = 0; k < cell; ++k) {
            const size_t i = b * cell + k;
            dh[i] = of_ru[features + k] + of_c[features + k] * r[i] + grad[i] * u[i];
          }
        }
        return absl::OkStatus();
      },
      "vector");
}

}  // namespace tenon

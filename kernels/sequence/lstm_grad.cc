#include "kernels/sequence/lstm_grad.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "env/round_up.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/matmul/small_product_simd.h"

namespace tenon {
namespace {

// Inputs after those of lstm.h, counted from x; h follows co if there are several steps.
constexpr int kI = 8, kCs = 9, kF = 10, kO = 11, kCi = 12, kCo = 13;

using Array = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<float, 1, Eigen::Dynamic>;

// One step in float.
struct Step {
  Array cs_prev, i, cs, f, o, ci, co;
  Array cs_grad, h_grad;
};
struct Peephole {
  bool used = false;
  std::array<Row, 3> weights;  // wci, wcf, wco
  std::array<Row, 3> grads;
};

struct GatePlaces {
  int64_t cell_input,
      forget;  // in units of cell; the input gate is first, the output gate last
};

// Gradients of the gates before their activations, [batch, 4 * cell], and of cs_prev.
std::pair<Array, Array> Backward(const Step& s, const GatePlaces& at, Peephole& peep) {
  const Array d_o = s.o * (1 - s.o) * s.h_grad * s.co;
  Array dcs = (1 - s.co * s.co) * s.h_grad * s.o + s.cs_grad;
  if (peep.used) dcs += d_o.rowwise() * peep.weights[2];
  const Array dci = (1 - s.ci * s.ci) * dcs * s.i;
  const Array df = s.f * (1 - s.f) * dcs * s.cs_prev;
  const Array di = s.i * (1 - s.i) * dcs * s.ci;
  const int64_t cell = s.i.cols();
  Array gates(s.i.rows(), 4 * cell);
  gates.middleCols(0, cell) = di;
  gates.middleCols(at.cell_input * cell, cell) = dci;
  gates.middleCols(at.forget * cell, cell) = df;
  gates.middleCols(3 * cell, cell) = d_o;
  Array cs_prev_grad = dcs * s.f;
  if (peep.used) {
    cs_prev_grad += di.rowwise() * peep.weights[0] + df.rowwise() * peep.weights[1];
    peep.grads[0] += (di * s.cs_prev).colwise().sum();
    peep.grads[1] += (df * s.cs_prev).colwise().sum();
    peep.grads[2] += (d_o * s.cs).colwise().sum();
  }
  return {std::move(gates), std::move(cs_prev_grad)};
}

template <typename T>
Array Load(const T* data, int64_t rows, int64_t cols) {
  using Stored = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Stored>(data, rows, cols).template cast<float>();
}
template <typename T, typename M>
void Store(const M& m, T* data) {
  using Stored = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Stored>(data, m.rows(), m.cols()) = m.array().template cast<T>();
}

// Matrix products by Eigen, or by vector code.
class Products {
 public:
  Products(ProductCode code, int threads)
      : multiply_(code == ProductCode::kVectors ? FindSmallProduct() : nullptr),
        threads_(threads) {}

  // a * b, or the transposed a times b.
  Matrix Of(const Matrix& a, bool transposed, const Matrix& b) const {
    const int64_t m = transposed ? a.cols() : a.rows();
    if (multiply_ == nullptr || m == 0 || b.size() == 0) {
      if (transposed) return a.transpose() * b;
      return a * b;
    }
    Matrix out(m, b.cols());
    SmallProduct p;
    p.m = static_cast<size_t>(m);
    p.k = static_cast<size_t>(b.rows());
    p.a_row = transposed ? 1 : static_cast<size_t>(a.cols());
    p.a_column = transposed ? static_cast<size_t>(a.cols()) : 1;
    p.b_row = p.out_row = static_cast<size_t>(b.cols());
    constexpr int64_t kTogether = 64;  // columns
    constexpr double kNanoseconds = 0.02;
    const double ns = kNanoseconds * kTogether * static_cast<double>(m * b.rows());
    ParallelFor(threads_, CeilDiv(b.cols(), kTogether), ParallelGrain(ns),
                [&](int64_t begin, int64_t end) {
                  SmallProduct part = p;
                  begin *= kTogether;
                  end = std::min(end * kTogether, b.cols());
                  part.n = static_cast<size_t>(end - begin);
                  multiply_(part, a.data(), b.data() + begin, out.data() + begin);
                });
    return out;
  }

 private:
  const SmallProductFn multiply_;  // null: Eigen
  const int threads_;
};

struct Sizes {
  int64_t steps, batch, features, cell;
};

// Step t; cs_grad and h_grad are the op's inputs.
template <typename T>
Step LoadStep(const RunContext& run, LstmForm form, const Sizes& n, int64_t t) {
  const int first = LstmFirst(form), cs_grad = form == LstmForm::kStep ? 14 : 15;
  const int64_t size = n.batch * n.cell;
  auto at = [&](int input, int64_t step) {
    return Load(run.input<T>(first + input) + step * size, n.batch, n.cell);
  };
  return {t == 0 ? at(kLstmCsPrev, 0) : at(kCs, t - 1),
          at(kI, t),
          at(kCs, t),
          at(kF, t),
          at(kO, t),
          at(kCi, t),
          at(kCo, t),
          at(cs_grad, t),
          at(cs_grad + 1, t)};
}

template <typename T>
Peephole LoadPeephole(const RunContext& run, int first, bool used, int64_t cell) {
  Peephole peep;
  peep.used = used;
  for (size_t k = 0; k < 3; ++k) {
    if (used) peep.weights[k] = Load(run.input<T>(first + kLstmWci + static_cast<int>(k)), 1, cell);
    peep.grads[k] = Row::Zero(cell);
  }
  return peep;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> LstmStepGrad(PrepareContext& p) {
  const Sizes n = {1, p.input_shape(kLstmX).dim(0), p.input_shape(kLstmX).dim(1),
                   p.input_shape(kLstmCsPrev).dim(1)};
  const bool peephole = p.attrs().Bool("use_peephole", false);
  std::array<int64_t, 3> peep_sizes{};
  for (int k = 0; k < 3; ++k) {
    peep_sizes[static_cast<size_t>(k)] = p.output_shape(2 + k).num_elements();
  }
  return DispatchType(TypeList<float, half>{}, p.input_dtype(kLstmX), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      Peephole peep = LoadPeephole<T>(run, 0, peephole, n.cell);
      const Step s = LoadStep<T>(run, LstmForm::kStep, n, 0);
      const auto [gates, cs_prev_grad] = Backward(s, {1, 2}, peep);
      Store(cs_prev_grad, run.output<T>(0));
      Store(gates, run.output<T>(1));
      for (size_t k = 0; k < 3; ++k) {
        T* out = run.output<T>(2 + static_cast<int>(k));
        std::fill_n(out, peep_sizes[k], T(0));
        if (peephole) Store(peep.grads[k], out);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> LstmGrad(PrepareContext& p, LstmForm form,
                                                 ProductCode code) {
  const Shape& x_shape = p.input_shape(1);
  const Sizes n = {x_shape.dim(0), x_shape.dim(1), x_shape.dim(2),
                   p.input_shape(1 + kLstmCsPrev).dim(1)};
  const GatePlaces places = form == LstmForm::kStepsV2 ? GatePlaces{2, 1} : GatePlaces{1, 2};
  const bool peephole = p.attrs().Bool("use_peephole", false);
  const Products products(code, p.services().threads);
  return DispatchType(TypeList<float, half>{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel(
        [=](RunContext& run) -> absl::Status {
          const int64_t length = *run.input<int64_t>(0);
          if (length < 0 || length > n.steps) {
            return InvalidArgument("seq_len_max must be 0 to ", n.steps, ", but is ", length);
          }
          const int64_t rows = n.features + n.cell, size = n.batch * n.cell;
          Peephole peep = LoadPeephole<T>(run, 1, peephole, n.cell);
          const Matrix w_transposed =
              Load(run.input<T>(1 + kLstmW), rows, 4 * n.cell).matrix().transpose();
          Matrix w_grad = Matrix::Zero(rows, 4 * n.cell);
          Row b_grad = Row::Zero(4 * n.cell);
          Array cs_grad = Array::Zero(n.batch, n.cell), h_grad = cs_grad;
          // The weights' gradient adds up the products of several steps at a time.
          constexpr int64_t kRowsTogether = 256;
          const int64_t together =
              std::max<int64_t>(kRowsTogether / std::max<int64_t>(n.batch, 1), 1);
          Matrix joined, gates;
          constexpr int kH = 15;  // after co, counting seq_len_max
          for (int64_t end = length; end > 0;) {
            const int64_t begin = std::max<int64_t>(end - together, 0);
            joined.resize((end - begin) * n.batch, rows);
            gates.resize((end - begin) * n.batch, 4 * n.cell);
            for (int64_t t = end - 1; t >= begin; --t) {
              Step s = LoadStep<T>(run, form, n, t);
              s.cs_grad += cs_grad;
              s.h_grad += h_grad;
              Array step_gates;
              std::tie(step_gates, cs_grad) = Backward(s, places, peep);
              const Matrix joined_grad = products.Of(step_gates.matrix(), false, w_transposed);
              Store(joined_grad.leftCols(n.features), run.output<T>(0) + t * n.batch * n.features);
              h_grad = joined_grad.rightCols(n.cell).array();
              const int64_t row = (t - begin) * n.batch;
              joined.block(row, 0, n.batch, n.features) =
                  Load(run.input<T>(1) + t * n.batch * n.features, n.batch, n.features).matrix();
              const T* h_prev =
                  t == 0 ? run.input<T>(1 + kLstmHPrev) : run.input<T>(kH) + (t - 1) * size;
              joined.block(row, n.features, n.batch, n.cell) =
                  Load(h_prev, n.batch, n.cell).matrix();
              gates.middleRows(row, n.batch) = step_gates.matrix();
              b_grad += step_gates.colwise().sum();
            }
            w_grad += products.Of(joined, true, gates);
            end = begin;
          }
          std::fill_n(run.output<T>(0) + length * n.batch * n.features,
                      (n.steps - length) * n.batch * n.features, T(0));
          Store(cs_grad, run.output<T>(1));
          Store(h_grad, run.output<T>(2));
          Store(w_grad, run.output<T>(3));
          for (size_t k = 0; k < 3; ++k)
            Store(peep.grads[k], run.output<T>(4 + static_cast<int>(k)));
          Store(b_grad, run.output<T>(7));
          return absl::OkStatus();
        },
        code == ProductCode::kVectors ? "vector" : "reference");
  });
}

}  // namespace tenon

#include "kernels/normalization/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/elementwise/broadcast.h"
#include "kernels/elementwise/double_simd.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

constexpr int kMaxInputs = 8;

// The position of each output row's inputs.
struct Rows {
  int num_inputs = 1;
  int num_values = 1;  // the inputs before the conditions
  int64_t rows = 0, columns = 0;
  CollapsedBroadcast outer;                  // over all axes except the last; strides in rows
  std::array<int64_t, kMaxInputs> length{};  // length of an input's rows: `columns` or 1
  std::array<bool, kMaxInputs> repeated{};   // one value for the whole row

  // The element offsets of output row `row` in each input.
  void Locate(int64_t row, int64_t* offsets) const {
    std::fill_n(offsets, num_inputs, 0);
    for (size_t d = outer.dims.size(); d-- > 0 && row > 0;) {
      const int64_t index = row % outer.dims[d];
      row /= outer.dims[d];
      for (size_t i = 0; i < static_cast<size_t>(num_inputs); ++i) {
        offsets[i] += index * outer.strides[i][d] * length[i];
      }
    }
  }
};

absl::StatusOr<Rows> RowsOf(PrepareContext& p, const SoftmaxOptions& options) {
  if (p.num_inputs() > kMaxInputs) return Unimplemented("more than ", kMaxInputs, " inputs");
  const Shape& out = p.output_shape(0);
  Rows r;
  r.num_inputs = p.num_inputs();
  r.num_values = r.num_inputs - options.num_conditions;
  r.columns = out.dim(out.rank() - 1);
  r.rows = r.columns == 0 ? 0 : out.num_elements() / r.columns;
  std::vector<Shape> outer;
  for (int i = 0; i < r.num_inputs; ++i) {
    Shape s = p.input_shape(i);
    const int64_t length = s.rank() == 0 ? 1 : s.dim(s.rank() - 1);
    if (s.rank() > 0) s.erase(s.rank() - 1);
    r.length[static_cast<size_t>(i)] = length;
    r.repeated[static_cast<size_t>(i)] = length == 1 && r.columns != 1;
    outer.push_back(std::move(s));
  }
  Shape outer_out = out;
  outer_out.erase(out.rank() - 1);
  TENON_ASSIGN_OR_RETURN(r.outer, CollapseBroadcast(outer, outer_out));
  return r;
}

// The arguments of a row's powers; returns the largest.
template <typename T>
double SoftmaxArguments(const Rows& rows, const SoftmaxOptions& options, const RunContext& context,
                        int64_t row, double* t) {
  std::array<int64_t, kMaxInputs> offsets;
  rows.Locate(row, offsets.data());
  const size_t n = static_cast<size_t>(rows.columns);
  double largest = -INFINITY;
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < rows.num_values; ++k) {
      const size_t ks = static_cast<size_t>(k);
      const T* from = context.input<T>(k) + offsets[ks];
      const double v = static_cast<double>(from[rows.repeated[ks] ? 0 : i]);
      t[i] = k == 0 ? v * options.scale : t[i] + v;
    }
    for (int k = rows.num_values; k < rows.num_inputs; ++k) {
      const size_t ks = static_cast<size_t>(k);
      const bool* from = context.input<bool>(k) + offsets[ks];
      if (!from[rows.repeated[ks] ? 0 : i]) t[i] = options.masked;
    }
    largest = std::max(largest, t[i]);
  }
  return largest;
}

template <typename T>
void SoftmaxReferenceRow(const Rows& rows, const SoftmaxOptions& options, const RunContext& context,
                         int64_t row, std::vector<double>& t) {
  const size_t n = static_cast<size_t>(rows.columns);
  const double largest = SoftmaxArguments<T>(rows, options, context, row, t.data());
  double sum = 0;
  const bool log = options.kind == SoftmaxKind::kLogSoftmax;
  for (size_t i = 0; i < n; ++i) {
    const double e = std::exp(t[i] - largest);
    sum += e;
    if (!log) t[i] = e;
  }
  T* y = context.output<T>(0) + row * rows.columns;
  const double log_sum = log ? std::log(sum) : 0;
  for (size_t i = 0; i < n; ++i) {
    y[i] = static_cast<T>(log ? t[i] - largest - log_sum : t[i] / sum);
  }
}

// The largest number, or the sum: a part of them for each of some lanes, so that no addition waits
// for the one before.
template <typename F>
double Folded(const double* x, size_t n, double start, const F& f) {
  constexpr size_t kLanes = 8;
  std::array<double, kLanes> lanes;
  lanes.fill(start);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = f(lanes[k], x[i + k]);
  }
  double all = start;
  for (const double lane : lanes) all = f(all, lane);
  for (; i < n; ++i) all = f(all, x[i]);
  return all;
}

// Doubles, in vector code.
class DoubleSoftmaxKernel final : public Kernel {
 public:
  DoubleSoftmaxKernel(const Rows& rows, const SoftmaxOptions& options, int threads)
      : rows_(rows), options_(options), threads_(threads) {}

  absl::Status Run(RunContext& context) const override {
    const double ns = 1.5 * static_cast<double>(rows_.columns) + 20;
    ParallelFor(threads_, rows_.rows, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      std::vector<double> powers(static_cast<size_t>(rows_.columns));
      for (int64_t r = begin; r < end; ++r) RunRow(context, r, powers.data());
    });
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  void RunRow(const RunContext& context, int64_t row, double* powers) const {
    const size_t n = static_cast<size_t>(rows_.columns);
    double* const y = context.output<double>(0) + row * rows_.columns;
    const double* x = y;
    double largest;
    if (rows_.num_inputs == 1 && !rows_.repeated[0] && options_.scale == 1) {
      x = context.input<double>(0) + row * rows_.columns;
      largest = Folded(x, n, -INFINITY, [](double a, double b) { return a < b ? b : a; });
    } else {
      largest = SoftmaxArguments<double>(rows_, options_, context, row, y);
    }
    for (size_t i = 0; i < n; ++i) powers[i] = x[i] - largest;
    exp_(powers, powers, rows_.columns);
    const double sum = Folded(powers, n, 0, [](double a, double b) { return a + b; });
    if (options_.kind == SoftmaxKind::kLogSoftmax) {
      const double log_sum = std::log(sum);
      for (size_t i = 0; i < n; ++i) y[i] = x[i] - largest - log_sum;
    } else {
      const double inverse = 1 / sum;
      for (size_t i = 0; i < n; ++i) y[i] = powers[i] * inverse;
    }
  }

  const Rows rows_;
  const SoftmaxOptions options_;
  const int threads_;
  const DoubleUnaryFn exp_ = FindDoubleUnary(ElementwiseOp::kExp);
};

// One input, a row after the other.
class ShortRowsKernel final : public Kernel {
 public:
  ShortRowsKernel(ShortRowsFn fn, const Rows& rows, float scale, int threads)
      : fn_(fn), rows_(rows.rows), columns_(rows.columns), scale_(scale), threads_(threads) {}

  absl::Status Run(RunContext& context) const override {
    constexpr double kNanoseconds = 1.5;  // of a row
    ParallelFor(threads_, rows_, ParallelGrain(kNanoseconds), [&](int64_t begin, int64_t end) {
      const int64_t at = begin * columns_;
      fn_(context.input<float>(0) + at, scale_, static_cast<size_t>(end - begin),
          context.output<float>(0) + at);
    });
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  const ShortRowsFn fn_;
  const int64_t rows_, columns_;
  const float scale_;
  const int threads_;
};

class VectorSoftmaxKernel final : public Kernel {
 public:
  VectorSoftmaxKernel(const Rows& rows, const SoftmaxOptions& options, bool bfloat16_rows,
                      int threads)
      : rows_(rows),
        scale_(options.scale),
        masked_(options.masked),
        row_fn_(FindSoftmaxRow(options.kind)),
        bfloat16_(bfloat16_rows),
        threads_(threads),
        grain_(ParallelGrain(0.6 * static_cast<double>(rows.columns) + 20)) {}

  // Per range, for bfloat16: each input's row and the output's, in float.
  size_t ScratchFloats() const {
    if (!bfloat16_) return 0;
    const int ranges = ParallelRanges(threads_, rows_.rows, grain_);
    return static_cast<size_t>(ranges * (rows_.num_inputs + 1) * rows_.columns);
  }

  absl::Status Run(RunContext& context) const override {
    ParallelForRanges(threads_, rows_.rows, grain_, [&](int range, int64_t begin, int64_t end) {
      std::array<const float*, kMaxInputs> inputs;
      SoftmaxRow row;
      row.inputs = inputs.data();
      row.repeated = rows_.repeated.data();
      row.num_inputs = rows_.num_values;
      row.scale = scale_;
      row.n = static_cast<size_t>(rows_.columns);
      float* scratch = static_cast<float*>(context.scratch()) +
                       (bfloat16_ ? range * (rows_.num_inputs + 1) * rows_.columns : 0);
      for (int64_t r = begin; r < end; ++r) RunRow(context, r, scratch, inputs, row);
    });
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  void RunRow(const RunContext& context, int64_t r, float* scratch,
              std::array<const float*, kMaxInputs>& inputs, SoftmaxRow& row) const {
    std::array<int64_t, kMaxInputs> offsets;
    rows_.Locate(r, offsets.data());
    for (int i = 0; i < rows_.num_values; ++i) {
      const size_t is = static_cast<size_t>(i);
      if (bfloat16_) {
        float* wide = scratch + i * rows_.columns;
        WidenBfloat16(context.input<uint16_t>(i) + offsets[is], wide,
                      rows_.repeated[is] ? 1 : row.n);
        inputs[is] = wide;
      } else {
        inputs[is] = context.input<float>(i) + offsets[is];
      }
    }
    row.y = bfloat16_ ? scratch + rows_.num_inputs * rows_.columns
                      : context.output<float>(0) + r * rows_.columns;
    if (rows_.num_values < rows_.num_inputs) {
      RunMaskedRow(context, offsets.data(), row);
    } else {
      row_fn_(row);
    }
    if (bfloat16_) {
      NarrowToBfloat16(row.y, context.output<uint16_t>(0) + r * rows_.columns, row.n);
    }
  }

  // The arguments are written to the output's row first.
  void RunMaskedRow(const RunContext& context, const int64_t* offsets,
                    const SoftmaxRow& row) const {
    float* y = row.y;
    int done = rows_.num_values;  // inputs that have been applied
    if (rows_.num_values == 1 && !row.repeated[0] &&
        !row.repeated[1]) {  // the usual case, in one pass
      select_fn_(row.inputs[0], scale_, context.input<bool>(1) + offsets[1], masked_, y, row.n);
      done = 2;
    } else {
      for (int k = 0; k < rows_.num_values; ++k) {
        const float* from = row.inputs[k];
        const size_t step = row.repeated[k] ? 0 : 1;
        for (size_t i = 0; i < row.n; ++i) {
          y[i] = k == 0 ? from[i * step] * scale_ : y[i] + from[i * step];
        }
      }
    }
    for (int k = done; k < rows_.num_inputs; ++k) {
      const bool* from = context.input<bool>(k) + offsets[k];
      if (rows_.repeated[static_cast<size_t>(k)]) {
        if (!*from) std::fill_n(y, row.n, masked_);
      } else {
        select_fn_(y, 1.0f, from, masked_, y, row.n);
      }
    }
    const float* input = y;
    const bool repeated = false;
    row_fn_({&input, &repeated, 1, 1.0f, y, row.n});
  }

  const Rows rows_;
  const float scale_;
  const float masked_;
  const SoftmaxRowFn row_fn_;
  const SelectRowFn select_fn_ = FindSelectRow();
  const bool bfloat16_;
  const int threads_;
  const int64_t grain_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeReferenceSoftmax(PrepareContext& p,
                                                             const SoftmaxOptions& options) {
  TENON_ASSIGN_OR_RETURN(const Rows rows, RowsOf(p, options));
  return DispatchType(Floats{}, p.output_dtype(0), [&]<typename T>() {
    const int threads = p.services().threads;
    return MakeKernel([rows, options, threads](RunContext& context) {
      const double ns = 10 * static_cast<double>(rows.columns) + 10;
      ParallelFor(threads, rows.rows, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
        std::vector<double> t(static_cast<size_t>(rows.columns));
        for (int64_t r = begin; r < end; ++r) SoftmaxReferenceRow<T>(rows, options, context, r, t);
      });
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeVectorSoftmax(PrepareContext& p,
                                                          const SoftmaxOptions& options) {
  const DType dtype = p.output_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kBfloat16 && dtype != DType::kDouble) {
    return NoKernelFor(dtype);
  }
  TENON_ASSIGN_OR_RETURN(const Rows rows, RowsOf(p, options));
  if (dtype == DType::kDouble) {
    return std::make_unique<DoubleSoftmaxKernel>(rows, options, p.services().threads);
  }
  const bool same_shape = p.input_shape(0) == p.output_shape(0);
  if (same_shape) p.AllowInPlace(0, 0);
  if (same_shape && p.num_inputs() == 1 && dtype == DType::kFloat && rows.columns >= 2 &&
      rows.columns <= static_cast<int64_t>(kFewColumns)) {
    return std::unique_ptr<Kernel>(
        new ShortRowsKernel(FindSoftmaxOfShortRows(options.kind, static_cast<size_t>(rows.columns)),
                            rows, options.scale, p.services().threads));
  }
  auto kernel = std::make_unique<VectorSoftmaxKernel>(rows, options, dtype == DType::kBfloat16,
                                                      p.services().threads);
  p.RequestScratch(kernel->ScratchFloats() * sizeof(float));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon

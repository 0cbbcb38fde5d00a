// Mean, Sum, Max, Min and BiasAddGrad of float if, after merging adjacent axes, the input is
// [outer, reduced, inner] or [reduced, outer, reduced]. Global average pooling is [N, H W, C], a
// softmax's sum [rows, n, 1], a sum per channel [N H W, C] or [N, C, H W]. The same of halves,
// widened some at a time. Also Mean of bfloat16 [outer, reduced, inner].
#include "kernels/reduction/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/half_simd.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/reduction/reduce_simd.h"

namespace tenon {
namespace {

// The reduced axes are cut into blocks of a fixed length, so that the bits of a sum do not depend
// on the number of threads: this many elements, in at least this many rows of columns.
constexpr int64_t kBlock = int64_t{1} << 17;
constexpr int64_t kLeastRows = 64;
constexpr int64_t kMostRows = 2048;  // of columns: a longer sum would round more
constexpr int64_t kColumns = 64;     // a thread's share of columns is a multiple of a cache line

struct Problem {
  ReduceKind kind = ReduceKind::kSum;
  bool mean = false;
  int64_t outer = 1, reduced = 1, inner = 1;
  int64_t repeat = 1;  // reduced axes before `outer`; then inner is 1
};

ReduceKind KindOf(VectorReduction reduction) {
  if (reduction == VectorReduction::kMax) return ReduceKind::kMax;
  if (reduction == VectorReduction::kMin) return ReduceKind::kMin;
  return ReduceKind::kSum;
}

absl::Status CheckDType(DType dtype, VectorReduction reduction) {
  const bool narrow =
      dtype == DType::kHalf || (dtype == DType::kBfloat16 && reduction == VectorReduction::kMean);
  if (dtype != DType::kFloat && !narrow) return Unimplemented("only float");
  return absl::OkStatus();
}

// `mask`: the reduced axes.
absl::StatusOr<Problem> ProblemOf(const Shape& in, VectorReduction reduction,
                                  const std::vector<bool>& mask) {
  Problem problem;
  problem.kind = KindOf(reduction);
  problem.mean = reduction == VectorReduction::kMean;

  enum { kOuter, kReduced, kInner } part = kOuter;
  for (int d = 0; d < in.rank(); ++d) {
    if (in.dim(d) == 1) continue;
    const bool reduce = mask[static_cast<size_t>(d)];
    if (reduce) {
      if (part == kInner) {
        if (problem.outer != 1 || problem.repeat != 1) {
          return Unimplemented("reduced axes that are not adjacent");
        }
        problem.repeat = std::exchange(problem.reduced, 1);
        problem.outer = std::exchange(problem.inner, 1);
      }
      part = kReduced;
      problem.reduced *= in.dim(d);
    } else if (part == kOuter) {
      problem.outer *= in.dim(d);
    } else {
      part = kInner;
      problem.inner *= in.dim(d);
    }
  }
  if (problem.repeat > 1 && problem.inner > 1) return Unimplemented("axes that are not adjacent");
  if (in.num_elements() == 0) return Unimplemented("nothing to reduce");
  return problem;
}

constexpr int64_t kWidened = 4096;  // halves at a time

// Columns of halves: results so far are the first row of those that are widened.
struct HalfColumns {
  ReduceColumnsFn columns_fn;

  void operator()(const uint16_t* x, int64_t rows, int64_t stride, size_t columns,
                  float* out) const {
    constexpr int64_t kMostColumns = 256;
    float wide[kWidened];
    const auto all = static_cast<int64_t>(columns);
    for (int64_t first = 0; first < all; first += kMostColumns) {
      const int64_t width = std::min(kMostColumns, all - first), most = kWidened / width;
      for (int64_t row = 0; row < rows;) {
        const int64_t old = row > 0 ? 1 : 0, added = std::min(most - old, rows - row);
        std::copy_n(out + first, old * width, wide);
        Widen(x + row * stride + first, added, stride, width, wide + old * width);
        columns_fn(wide, old + added, width, static_cast<size_t>(width), out + first);
        row += added;
      }
    }
  }

 private:
  static void Widen(const uint16_t* x, int64_t rows, int64_t stride, int64_t width, float* to) {
    if (width == stride) return WidenHalf(x, to, static_cast<size_t>(rows * width));
    for (int64_t r = 0; r < rows; ++r) {
      WidenHalf(x + r * stride, to + r * width, static_cast<size_t>(width));
    }
  }
};

class ReduceKernel final : public Kernel {
 public:
  // Narrow floats are reduced in float and rounded once; of bfloat16, sums of columns.
  ReduceKernel(const Problem& problem, int threads, DType dtype)
      : problem_(problem),
        threads_(threads),
        dtype_(dtype),
        row_fn_(FindReduceRow(problem.kind)),
        short_rows_fn_(FindReduceShortRows(problem.kind, static_cast<size_t>(problem.reduced))),
        columns_fn_(FindReduceColumns(problem.kind)),
        divide_fn_(FindTileFn(ElementwiseOp::kDiv, TileForm::kScalarB)) {}

  // Results before they are rounded, partial results of the blocks, then of the repetitions.
  size_t ScratchBytes() const {
    const int64_t results = problem_.repeat * problem_.outer * problem_.inner;
    const int64_t repetitions = problem_.repeat > 1 ? results : 0;
    const int64_t unrounded = dtype_ == DType::kFloat ? 0 : problem_.outer * problem_.inner;
    const int64_t parts = Blocks() == 1 ? 0 : results * Blocks();
    return static_cast<size_t>(unrounded + parts + repetitions) * sizeof(float);
  }

  absl::Status Run(RunContext& context) const override {
    float* const scratch = static_cast<float*>(context.scratch());
    const int64_t results = problem_.outer * problem_.inner;
    if (problem_.reduced == 1 && problem_.repeat == 1) {
      Copy(context.input<char>(0), context.output<char>(0));
      return absl::OkStatus();
    }
    if (dtype_ == DType::kFloat) {
      float* const y = context.output<float>(0);
      if (problem_.inner == 1 && problem_.repeat == 1 && short_rows_fn_ != nullptr) {
        RunShortRows(context.input<float>(0), y);
      } else if (problem_.inner == 1) {
        RunRows(context.input<float>(0), y, scratch);
      } else {
        RunColumns(context.input<float>(0), columns_fn_, y, scratch);
      }
      return absl::OkStatus();
    }
    const auto* const x = context.input<uint16_t>(0);
    auto* const y = context.output<uint16_t>(0);
    if (dtype_ == DType::kBfloat16) {
      RunColumns(x, bfloat16_sums_, scratch, scratch + results);
      NarrowToBfloat16(scratch, y, static_cast<size_t>(results));
      return absl::OkStatus();
    }
    if (problem_.inner == 1) {
      RunRows(x, scratch, scratch + results);
    } else {
      RunColumns(x, HalfColumns{columns_fn_}, scratch, scratch + results);
    }
    NarrowToHalf(scratch, y, static_cast<size_t>(results));
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  int64_t BlockLength() const {
    const int64_t length =
        std::max(kBlock / problem_.inner, std::min<int64_t>(problem_.reduced, kLeastRows));
    return problem_.inner == 1 ? length : std::min(length, kMostRows);
  }
  // Nothing is reduced: axes of size 1, or none, as in gradients of sums of equal shapes.
  void Copy(const char* x, char* y) const {
    const auto size = static_cast<int64_t>(SizeOf(dtype_));
    ParallelFor(threads_, problem_.outer * problem_.inner,
                ParallelGrain(2.0 * static_cast<double>(size) / kBytesPerNs),
                [&](int64_t begin, int64_t end) {
                  std::memcpy(y + begin * size, x + begin * size,
                              static_cast<size_t>((end - begin) * size));
                });
  }
  int64_t Blocks() const { return (problem_.reduced + BlockLength() - 1) / BlockLength(); }

  void Divide(float* y, int64_t n) const {
    if (!problem_.mean) return;
    const float count = static_cast<float>(problem_.reduced * problem_.repeat);
    divide_fn_(y, &count, nullptr, y, static_cast<size_t>(n), 0);
  }

  // Calls f(i, result) for `count` rows, or blocks of rows, of `length` elements.
  template <typename F>
  void ReduceRows(const float* x, int64_t length, int64_t count, const F& f) const {
    for (int64_t i = 0; i < count; ++i) f(i, row_fn_(x + i * length, static_cast<size_t>(length)));
  }
  template <typename F>
  void ReduceRows(const uint16_t* x, int64_t length, int64_t count, const F& f) const {
    float wide[kWidened];
    if (length <= kWidened) {
      const int64_t most = kWidened / length;
      for (int64_t i = 0; i < count; i += most) {
        const int64_t rows = std::min(most, count - i);
        WidenHalf(x + i * length, wide, static_cast<size_t>(rows * length));
        ReduceRows(wide, length, rows, [&](int64_t row, double v) { f(i + row, v); });
      }
      return;
    }
    for (int64_t i = 0; i < count; ++i, x += length) {
      double total = 0;
      for (int64_t at = 0; at < length; at += kWidened) {
        const auto n = static_cast<size_t>(std::min(kWidened, length - at));
        WidenHalf(x + at, wide, n);
        const double part = row_fn_(wide, n);
        total = at == 0 ? part : Combine(total, part);
      }
      f(i, total);
    }
  }

  void RunShortRows(const float* x, float* y) const {
    const int64_t n = problem_.reduced;
    const int64_t grain = ParallelGrain(0.2 * static_cast<double>(n));
    ParallelFor(threads_, problem_.outer, grain, [&](int64_t begin, int64_t end) {
      short_rows_fn_(x + begin * n, static_cast<size_t>(end - begin), y + begin);
      Divide(y + begin, end - begin);
    });
  }

  // A block of a row, or a whole row, is rounded once: a mean's sum is divided before.
  template <typename T>
  void RunRows(const T* x, float* y, float* scratch) const {
    const int64_t blocks = Blocks(), length = BlockLength(), n = problem_.reduced;
    const int64_t all = problem_.repeat * problem_.outer;
    const bool divide = problem_.mean && problem_.repeat == 1;
    const double count = divide ? static_cast<double>(n) : 1;
    float* const rows = problem_.repeat == 1 ? y : scratch + (blocks == 1 ? 0 : all * blocks);
    float* const parts = blocks == 1 ? rows : scratch;
    const int64_t grain = ParallelGrain(0.1 * static_cast<double>(std::min(n, length)) + 5);
    ParallelFor(threads_, all * blocks, grain, [&](int64_t begin, int64_t end) {
      if (blocks == 1) {
        ReduceRows(x + begin * n, n, end - begin,
                   [&](int64_t i, double v) { parts[begin + i] = Rounded(v, count); });
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / blocks, from = i % blocks * length;
        ReduceRows(x + row * n + from, std::min(length, n - from), 1,
                   [&](int64_t, double v) { parts[i] = static_cast<float>(v); });
      }
    });
    for (int64_t row = 0; blocks > 1 && row < all; ++row) {
      const float* const of_row = parts + row * blocks;
      double total = double{of_row[0]};
      for (int64_t i = 1; i < blocks; ++i) total = Combine(total, double{of_row[i]});
      rows[row] = Rounded(total, count);
    }
    if (problem_.repeat > 1) {
      columns_fn_(rows, problem_.repeat, problem_.outer, static_cast<size_t>(problem_.outer), y);
      Divide(y, problem_.outer);
    }
  }

  // The quotient; infinite if the sum is, as a float.
  static float Rounded(double sum, double count) {
    const float rounded = static_cast<float>(sum);
    return std::isinf(rounded) ? rounded : static_cast<float>(sum / count);
  }

  // Of results of blocks; NaN stays.
  double Combine(double a, double b) const {
    if (problem_.kind == ReduceKind::kSum) return a + b;
    if (std::isnan(a) || std::isnan(b)) return a + b;
    return problem_.kind == ReduceKind::kMax ? std::max(a, b) : std::min(a, b);
  }

  // Calls f(plane, from, to) for ranges of columns of `planes` planes of about `rows` rows, in
  // parallel.
  template <typename F>
  void Columns(int64_t planes, int64_t rows, const F& f) const {
    const int64_t inner = problem_.inner, shares = (inner + kColumns - 1) / kColumns;
    const double ns = 0.05 * static_cast<double>(rows * std::min(inner, kColumns)) + 5;
    ParallelFor(threads_, planes * shares, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t plane = begin / shares, first = begin % shares;
        const int64_t last = std::min(shares, first + (end - begin));
        f(plane, first * kColumns, std::min(last * kColumns, inner));
        begin += last - first;
      }
    });
  }

  template <typename T, typename ColumnsFn>
  void RunColumns(const T* x, ColumnsFn columns, float* y, float* scratch) const {
    const int64_t inner = problem_.inner, blocks = Blocks(), length = BlockLength();
    float* parts = blocks == 1 ? y : scratch;
    Columns(problem_.outer * blocks, length, [&](int64_t plane, int64_t from, int64_t to) {
      const int64_t o = plane / blocks, first = plane % blocks * length;
      const int64_t rows = std::min(length, problem_.reduced - first);
      columns(x + (o * problem_.reduced + first) * inner + from, rows, inner,
              static_cast<size_t>(to - from), parts + plane * inner + from);
    });
    if (blocks > 1) {
      for (int64_t o = 0; o < problem_.outer; ++o) {
        columns_fn_(parts + o * blocks * inner, blocks, inner, static_cast<size_t>(inner),
                    y + o * inner);
      }
    }
    Divide(y, problem_.outer * inner);
  }

  const Problem problem_;
  const int threads_;
  const DType dtype_;
  const ReduceRowFn row_fn_;
  const ReduceShortRowsFn short_rows_fn_;  // null: rows are longer
  const ReduceColumnsFn columns_fn_;
  const Bfloat16ColumnsFn bfloat16_sums_ = FindBfloat16Sums();
  const TileFn divide_fn_;
};

absl::StatusOr<std::unique_ptr<ReduceKernel>> ReduceOf(const Shape& in, VectorReduction reduction,
                                                       const std::vector<bool>& mask, DType dtype,
                                                       int threads) {
  TENON_RETURN_IF_ERROR(CheckDType(dtype, reduction));
  TENON_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(in, reduction, mask));
  if (dtype == DType::kBfloat16 && (problem.repeat > 1 || problem.inner == 1)) {
    return Unimplemented("bfloat16 only by columns");
  }
  return std::make_unique<ReduceKernel>(problem, threads, dtype);
}

absl::StatusOr<std::unique_ptr<Kernel>> Reduce(PrepareContext& p, VectorReduction reduction,
                                               const std::vector<bool>& mask) {
  TENON_ASSIGN_OR_RETURN(
      std::unique_ptr<ReduceKernel> kernel,
      ReduceOf(p.input_shape(0), reduction, mask, p.input_dtype(0), p.services().threads));
  if (p.num_inputs() > 1) p.InputNotRead(1);
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorReduce(PrepareContext& p, VectorReduction reduction) {
  TENON_RETURN_IF_ERROR(CheckDType(p.input_dtype(0), reduction));
  const Tensor* axes_value = p.value(1);
  if (axes_value == nullptr) return Unimplemented("the axes are not known");
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegersOf(*axes_value));
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> mask, AxisMask(axes, p.input_shape(0).rank()));
  return Reduce(p, reduction, mask);
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorReduceAllBut(PrepareContext& p,
                                                           VectorReduction reduction, int kept) {
  std::vector<bool> mask(static_cast<size_t>(p.input_shape(0).rank()), true);
  mask[static_cast<size_t>(kept)] = false;
  return Reduce(p, reduction, mask);
}

absl::StatusOr<SumWithScratch> VectorSumOf(const Shape& in, const std::vector<bool>& axes,
                                           DType dtype, int threads) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<ReduceKernel> kernel,
                         ReduceOf(in, VectorReduction::kSum, axes, dtype, threads));
  const size_t scratch_bytes = kernel->ScratchBytes();
  return SumWithScratch{std::move(kernel), scratch_bytes};
}

}  // namespace tenon

// Mean, Sum, Max, Min and BiasAddGrad of float if, after merging adjacent axes, the input is
// [outer, reduced, inner] or [reduced, outer, reduced]. Global average pooling is [N, H W, C], a
// softmax's sum [rows, n, 1], a sum per channel [N H W, C] or [N, C, H W]. Also Mean of bfloat16
// [outer, reduced, inner].
#include "kernels/reduction/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
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

absl::Status CheckDType(const PrepareContext& p, VectorReduction reduction) {
  const bool half = p.input_dtype(0) == DType::kBfloat16 && reduction == VectorReduction::kMean;
  if (p.input_dtype(0) != DType::kFloat && !half) return Unimplemented("only float");
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

class ReduceKernel final : public Kernel {
 public:
  // `half`: columns of bfloat16, which are summed in float and rounded once.
  ReduceKernel(const Problem& problem, int threads, bool half)
      : problem_(problem),
        threads_(threads),
        half_(half),
        row_fn_(FindReduceRow(problem.kind)),
        columns_fn_(FindReduceColumns(problem.kind)),
        divide_fn_(FindTileFn(ElementwiseOp::kDiv, TileForm::kScalarB)) {}

  // Results before they are rounded, partial results of the blocks, then of the repetitions.
  size_t ScratchBytes() const {
    const int64_t results = problem_.repeat * problem_.outer * problem_.inner;
    const int64_t repetitions = problem_.repeat > 1 ? results : 0;
    const int64_t unrounded = half_ ? results : 0, parts = Blocks() == 1 ? 0 : results * Blocks();
    return static_cast<size_t>(unrounded + parts + repetitions) * sizeof(float);
  }

  absl::Status Run(RunContext& context) const override {
    float* const scratch = static_cast<float*>(context.scratch());
    float* const y = context.output<float>(0);
    if (half_) {
      const int64_t results = problem_.outer * problem_.inner;
      RunColumns(context.input<uint16_t>(0), bfloat16_sums_, scratch, scratch + results);
      NarrowToBfloat16(scratch, context.output<uint16_t>(0), static_cast<size_t>(results));
    } else if (problem_.inner == 1) {
      RunRows(context.input<float>(0), y, scratch);
    } else {
      RunColumns(context.input<float>(0), columns_fn_, y, scratch);
    }
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
  int64_t Blocks() const { return (problem_.reduced + BlockLength() - 1) / BlockLength(); }

  void Divide(float* y, int64_t n) const {
    if (!problem_.mean) return;
    const float count = static_cast<float>(problem_.reduced * problem_.repeat);
    divide_fn_(y, &count, nullptr, y, static_cast<size_t>(n), 0);
  }

  // A block of a row, or a whole row, is rounded once: a mean's sum is divided before.
  void RunRows(const float* x, float* y, float* scratch) const {
    const int64_t blocks = Blocks(), length = BlockLength(), n = problem_.reduced;
    const int64_t all = problem_.repeat * problem_.outer;
    const bool divide = problem_.mean && problem_.repeat == 1;
    const double count = divide ? static_cast<double>(n) : 1;
    float* const rows = problem_.repeat == 1 ? y : scratch + (blocks == 1 ? 0 : all * blocks);
    float* const parts = blocks == 1 ? rows : scratch;
    const int64_t grain = ParallelGrain(0.1 * static_cast<double>(std::min(n, length)) + 5);
    ParallelFor(threads_, all * blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / blocks, from = i % blocks * length;
        const double part =
            row_fn_(x + row * n + from, static_cast<size_t>(std::min(length, n - from)));
        parts[i] = blocks == 1 ? Rounded(part, count) : static_cast<float>(part);
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
  const bool half_;
  const ReduceRowFn row_fn_;
  const ReduceColumnsFn columns_fn_;
  const Bfloat16ColumnsFn bfloat16_sums_ = FindBfloat16Sums();
  const TileFn divide_fn_;
};

absl::StatusOr<std::unique_ptr<Kernel>> Reduce(PrepareContext& p, VectorReduction reduction,
                                               const std::vector<bool>& mask) {
  TENON_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(p.input_shape(0), reduction, mask));
  const bool half = p.input_dtype(0) == DType::kBfloat16;
  if (half && (problem.repeat > 1 || problem.inner == 1)) {
    return Unimplemented("bfloat16 only by columns");
  }
  if (p.num_inputs() > 1) p.InputNotRead(1);
  auto kernel = std::make_unique<ReduceKernel>(problem, p.services().threads, half);
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorReduce(PrepareContext& p, VectorReduction reduction) {
  TENON_RETURN_IF_ERROR(CheckDType(p, reduction));
  const Tensor* axes_value = p.value(1);
  if (axes_value == nullptr) return Unimplemented("the axes are not known");
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegersOf(*axes_value));
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> mask, AxisMask(axes, p.input_shape(0).rank()));
  return Reduce(p, reduction, mask);
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorReduceAllBut(PrepareContext& p,
                                                           VectorReduction reduction, int kept) {
  TENON_RETURN_IF_ERROR(CheckDType(p, reduction));
  std::vector<bool> mask(static_cast<size_t>(p.input_shape(0).rank()), true);
  mask[static_cast<size_t>(kept)] = false;
  return Reduce(p, reduction, mask);
}

}  // namespace tenon

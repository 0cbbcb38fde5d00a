// Mean, Sum, Max, Min of float where the reduced axes stand together: [outer, reduced, inner]
// after joining neighbours. Global average pooling is [N, H W, C], a softmax's sum [rows, n, 1].
#include <algorithm>
#include <cstring>

#include "env/status.h"
#include "ops/array/axis.h"
#include "ops/op.h"
#include "ops/parallel.h"
#include "ops/vector/elementwise.h"
#include "ops/vector/reduce_simd.h"
#include "ops/vector/vector_kernels.h"

namespace tenon {
namespace {

// Long rows are cut into blocks of a fixed length, whatever the threads, so that the bits of a
// sum do not depend on them.
constexpr int64_t kBlock = 16384;
constexpr int64_t kColumns = 64;  // a thread's share of columns is a multiple of a cache line

struct Problem {
  ReduceKind kind = ReduceKind::kSum;
  bool mean = false;
  int64_t outer = 1, reduced = 1, inner = 1;
};

absl::StatusOr<Problem> ProblemOf(PrepareContext& p) {
  const OpLookup op = FindOp(p.node().op);
  const absl::string_view name = op ? op.info->row.name : absl::string_view(p.node().op);
  Problem problem;
  if (name == "Max") {
    problem.kind = ReduceKind::kMax;
  } else if (name == "Min") {
    problem.kind = ReduceKind::kMin;
  } else if (name == "Mean") {
    problem.mean = true;
  } else if (name != "Sum") {
    return Unimplemented("no vector kernel for ", name);
  }
  if (p.input_dtype(0) != DType::kFloat) return Unimplemented("only float");
  const Tensor* axes_value = p.value(1);
  if (axes_value == nullptr) return Unimplemented("the axes are not known");
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegersOf(*axes_value));
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> mask, AxisMask(axes, in.rank()));

  enum { kOuter, kReduced, kInner } part = kOuter;
  for (int d = 0; d < in.rank(); ++d) {
    if (in.dim(d) == 1) continue;
    const bool reduce = mask[static_cast<size_t>(d)];
    if (reduce) {
      if (part == kInner) return Unimplemented("reduced axes that stand apart");
      part = kReduced;
      problem.reduced *= in.dim(d);
    } else if (part == kOuter) {
      problem.outer *= in.dim(d);
    } else {
      part = kInner;
      problem.inner *= in.dim(d);
    }
  }
  if (in.num_elements() == 0) return Unimplemented("nothing to reduce");
  return problem;
}

class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Problem& problem, int threads)
      : problem_(problem),
        threads_(threads),
        row_fn_(FindReduceRow(problem.kind)),
        columns_fn_(FindReduceColumns(problem.kind)),
        divide_fn_(FindTileFn(ElementwiseOp::kDiv, TileForm::kScalarB)) {}

  size_t ScratchBytes() const {
    return problem_.inner == 1 && Blocks() > 1
               ? static_cast<size_t>(problem_.outer * Blocks()) * sizeof(float)
               : 0;
  }

  absl::Status Run(RunContext& context) const override {
    const float* x = context.input<float>(0);
    float* y = context.output<float>(0);
    if (problem_.inner == 1) {
      RunRows(x, y, static_cast<float*>(context.scratch()));
    } else {
      RunColumns(x, y);
    }
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  int64_t Blocks() const { return (problem_.reduced + kBlock - 1) / kBlock; }

  void Divide(float* y, int64_t n) const {
    if (!problem_.mean) return;
    const float count = static_cast<float>(problem_.reduced);
    divide_fn_(y, &count, nullptr, y, static_cast<size_t>(n), 0);
  }

  void RunRows(const float* x, float* y, float* scratch) const {
    const int64_t blocks = Blocks(), n = problem_.reduced;
    float* parts = blocks == 1 ? y : scratch;
    const int64_t grain = ParallelGrain(0.1 * static_cast<double>(std::min(n, kBlock)) + 5);
    ParallelFor(threads_, problem_.outer * blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / blocks, from = i % blocks * kBlock;
        parts[i] = row_fn_(x + row * n + from, static_cast<size_t>(std::min(kBlock, n - from)));
      }
    });
    if (blocks > 1) {
      for (int64_t row = 0; row < problem_.outer; ++row) {
        y[row] = row_fn_(parts + row * blocks, static_cast<size_t>(blocks));
      }
    }
    Divide(y, problem_.outer);
  }

  void RunColumns(const float* x, float* y) const {
    const int64_t inner = problem_.inner, shares = (inner + kColumns - 1) / kColumns;
    const double ns = 0.05 * static_cast<double>(problem_.reduced * std::min(inner, kColumns)) + 5;
    ParallelFor(threads_, problem_.outer * shares, ParallelGrain(ns),
                [&](int64_t begin, int64_t end) {
                  while (begin < end) {  // whole stretches of columns of one outer index
                    const int64_t o = begin / shares, first = begin % shares;
                    const int64_t last = std::min(shares, first + (end - begin));
                    const int64_t from = first * kColumns, to = std::min(last * kColumns, inner);
                    columns_fn_(x + o * problem_.reduced * inner + from, problem_.reduced, inner,
                                static_cast<size_t>(to - from), y + o * inner + from);
                    Divide(y + o * inner + from, to - from);
                    begin += last - first;
                  }
                });
  }

  const Problem problem_;
  const int threads_;
  const ReduceRowFn row_fn_;
  const ReduceColumnsFn columns_fn_;
  const TileFn divide_fn_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorReduce(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(p));
  p.InputNotRead(1);
  auto kernel = std::make_unique<ReduceKernel>(problem, p.services().threads);
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon

#include "kernels/reduction/squared_distance.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/elementwise/broadcast.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/reduction/squared_distance_simd.h"

namespace tenon {
namespace {

// Both inputs broadcast; the last dimension is summed.
struct DistanceProblem {
  absl::InlinedVector<int64_t, 6> dims, a, b;  // strides of the inputs, elements
  int64_t terms() const { return dims.back(); }
  int64_t results() const {
    int64_t n = 1;
    for (size_t d = 0; d + 1 < dims.size(); ++d) n *= dims[d];
    return n;
  }
};

absl::StatusOr<DistanceProblem> DistanceProblemOf(const PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Shape whole, BroadcastShapes(p.input_shape(0), p.input_shape(1)));
  const int rank = whole.rank();
  if (rank == 0) return InvalidArgument("there is no axis to sum over");
  // An input without the last axis keeps it apart from the others.
  Shape apart = whole;
  apart.set_dim(rank - 1, 1);
  TENON_ASSIGN_OR_RETURN(CollapsedBroadcast broadcast,
                         CollapseBroadcast({p.input_shape(0), p.input_shape(1), apart}, whole));
  DistanceProblem problem{std::move(broadcast.dims), std::move(broadcast.strides[0]),
                          std::move(broadcast.strides[1])};
  if (whole.dim(rank - 1) == 1) {  // it was dropped
    problem.dims.push_back(1);
    problem.a.push_back(0);
    problem.b.push_back(0);
  }
  return problem;
}

// fn(result, element of a, element of b) for the results [begin, end).
template <typename F>
void ForResults(const DistanceProblem& problem, int64_t begin, int64_t end, F fn) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t rest = i, a = 0, b = 0;
    for (size_t d = problem.dims.size() - 1; d-- > 0;) {
      const int64_t at = rest % problem.dims[d];
      rest /= problem.dims[d];
      a += at * problem.a[d];
      b += at * problem.b[d];
    }
    fn(i, a, b);
  }
}

class SquaredDistanceKernel final : public Kernel {
 public:
  SquaredDistanceKernel(PrepareContext& p, DistanceProblem problem)
      : problem_(std::move(problem)), loops_(FindDistanceLoops()), threads_(p.services().threads) {
    const auto& [dims, a, b] = problem_;
    const int64_t k = problem_.terms();
    if (dims.size() != 3 || dims[0] < static_cast<int64_t>(loops_.rows)) return;
    const auto runs = [k](const auto& strides, int64_t outer, int64_t inner) {
      return strides[0] == outer * k && strides[1] == inner * k;
    };
    if (runs(a, 1, 0) && runs(b, 0, 1)) points_ = 0;
    if (runs(b, 1, 0) && runs(a, 0, 1)) points_ = 1;
    if (points_ < 0) return;
    panels_ = CeilDiv(dims[1], static_cast<int64_t>(loops_.columns));
    p.RequestScratch(static_cast<size_t>(panels_ * k) * loops_.columns * sizeof(float));
  }

  absl::Status Run(RunContext& r) const override {
    if (points_ >= 0) {
      RunAll(r);
    } else {
      RunEach(r);
    }
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat(points_ >= 0 ? "all pairs:" : "vector:", VectorTargetName());
  }
  double Flops() const override {
    return 3.0 * static_cast<double>(problem_.results()) * static_cast<double>(problem_.terms());
  }

 private:
  void RunEach(RunContext& r) const {
    const float *const a = r.input<float>(0), *const b = r.input<float>(1);
    const auto terms = static_cast<size_t>(problem_.terms());
    const double ns = 5 + 0.1 * static_cast<double>(terms);
    ParallelFor(threads_, problem_.results(), ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      ForResults(problem_, begin, end, [&](int64_t i, int64_t at_a, int64_t at_b) {
        r.output<float>(0)[i] = loops_.one(a + at_a, b + at_b, terms);
      });
    });
  }

  // Each of the points with each of the centers, which are packed first.
  void RunAll(RunContext& r) const {
    const float* const points = r.input<float>(points_);
    const float* const centers = r.input<float>(1 - points_);
    float* const packed = static_cast<float*>(r.scratch());
    const int64_t rows = problem_.dims[0], columns = problem_.dims[1], terms = problem_.terms();
    const auto width = static_cast<int64_t>(loops_.columns);
    ParallelFor(threads_, panels_, ParallelGrain(static_cast<double>(width * terms)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t j = begin * width; j < end * width; ++j) {
                    float* to = packed + j / width * width * terms + j % width;
                    for (int64_t k = 0; k < terms; ++k, to += width) {
                      *to = j < columns ? centers[j * terms + k] : 0.0f;
                    }
                  }
                });
    const auto tile = static_cast<int64_t>(loops_.rows);
    const double ns = 0.05 * static_cast<double>(tile * panels_ * width * terms);
    ParallelFor(threads_, CeilDiv(rows, tile), ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      DistanceBlock block;
      block.a = points + begin * tile * terms;
      block.b = packed;
      block.rows = static_cast<size_t>(std::min(end * tile, rows) - begin * tile);
      block.columns = block.out_row = static_cast<size_t>(columns);
      block.terms = static_cast<size_t>(terms);
      block.out = r.output<float>(0) + begin * tile * columns;
      loops_.all(block);
    });
  }

  const DistanceProblem problem_;
  const DistanceLoops loops_;
  const int threads_;
  int points_ = -1;  // the input whose rows meet all rows of the other; -1: other shapes
  int64_t panels_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SquaredDistanceReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(DistanceProblem problem, DistanceProblemOf(p));
  const int64_t results = p.output_shape(0).num_elements();
  return MakeKernel([problem = std::move(problem), results](RunContext& r) {
    const float *const x = r.input<float>(0), *const y = r.input<float>(1);
    const int64_t a_step = problem.a.back(), b_step = problem.b.back();
    ForResults(problem, 0, results, [&](int64_t i, int64_t a, int64_t b) {
      double sum = 0;
      for (int64_t k = 0; k < problem.terms(); ++k) {
        const float d = x[a + k * a_step] - y[b + k * b_step];
        sum += double{d * d};
      }
      r.output<float>(0)[i] = static_cast<float>(sum);
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SquaredDistanceVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(DistanceProblem problem, DistanceProblemOf(p));
  if (problem.a.back() != 1 || problem.b.back() != 1 || problem.terms() == 0) {
    return Unimplemented("the last axis is broadcast or empty");
  }
  return std::make_unique<SquaredDistanceKernel>(p, std::move(problem));
}

}  // namespace tenon

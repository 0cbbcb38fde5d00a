#include "kernels/reduction/arg_reduce.h"

#include <algorithm>
#include <cstdint>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/arg_reduce_simd.h"

namespace tenon {
namespace {

// Columns that are reduced together: some cache lines of each row.
constexpr int64_t kTogether = 128;
// The input is [outer, n, inner].
struct ArgProblem {
  int64_t outer = 1, n = 1, inner = 1;
  size_t element_bytes = 0;
  ArgReduceLoops loops;
  int threads = 1;

  // put(position of the output, index)
  template <typename Put>
  void ForRows(const char* x, Put put) const {
    const double ns = 5 + 0.05 * static_cast<double>(n);
    const size_t row = static_cast<size_t>(n) * element_bytes;
    ParallelFor(threads, outer, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        put(o, loops.row(x + static_cast<size_t>(o) * row, static_cast<size_t>(n)));
      }
    });
  }

  template <typename Put>
  void ForColumns(const char* x, Put put) const {
    const int64_t blocks = CeilDiv(inner, kTogether);
    const double ns = 5 + 0.1 * static_cast<double>(n * std::min(inner, kTogether));
    ParallelFor(threads, outer * blocks, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      int32_t indices[kTogether];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t o = i / blocks, first = i % blocks * kTogether;
        const int64_t columns = std::min(kTogether, inner - first);
        loops.columns(x + static_cast<size_t>(o * n * inner + first) * element_bytes,
                      static_cast<int32_t>(n), inner, static_cast<size_t>(columns), indices);
        for (int64_t c = 0; c < columns; ++c) put(o * inner + first + c, indices[c]);
      }
    });
  }
};

absl::StatusOr<std::unique_ptr<Kernel>> VectorArgReduce(PrepareContext& p, bool largest) {
  const bool half = p.input_dtype(0) == DType::kBfloat16;
  if (p.input_dtype(0) != DType::kFloat && !half) return Unimplemented("only float and bfloat16");
  if (p.value(1) == nullptr) return Unimplemented("the axis is not known");
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*p.value(1), "dimension"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  ArgProblem problem;
  problem.outer = Product(in, 0, axis);
  problem.n = in.dim(axis);
  problem.inner = Product(in, axis + 1, in.rank());
  if (problem.n > INT32_MAX) return Unimplemented("indices of more than 32 bits");
  problem.element_bytes = SizeOf(p.input_dtype(0));
  problem.loops = FindArgReduceLoops(half ? ArgElement::kBfloat16 : ArgElement::kFloat, largest);
  problem.threads = p.services().threads;
  p.InputNotRead(1);
  return DispatchType(
      TypeList<int16_t, uint16_t, int32_t, int64_t>{}, p.output_dtype(0), [&]<typename I>() {
        return MakeKernel(
            [problem](RunContext& run) {
              const char* const x = static_cast<const char*>(run.input(0));
              I* const out = run.output<I>(0);
              const auto put = [out](int64_t at, auto index) { out[at] = static_cast<I>(index); };
              problem.inner == 1 ? problem.ForRows(x, put) : problem.ForColumns(x, put);
              return absl::OkStatus();
            },
            "vector");
      });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorArgMax(PrepareContext& p) {
  return VectorArgReduce(p, /*largest=*/true);
}
absl::StatusOr<std::unique_ptr<Kernel>> VectorArgMin(PrepareContext& p) {
  return VectorArgReduce(p, /*largest=*/false);
}

}  // namespace tenon

#include "kernels/attention/rotary.h"

#include <utility>

#include "env/status.h"
#include "kernels/attention/rotary_simd.h"
#include "kernels/elementwise/broadcast.h"
#include "kernels/elementwise/float_rows.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

struct RotaryProblem {
  int64_t rows = 0, half = 0, second = 0;
  bool interleaved = false;
  CollapsedBroadcast angles;  // the rows of cos and sin, in elements

  // The first element of a row of cos (0) or sin (1).
  int64_t AngleOffset(size_t input, int64_t row) const {
    int64_t offset = 0;
    for (size_t d = angles.dims.size(); d-- > 0;) {
      offset += row % angles.dims[d] * angles.strides[input][d];
      row /= angles.dims[d];
    }
    return offset;
  }
};

Shape WithoutLast(const Shape& s) { return Shape(s.dims().subspan(0, s.dims().size() - 1)); }

absl::StatusOr<RotaryProblem> RotaryProblemOf(const PrepareContext& p) {
  const Shape &x = p.input_shape(0), &cos = p.input_shape(1), &sin = p.input_shape(2);
  RotaryProblem problem;
  const int64_t n = x.dim(x.rank() - 1), angles = cos.dim(cos.rank() - 1);
  problem.half = n / 2;
  problem.interleaved = p.attrs().Bool("interleaved", false);
  problem.second = angles == n ? problem.half : 0;
  problem.rows = n == 0 ? 0 : x.num_elements() / n;
  TENON_ASSIGN_OR_RETURN(problem.angles,
                         CollapseBroadcast({WithoutLast(cos), WithoutLast(sin)}, WithoutLast(x)));
  for (auto& strides : problem.angles.strides) {
    for (int64_t& stride : strides) stride *= angles;
  }
  return problem;
}

class RotaryKernel final : public FloatRowsKernel {
 public:
  RotaryKernel(RotaryProblem problem, DType dtype, int threads)
      : FloatRowsKernel(problem.rows, 0.2 * static_cast<double>(problem.half) + 10, dtype,
                        /*floats=*/6 * problem.half, threads),
        problem_(std::move(problem)),
        row_fn_(FindRotaryRow(problem_.interleaved)) {}

 private:
  void RunFloat(const RunContext& context, int64_t begin, int64_t end) const override {
    RotaryRow row;
    row.half = static_cast<size_t>(problem_.half);
    row.second = static_cast<size_t>(problem_.second);
    for (int64_t r = begin; r < end; ++r) {
      row.x = context.input<float>(0) + r * 2 * problem_.half;
      row.cos = context.input<float>(1) + problem_.AngleOffset(0, r);
      row.sin = context.input<float>(2) + problem_.AngleOffset(1, r);
      row.y = context.output<float>(0) + r * 2 * problem_.half;
      row_fn_(row);
    }
  }

  // Scratch: x, cos, sin.
  void RunBfloat16(const RunContext& context, float* x, int64_t begin, int64_t end) const override {
    const int64_t n = 2 * problem_.half;
    const size_t count = static_cast<size_t>(n);
    const size_t angles = static_cast<size_t>(problem_.half + problem_.second);
    float *cos = x + n, *sin = cos + n;
    const RotaryRow row{x, cos, sin, x, count / 2, static_cast<size_t>(problem_.second)};
    for (int64_t r = begin; r < end; ++r) {
      WidenBfloat16(context.input<uint16_t>(0) + r * n, x, count);
      WidenBfloat16(context.input<uint16_t>(1) + problem_.AngleOffset(0, r), cos, angles);
      WidenBfloat16(context.input<uint16_t>(2) + problem_.AngleOffset(1, r), sin, angles);
      row_fn_(row);
      NarrowToBfloat16(x, context.output<uint16_t>(0) + r * n, count);
    }
  }

  const RotaryProblem problem_;
  const RotaryRowFn row_fn_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RotaryReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const RotaryProblem problem, RotaryProblemOf(p));
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([problem](RunContext& context) {
      const int64_t h = problem.half;
      for (int64_t r = 0; r < problem.rows; ++r) {
        const T* x = context.input<T>(0) + r * 2 * h;
        const T* cos = context.input<T>(1) + problem.AngleOffset(0, r);
        const T* sin = context.input<T>(2) + problem.AngleOffset(1, r);
        T* y = context.output<T>(0) + r * 2 * h;
        for (int64_t i = 0; i < h; ++i) {
          const int64_t first = problem.interleaved ? 2 * i : i;
          const int64_t last = problem.interleaved ? first + 1 : h + i;
          const int64_t k = problem.interleaved ? last : problem.second + i;
          const auto a = ToCompute(x[first]), b = ToCompute(x[last]);
          y[first] = static_cast<T>(a * ToCompute(cos[first]) - b * ToCompute(sin[first]));
          y[last] = static_cast<T>(b * ToCompute(cos[k]) + a * ToCompute(sin[k]));
        }
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RotaryVector(PrepareContext& p) {
  const DType dtype = p.input_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) return NoKernelFor(dtype);
  TENON_ASSIGN_OR_RETURN(RotaryProblem problem, RotaryProblemOf(p));
  auto kernel = std::make_unique<RotaryKernel>(std::move(problem), dtype, p.services().threads);
  p.RequestScratch(kernel->ScratchBytes());
  p.AllowInPlace(0, 0);  // both elements of a pair are read before one is written
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon

#include "kernels/normalization/layer_norm.h"

#include <cmath>
#include <utility>
#include <vector>

#include "kernels/elementwise/broadcast.h"
#include "kernels/elementwise/float_rows.h"
#include "kernels/interface/types.h"
#include "kernels/normalization/row_simd.h"

namespace tenon {
namespace {

enum class Form { kLayerNorm, kRms };

// Inputs x, [residual,] gamma, and beta of a layer norm.
struct Problem {
  bool residual = false;
  int gamma = 1, beta = 2;  // beta is -1 for RMSNorm
  int64_t rows = 0, columns = 0;
  float epsilon = 0;
};

absl::StatusOr<Problem> ProblemOf(PrepareContext& p, Form form) {
  const int parameters = form == Form::kLayerNorm ? 2 : 1;
  Problem problem;
  problem.residual = p.num_inputs() == 2 + parameters;
  problem.gamma = p.num_inputs() - parameters;
  problem.beta = form == Form::kLayerNorm ? p.num_inputs() - 1 : -1;
  const Shape& x = p.output_shape(0);
  problem.columns = x.dim(x.rank() - 1);
  problem.rows = problem.columns == 0 ? 0 : x.num_elements() / problem.columns;
  TENON_ASSIGN_OR_RETURN(problem.epsilon, p.attrs().Float("epsilon"));
  return problem;
}

template <typename T>
void ReferenceRow(const Problem& problem, const RunContext& context, const T* x, const T* residual,
                  int64_t row) {
  const int64_t n = problem.columns, at = row * n;
  x += at;
  if (residual != nullptr) residual += at;
  const auto s = [&](int64_t i) {
    return residual == nullptr
               ? static_cast<double>(x[i])
               : static_cast<double>(static_cast<T>(ToCompute(x[i]) + ToCompute(residual[i])));
  };
  double mean = 0, variance = 0;
  const bool centered = problem.beta >= 0;
  for (int64_t i = 0; centered && i < n; ++i) mean += s(i) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) variance += (s(i) - mean) * (s(i) - mean);
  const double scale = 1 / std::sqrt(variance / static_cast<double>(n) + problem.epsilon);
  T* y = context.output<T>(0) + at;
  T* sum = problem.residual ? context.output<T>(1) : nullptr;
  for (int64_t i = 0; i < n; ++i) {
    const double gamma = static_cast<double>(context.input<T>(problem.gamma)[i]);
    const double beta = centered ? static_cast<double>(context.input<T>(problem.beta)[i]) : 0.0;
    const double si = s(i);
    if (sum != nullptr) sum[at + i] = static_cast<T>(si);
    y[i] = static_cast<T>((si - mean) * scale * gamma + beta);
  }
}

// Reads `from` broadcast to the output.
template <typename T>
std::vector<T> Expanded(const T* from, const CollapsedBroadcast& broadcast, size_t input,
                        int64_t elements) {
  std::vector<T> out(static_cast<size_t>(elements));
  const auto& strides = broadcast.strides[input];
  for (int64_t i = 0; i < elements; ++i) {
    int64_t offset = 0, rest = i;
    for (size_t d = broadcast.dims.size(); d-- > 0;) {
      offset += rest % broadcast.dims[d] * strides[d];
      rest /= broadcast.dims[d];
    }
    out[static_cast<size_t>(i)] = from[offset];
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> BroadcastReference(PrepareContext& p,
                                                           const Problem& problem) {
  TENON_ASSIGN_OR_RETURN(
      const CollapsedBroadcast broadcast,
      CollapseBroadcast({p.input_shape(0), p.input_shape(1)}, p.output_shape(0)));
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([problem, broadcast](RunContext& context) {
      const int64_t elements = problem.rows * problem.columns;
      const std::vector<T> x = Expanded(context.input<T>(0), broadcast, 0, elements);
      const std::vector<T> residual = Expanded(context.input<T>(1), broadcast, 1, elements);
      for (int64_t row = 0; row < problem.rows; ++row) {
        ReferenceRow<T>(problem, context, x.data(), residual.data(), row);
      }
      return absl::OkStatus();
    });
  });
}

// Whether x and the residual have the output's shape.
bool IsPlain(const PrepareContext& p, const Problem& problem) {
  return p.input_shape(0) == p.output_shape(0) &&
         (!problem.residual || p.input_shape(1) == p.output_shape(0));
}

class LastAxisNormKernel final : public FloatRowsKernel {
 public:
  LastAxisNormKernel(const Problem& problem, DType dtype, int threads)
      : FloatRowsKernel(problem.rows, 0.25 * static_cast<double>(problem.columns) + 20, dtype,
                        /*floats=*/4 * problem.columns, threads),
        problem_(problem) {}

 private:
  void RunFloat(const RunContext& context, int64_t begin, int64_t end) const override {
    const int64_t n = problem_.columns;
    float* sum = problem_.residual ? context.output<float>(1) : nullptr;
    LayerNormRow row;
    row.gamma = context.input<float>(problem_.gamma);
    if (problem_.beta >= 0) row.beta = context.input<float>(problem_.beta);
    row.n = static_cast<size_t>(n);
    row.epsilon = problem_.epsilon;
    for (int64_t r = begin; r < end; ++r) {
      row.x = context.input<float>(0) + r * n;
      if (problem_.residual) row.residual = context.input<float>(1) + r * n;
      row.y = context.output<float>(0) + r * n;
      row.sum = sum == nullptr ? nullptr : sum + r * n;
      row_fn_(row);
    }
  }

  // Scratch: x, residual, gamma, beta.
  void RunBfloat16(const RunContext& context, float* x, int64_t begin, int64_t end) const override {
    const int64_t n = problem_.columns;
    const size_t count = static_cast<size_t>(n);
    float* residual = x + n;
    float* gamma = residual + n;
    float* beta = gamma + n;
    WidenBfloat16(context.input<uint16_t>(problem_.gamma), gamma, count);
    if (problem_.beta >= 0) {
      WidenBfloat16(context.input<uint16_t>(problem_.beta), beta, count);
    }
    uint16_t* sum = problem_.residual ? context.output<uint16_t>(1) : nullptr;
    LayerNormRow row{x, nullptr, gamma, beta, x, nullptr, count, problem_.epsilon};
    for (int64_t r = begin; r < end; ++r) {
      WidenBfloat16(context.input<uint16_t>(0) + r * n, x, count);
      if (problem_.residual) {
        WidenBfloat16(context.input<uint16_t>(1) + r * n, residual, count);
        row.residual = residual;
        row.sum = residual;
      }
      row_fn_(row);
      if (sum != nullptr) NarrowToBfloat16(residual, sum + r * n, count);
      NarrowToBfloat16(x, context.output<uint16_t>(0) + r * n, count);
    }
  }

  const Problem problem_;
  const LayerNormRowFn row_fn_ = problem_.beta >= 0 ? FindLayerNormRow() : FindRmsNormRow();
};

absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p, Form form) {
  TENON_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(p, form));
  if (!IsPlain(p, problem)) return BroadcastReference(p, problem);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([problem](RunContext& context) {
      const T* residual = problem.residual ? context.input<T>(1) : nullptr;
      for (int64_t row = 0; row < problem.rows; ++row) {
        ReferenceRow<T>(problem, context, context.input<T>(0), residual, row);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Vector(PrepareContext& p, Form form) {
  const DType dtype = p.input_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) return NoKernelFor(dtype);
  TENON_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(p, form));
  if (!IsPlain(p, problem)) return Unimplemented("the two summands are broadcast");
  auto kernel = std::make_unique<LastAxisNormKernel>(problem, dtype, p.services().threads);
  p.RequestScratch(kernel->ScratchBytes());
  // A row is read before it is written; only its own output may reuse an input's memory.
  p.AllowInPlace(0, 0);
  if (problem.residual) p.AllowInPlace(1, 1);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> LayerNormReference(PrepareContext& p) {
  return Reference(p, Form::kLayerNorm);
}
absl::StatusOr<std::unique_ptr<Kernel>> LayerNormVector(PrepareContext& p) {
  return Vector(p, Form::kLayerNorm);
}
absl::StatusOr<std::unique_ptr<Kernel>> RmsNormReference(PrepareContext& p) {
  return Reference(p, Form::kRms);
}
absl::StatusOr<std::unique_ptr<Kernel>> RmsNormVector(PrepareContext& p) {
  return Vector(p, Form::kRms);
}

}  // namespace tenon

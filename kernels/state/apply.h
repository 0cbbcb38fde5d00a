// Optimizer steps: updates of a variable and its slots, element by element; of all rows, or of
// some.
//
// The formula is a struct
//
//   template <typename T> struct Momentum {       // T: the type of the computation
//     static constexpr ApplyInputs kInputs = kMomentumInputs;
//     Momentum(const AttrReader& attrs, const Scalars<T>& scalar);   // scalar(i): input i
//     void operator()(T gradient, T* v) const;    // v[k]: this element of variable k
//   };
//
// It may have functions `absl::Status Check() const` and, for updates of some rows only,
// `CheckSparse`, which refuse scalars.
#ifndef TENON_KERNELS_STATE_APPLY_H_
#define TENON_KERNELS_STATE_APPLY_H_

#include <array>
#include <memory>
#include <vector>

#include "env/status.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/state/optimizers.h"
#include "kernels/state/update.h"

namespace tenon {

// The scalar inputs of an optimizer op, in its computation's type, by their positions in the op
// that updates all rows; the one that updates some has their indices behind the gradient.
template <typename T>
class Scalars {
 public:
  Scalars(const RunContext& run, DType dtype, int indices)
      : run_(run), dtype_(dtype), indices_(indices) {}
  T operator()(int input) const {
    T value{};
    VisitTypes(FloatsAndComplexes{}, dtype_, [&]<typename S>() {
      if constexpr (std::is_same_v<ComputeType<S>, T>) value = ToCompute(*At<S>(input));
    });
    return value;
  }
  T Step(int input) const { return static_cast<T>(*At<int64_t>(input)); }

 private:
  template <typename S>
  const S* At(int input) const {
    return run_.input<S>(indices_ >= 0 && input >= indices_ ? input + 1 : input);
  }

  const RunContext& run_;
  const DType dtype_;
  const int indices_;  // the input that has them; -1: none
};

// Updates `count` elements of the variables from `first` on.
template <typename T, typename Formula>
void ApplyTo(const Formula& formula, const T* gradient,
             const std::array<T*, Formula::kInputs.variables>& data, int64_t first, int64_t count) {
  constexpr size_t kVariables = Formula::kInputs.variables;
  for (int64_t i = 0; i < count; ++i) {
    ComputeType<T> v[kVariables];
    for (size_t k = 0; k < kVariables; ++k) v[k] = ToCompute(data[k][first + i]);
    formula(ToCompute(gradient[i]), v);
    for (size_t k = 0; k < kVariables; ++k) data[k][first + i] = static_cast<T>(v[k]);
  }
}

template <typename Formula>
absl::Status CheckScalars(const Formula& formula, ApplyRows rows) {
  if constexpr (requires { formula.Check(); }) TENON_RETURN_IF_ERROR(formula.Check());
  if constexpr (requires { formula.CheckSparse(); }) {
    if (rows == ApplyRows::kSome) TENON_RETURN_IF_ERROR(formula.CheckSparse());
  }
  return absl::OkStatus();
}

template <typename T, size_t kVariables>
std::array<T*, kVariables> DataOf(absl::Span<Tensor* const> variables) {
  std::array<T*, kVariables> data;
  for (size_t k = 0; k < kVariables; ++k) data[k] = variables[k]->template data<T>();
  return data;
}

template <typename T, template <typename> class Formula>
VariableUpdate ApplyUpdate(const Node& node, DType dtype, const Shape& shape, int threads) {
  using Compute = ComputeType<T>;
  return [node, dtype, shape, threads](RunContext& run,
                                       absl::Span<Tensor* const> variables) -> absl::Status {
    constexpr ApplyInputs kInputs = Formula<Compute>::kInputs;
    TENON_RETURN_IF_ERROR(ExpectShape(variables, shape));
    const Formula<Compute> formula(AttrReader(node), Scalars<Compute>(run, dtype, -1));
    TENON_RETURN_IF_ERROR(CheckScalars(formula, ApplyRows::kAll));
    const auto data = DataOf<T, kInputs.variables>(variables);
    const T* gradient = run.input<T>(kInputs.gradient);
    ParallelFor(threads, shape.num_elements(), ParallelGrain(kInputs.variables),
                [&](int64_t begin, int64_t end) {
                  ApplyTo(formula, gradient + begin, data, begin, end - begin);
                });
    return absl::OkStatus();
  };
}

// The rows that indices name, one after the other; one that is named twice is updated twice.
template <typename T, template <typename> class Formula>
VariableUpdate ApplySparseUpdate(const Node& node, DType dtype, const Shape& shape,
                                 DType index_type) {
  using Compute = ComputeType<T>;
  return [=](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
    constexpr ApplyInputs kInputs = Formula<Compute>::kInputs;
    const Shape& whole = variables[0]->shape();
    TENON_RETURN_IF_ERROR(ExpectRows(variables, shape));
    const Formula<Compute> formula(AttrReader(node),
                                   Scalars<Compute>(run, dtype, kInputs.gradient + 1));
    TENON_RETURN_IF_ERROR(CheckScalars(formula, ApplyRows::kSome));
    TENON_ASSIGN_OR_RETURN(
        const std::vector<int64_t> rows,
        RowsAt(run, kInputs.gradient + 1, index_type, shape.dim(0), whole.dim(0)));
    const auto data = DataOf<T, kInputs.variables>(variables);
    const int64_t width = rows.empty() ? 0 : shape.num_elements() / shape.dim(0);
    const T* gradient = run.input<T>(kInputs.gradient);
    for (int64_t row : rows) {
      ApplyTo(formula, gradient, data, row * width, width);
      gradient += width;
    }
    return absl::OkStatus();
  };
}

// Types: those of the variables. Formulas of sums, products and roots serve complex ones, too.
template <template <typename> class Formula, typename Types = FloatsAndComplexes>
absl::StatusOr<std::unique_ptr<Kernel>> Apply(PrepareContext& p, ApplyRows which) {
  constexpr int kGradient = Formula<float>::kInputs.gradient;
  const DType dtype = p.input_dtype(kGradient);
  const Shape& shape = p.input_shape(kGradient);
  std::vector<int> handles;
  for (int i = 0; i < Formula<float>::kInputs.variables; ++i) handles.push_back(i);
  return DispatchType(Types{}, dtype, [&]<typename T>() {
    return UpdateKernel(
        dtype, handles,
        which == ApplyRows::kAll
            ? ApplyUpdate<T, Formula>(p.node(), dtype, shape, p.services().threads)
            : ApplySparseUpdate<T, Formula>(p.node(), dtype, shape, p.input_dtype(kGradient + 1)));
  });
}

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_APPLY_H_

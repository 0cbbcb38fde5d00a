// Optimizer steps: dense updates of a variable and its slots, element by element.
//
// The formula is a struct
//
//   template <typename T> struct Momentum {       // T: the type of the computation
//     static constexpr ApplyInputs kInputs = kMomentumInputs;
//     Momentum(const AttrReader& attrs, const Scalars<T>& scalar);   // scalar(i): input i
//     void operator()(T gradient, T* v) const;    // v[k]: this element of variable k
//   };
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

// The scalar inputs of an optimizer op, in its computation's type.
template <typename T>
class Scalars {
 public:
  Scalars(const RunContext& run, DType dtype) : run_(run), dtype_(dtype) {}
  T operator()(int input) const {
    T value{};
    VisitTypes(Floats{}, dtype_,
               [&]<typename S>() { value = static_cast<T>(ToCompute(*run_.input<S>(input))); });
    return value;
  }

 private:
  const RunContext& run_;
  const DType dtype_;
};

template <typename T, template <typename> class Formula>
VariableUpdate ApplyUpdate(const Node& node, DType dtype, const Shape& shape, int threads) {
  using Compute = ComputeType<T>;
  return [node, dtype, shape, threads](RunContext& run,
                                       absl::Span<Tensor* const> variables) -> absl::Status {
    constexpr int kVariables = Formula<Compute>::kInputs.variables;
    TENON_RETURN_IF_ERROR(ExpectShape(variables, shape));
    const Formula<Compute> formula(AttrReader(node), Scalars<Compute>(run, dtype));
    std::array<T*, kVariables> data;
    for (int k = 0; k < kVariables; ++k) {
      data[static_cast<size_t>(k)] = variables[static_cast<size_t>(k)]->template data<T>();
    }
    const T* gradient = run.input<T>(Formula<Compute>::kInputs.gradient);
    ParallelFor(threads, shape.num_elements(), ParallelGrain(kVariables),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    Compute v[kVariables];
                    for (size_t k = 0; k < kVariables; ++k) v[k] = ToCompute(data[k][i]);
                    formula(ToCompute(gradient[i]), v);
                    for (size_t k = 0; k < kVariables; ++k) data[k][i] = static_cast<T>(v[k]);
                  }
                });
    return absl::OkStatus();
  };
}

template <template <typename> class Formula>
absl::StatusOr<std::unique_ptr<Kernel>> Apply(PrepareContext& p) {
  constexpr int kGradient = Formula<float>::kInputs.gradient;
  const DType dtype = p.input_dtype(kGradient);
  std::vector<int> handles;
  for (int i = 0; i < Formula<float>::kInputs.variables; ++i) handles.push_back(i);
  return DispatchType(Floats{}, dtype, [&]<typename T>() {
    return UpdateKernel(
        dtype, handles,
        ApplyUpdate<T, Formula>(p.node(), dtype, p.input_shape(kGradient), p.services().threads));
  });
}

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_APPLY_H_

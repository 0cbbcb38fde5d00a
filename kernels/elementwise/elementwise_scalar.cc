#include "kernels/elementwise/elementwise_scalar.h"

#include <array>
#include <cmath>
#include <utility>

#include "kernels/elementwise/formulas.h"

namespace tenon {
namespace {

constexpr size_t kOps = static_cast<size_t>(ElementwiseOp::kNumOps);
constexpr size_t kUnaryOps = static_cast<size_t>(ElementwiseOp::kAdd);

template <typename F, size_t... kOp>
constexpr auto ValueTable(std::index_sequence<kOp...>) {
  return std::array{&scalar::Apply<static_cast<ElementwiseOp>(kOp), F>...};
}

template <ElementwiseOp kOp, typename T>
void UnaryRow(T* y, int64_t n, ComputeType<T> parameter) {
  for (int64_t i = 0; i < n; ++i) {
    const ComputeType<T> x = ToCompute(y[i]);
    y[i] = static_cast<T>(scalar::Apply<kOp>(x, x, x, parameter));
  }
}
template <typename T, size_t... kOp>
constexpr auto RowTable(std::index_sequence<kOp...>) {
  return std::array{&UnaryRow<static_cast<ElementwiseOp>(kOp), T>...};
}

}  // namespace

template <typename F>
F ScalarElementwise(ElementwiseOp op, F a, F b, F c, F parameter) {
  static constexpr auto kTable = ValueTable<F>(std::make_index_sequence<kOps>());
  return op < ElementwiseOp::kNumOps ? kTable[static_cast<size_t>(op)](a, b, c, parameter) : F(NAN);
}

template float ScalarElementwise(ElementwiseOp, float, float, float, float);
template double ScalarElementwise(ElementwiseOp, double, double, double, double);

template <typename T>
void ScalarUnaryRow(ElementwiseOp op, T* y, int64_t n, float parameter) {
  static constexpr auto kTable = RowTable<T>(std::make_index_sequence<kUnaryOps>());
  if (Arity(op) == 1) kTable[static_cast<size_t>(op)](y, n, static_cast<ComputeType<T>>(parameter));
}

template void ScalarUnaryRow(ElementwiseOp, float*, int64_t, float);
template void ScalarUnaryRow(ElementwiseOp, double*, int64_t, float);
template void ScalarUnaryRow(ElementwiseOp, half*, int64_t, float);
template void ScalarUnaryRow(ElementwiseOp, bfloat16*, int64_t, float);

}  // namespace tenon

#include "kernels/matmul/mixed_product.h"

#include <Eigen/Core>
#include <algorithm>

#include "kernels/contraction/reference_product.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// An input, transposed if asked for.
FloatMatrix OperandOf(const RunContext& r, int input, DType dtype, const Shape& shape,
                      bool transposed) {
  FloatMatrix m(shape.dim(0), shape.dim(1));
  VisitTypes(TypeList<float, bfloat16>{}, dtype, [&]<typename T>() {
    const T* const x = r.input<T>(input);
    std::transform(x, x + m.size(), m.data(), [](T v) { return static_cast<float>(v); });
  });
  if (transposed) m.transposeInPlace();
  return m;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MixedProduct(PrepareContext& p) {
  const Shape a_shape = p.input_shape(0), b_shape = p.input_shape(1), out = p.output_shape(0);
  const DType a_type = p.input_dtype(0), b_type = p.input_dtype(1);
  const bool transpose_a = p.attrs().Bool("transpose_a", false);
  const bool transpose_b = p.attrs().Bool("transpose_b", false);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& r) {
    if (out.num_elements() == 0) return absl::OkStatus();
    const FloatMatrix a = OperandOf(r, 0, a_type, a_shape, transpose_a);
    const FloatMatrix b = OperandOf(r, 1, b_type, b_shape, transpose_b);
    float* const y = r.output<float>(0);
    const double cost = static_cast<double>(a.cols() + 1) * static_cast<double>(b.cols());
    ParallelFor(threads, out.dim(0), ParallelGrain(cost / 8), [&](int64_t begin, int64_t end) {
      ReferenceProduct(end - begin, b.cols(), a.cols(), a.data() + begin * a.cols(), b.data(),
                       b.cols(), y + begin * b.cols());
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon

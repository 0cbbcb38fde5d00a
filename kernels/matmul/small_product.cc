#include "kernels/matmul/small_product.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/matmul/small_product_simd.h"

namespace tenon {
namespace {

constexpr double kMostFlops = 9e6;

class SmallProductKernelImpl final : public Kernel {
 public:
  SmallProductKernelImpl(const SmallProduct& product, int src, int weights)
      : product_(product), src_(src), weights_(weights), multiply_(FindSmallProduct()) {}

  absl::Status Run(RunContext& r) const override {
    multiply_(product_, r.input<float>(src_), r.input<float>(weights_), r.output<float>(0));
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "simd"; }
  double Flops() const override {
    return 2.0 * static_cast<double>(product_.m * product_.n * product_.k);
  }

 private:
  const SmallProduct product_;
  const int src_, weights_;
  const SmallProductFn multiply_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SmallProductKernel(const MatmulProblem& problem, int src,
                                                           int weights) {
  const TensorDesc &a = problem.src, &b = problem.weights, &out = problem.dst;
  const auto all = {&a, &b, &out};
  const bool two_floats = std::all_of(all.begin(), all.end(), [](const TensorDesc* d) {
    return d->type == ElementType::kF32 && d->dims.size() == 2;
  });
  if (!two_floats || problem.threads != 1 || problem.pack_weights || b.strides[1] != 1 ||
      out.strides[1] != 1) {
    return Unimplemented("not two plain matrices");
  }
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  SmallProduct product;
  product.m = size(a.dims[0]);
  product.k = size(a.dims[1]);
  product.n = size(out.dims[1]);
  product.a_row = size(a.strides[0]);
  product.a_column = size(a.strides[1]);
  product.b_row = size(b.strides[0]);
  product.out_row = size(out.strides[0]);
  auto kernel = std::make_unique<SmallProductKernelImpl>(product, src, weights);
  if (kernel->Flops() > kMostFlops) return Unimplemented("not small");
  return kernel;
}

}  // namespace tenon

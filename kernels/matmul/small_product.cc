#include "kernels/matmul/small_product.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/matmul/small_product_simd.h"

namespace tenon {
namespace {

constexpr double kMostFlops = 9e6;
// With constant weights, which oneDNN packs, or ops that it fuses.
constexpr double kMostFlopsOfFused = 2e4;

class SmallProductKernelImpl final : public Kernel {
 public:
  SmallProductKernelImpl(const SmallProduct& product, int src, int weights, FusedPass rest)
      : product_(product),
        src_(src),
        weights_(weights),
        multiply_(FindSmallProduct()),
        rest_(std::move(rest)) {}

  absl::Status Run(RunContext& r) const override {
    multiply_(product_, r.input<float>(src_), r.input<float>(weights_), r.output<float>(0));
    rest_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "simd"; }
  double Flops() const override { return product_.flops(); }

 private:
  const SmallProduct product_;
  const int src_, weights_;
  const SmallProductFn multiply_;
  const FusedPass rest_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SmallProductKernel(const PrepareContext& p,
                                                           const MatmulProblem& problem, int src,
                                                           int weights, const FusedOps& fused) {
  const TensorDesc &a = problem.src, &b = problem.weights, &out = problem.dst;
  const auto all = {&a, &b, &out};
  const bool two_floats = std::all_of(all.begin(), all.end(), [](const TensorDesc* d) {
    return d->type == ElementType::kF32 && d->dims.size() == 2;
  });
  if (!two_floats || problem.threads != 1 || out.strides[1] != 1) {
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
  product.b_column = size(b.strides[1]);
  product.out_row = size(out.strides[0]);
  if (product.b_column != 1 && !product.dots()) return Unimplemented("columns that are apart");
  const bool plain = fused.empty() && !problem.pack_weights && product.b_column == 1;
  // A single column, which may be lowered as a row, leaves most lanes of oneDNN's kernels empty.
  const bool column = product.n == 1 || (product.m == 1 && !problem.pack_weights);
  const bool few = plain || (column && product.dots());
  if (product.flops() > (few ? kMostFlops : kMostFlopsOfFused)) return Unimplemented("not small");
  return std::make_unique<SmallProductKernelImpl>(
      product, src, weights, FusedPass(p, fused, p.output_shape(0).rank() - 1));
}

}  // namespace tenon

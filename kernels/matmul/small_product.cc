#include "kernels/matmul/small_product.h"

#include <algorithm>
#include <utility>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/small_product_simd.h"

namespace tenon {
namespace {

constexpr double kMostFlops = 9e6;
// With constant weights, which oneDNN packs, or ops that it fuses.
constexpr double kMostFlopsOfFused = 2e4;
// Sums that a thread takes together; a multiple of all vectors' lanes, and whole cache lines.
constexpr int64_t kUnit = 64;
// Of one thread.
constexpr double kFlopsOfVectorPerNs = 8;

class SmallProductKernelImpl final : public Kernel {
 public:
  SmallProductKernelImpl(const PrepareContext& p, const SmallProduct& product, int src, int weights,
                         int threads, const FusedOps& fused)
      : product_(product),
        src_(src),
        weights_(weights),
        threads_(threads),
        multiply_(FindSmallProduct()),
        elements_(static_cast<size_t>(p.output_shape(0).num_elements())),
        columns_(p.output_shape(0).rank() == 0
                     ? 1
                     : static_cast<size_t>(p.output_shape(0).dims().back())),
        chain_(p, fused, columns_) {}

  absl::Status Run(RunContext& r) const override {
    if (threads_ == 1) {
      Multiply(r, product_, 0);
      chain_.Apply(r, {0, elements_ / columns_, 0, columns_});
    } else {
      RunVector(r);
    }
    chain_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "simd"; }
  double Flops() const override { return product_.flops(); }

 private:
  // The sums from `first` on, of a row or a column; a part of a row may have a single one.
  void Multiply(RunContext& r, const SmallProduct& part, size_t first) const {
    const bool column = product_.n == 1;
    multiply_(part, r.input<float>(src_) + (column ? first * part.a_row : 0),
              r.input<float>(weights_) + (column ? 0 : first * part.b_column),
              r.output<float>(0) + first * (column ? part.out_row : 1));
  }

  // A thread's sums have the bits that they have among all.
  void RunVector(RunContext& r) const {
    const int64_t sums = static_cast<int64_t>(product_.m * product_.n);
    const int64_t units = CeilDiv(sums, kUnit);
    const double unit_ns = Flops() / static_cast<double>(units) / kFlopsOfVectorPerNs;
    const bool in_parts = columns_ == 1 || columns_ == elements_;
    ParallelFor(threads_, units, ParallelGrain(unit_ns), [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin * kUnit);
      const size_t count = static_cast<size_t>(std::min(end * kUnit, sums)) - first;
      SmallProduct part = product_;
      (product_.n == 1 ? part.m : part.n) = count;
      Multiply(r, part, first);
      if (!in_parts) return;
      chain_.Apply(r,
                   columns_ == 1 ? OutputPart{first, count, 0, 1} : OutputPart{0, 1, first, count});
    });
    if (!in_parts) chain_.Apply(r, {0, elements_ / columns_, 0, columns_});
  }

  const SmallProduct product_;
  const int src_, weights_;
  const int threads_;  // several for a vector and a matrix only
  const SmallProductFn multiply_;
  const size_t elements_, columns_;  // of the output; its last dimension
  const TileChain chain_;
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
  if (!two_floats || out.strides[1] != 1) return Unimplemented("not two plain matrices");
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
  // A vector and a matrix, which is read once: nothing is gained by packing it. oneDNN's kernels
  // leave most lanes empty for a single column, which may be lowered as a row, and their sums
  // depend on the number of threads.
  const bool vector = product.n == 1 ? product.dots() : product.m == 1 && !problem.pack_weights;
  if (!vector) {
    if (problem.threads != 1) return Unimplemented("worth several threads");
    const bool plain = fused.empty() && !problem.pack_weights && product.b_column == 1;
    if (product.flops() > (plain ? kMostFlops : kMostFlopsOfFused)) {
      return Unimplemented("not small");
    }
  }
  return std::make_unique<SmallProductKernelImpl>(p, product, src, weights, problem.threads, fused);
}

}  // namespace tenon

#include "kernels/matmul/panel_kernel.h"

#include <algorithm>
#include <utility>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"

namespace tenon {
namespace {

// Rows of the output up to which a thread's columns are all computed before the chain is applied.
constexpr size_t kChainAtEndRows = 8;
constexpr double kFlopsPerNs = 60;  // assumed speed of one thread, for the grain

const void* DataOf(const std::shared_ptr<const PackedWeights>& w) {
  return w == nullptr ? nullptr : w->data();
}

class PanelKernelImpl final : public Kernel {
 public:
  PanelKernelImpl(const PrepareContext& p, const PanelProduct& product, PanelProductFn multiply,
                  PanelWeights weights, const FusedOps& fused)
      : product_(product),
        multiply_(multiply),
        weights_(std::move(weights)),
        chain_(p, fused, product.n) {
    const size_t panels = (product.n + product.width - 1) / product.width;
    const double flops = 2.0 * static_cast<double>(product.m * product.width * product.k);
    const double ns =
        std::max(static_cast<double>(product.panel_bytes) / kBytesPerNs, flops / kFlopsPerNs);
    panels_ = static_cast<int64_t>(panels);
    grain_ = ParallelGrain(ns);
    threads_ = ThreadsWorth(p.services().threads, flops * static_cast<double>(panels),
                            product.panel_bytes * panels);
    scratch_ = RoundUp(PanelScratch(product), 16);
  }

  size_t scratch_bytes() const {
    const int ranges = ParallelRanges(threads_, panels_, grain_);
    return static_cast<size_t>(ranges) * scratch_ * sizeof(float);
  }

  absl::Status Run(RunContext& r) const override {
    PanelOperands o;
    o.a = r.input<float>(0);
    o.weights = DataOf(weights_.weights);
    o.scales = DataOf(weights_.scales);
    o.zeros = DataOf(weights_.zeros);
    o.out = r.output<float>(0);
    auto* const scratch = static_cast<float*>(r.scratch());
    ParallelForRanges(threads_, panels_, grain_, [&](int range, int64_t begin, int64_t end) {
      float* const own = scratch + static_cast<size_t>(range) * scratch_;
      const int64_t step = product_.m <= kChainAtEndRows ? end - begin : 1;
      for (int64_t i = begin; i < end; i += step) {
        const auto first = static_cast<size_t>(i), last = static_cast<size_t>(i + step);
        multiply_(product_, o, first, last, own);
        const size_t column = first * product_.width;
        chain_.Apply(r,
                     {0, product_.m, column, std::min(last * product_.width, product_.n) - column});
      }
    });
    chain_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "panels"; }
  double Flops() const override {
    return 2.0 * static_cast<double>(product_.m * product_.n * product_.k);
  }

 private:
  const PanelProduct product_;
  const PanelProductFn multiply_;
  const PanelWeights weights_;
  const TileChain chain_;
  int64_t panels_ = 0, grain_ = 1;
  int threads_ = 1;
  size_t scratch_ = 0;  // floats of each range
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> PanelKernel(PrepareContext& p, const PanelProduct& product,
                                                    PanelWeights weights, const FusedOps& fused) {
  const PanelProductFn multiply = FindPanelProduct(product.form, product.width);
  if (multiply == nullptr) return Unimplemented("no loops for panels of this width");
  auto kernel = std::make_unique<PanelKernelImpl>(p, product, multiply, std::move(weights), fused);
  p.RequestScratch(kernel->scratch_bytes());
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> FewRowsKernel(PrepareContext& p, const PanelSums& product,
                                                      std::shared_ptr<const PackedLayout> layout,
                                                      const FusedOps& fused) {
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  PanelProduct panels;
  panels.m = size(product.m);
  panels.n = panels.out_row = size(product.n);
  panels.k = panels.a_row = size(product.k);
  panels.width = product.panels.width;
  panels.panel_bytes = product.panels.panel_bytes;
  panels.group = EqualTerms(panels.k);
  if (FindPanelProduct(panels.form, panels.width) == nullptr) {
    return Unimplemented("no loops for panels of this width");
  }
  PanelWeights packed;
  TENON_ASSIGN_OR_RETURN(packed.weights, PackConstant(*p.constant(1), std::move(layout)));
  auto kernel = PanelKernel(p, panels, std::move(packed), fused);
  if (kernel.ok()) p.InputNotRead(1);
  return kernel;
}

}  // namespace tenon

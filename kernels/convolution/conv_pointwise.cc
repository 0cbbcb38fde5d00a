#include "kernels/convolution/conv_pointwise.h"

#include <algorithm>
#include <utility>

#include "env/cpu.h"
#include "env/status.h"
#include "kernels/convolution/conv.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/panel_kernel.h"
#include "kernels/matmul/row_kernel.h"

namespace tenon {

bool ReadsEachPixelOnce(const ConvGeometry& g) {
  const auto zero = [](int64_t d) { return d == 0; };
  return g.window_positions() == 1 && g.out == g.in &&
         (All(g.attrs.strides, 1) || g.out_positions() == 1) &&
         std::all_of(g.pads_begin.begin(), g.pads_begin.end(), zero);
}

ConvGeometry AsOneImage(ConvGeometry g) {
  if (!g.attrs.channels_last || !ReadsEachPixelOnce(g)) return g;
  g.in[0] = g.out[0] *= std::exchange(g.batch, 1);
  g.attrs.strides.assign(g.attrs.strides.size(), 1);
  return g;
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvRowsKernel(PrepareContext& p, const ConvGeometry& g,
                                                       const FusedOps& fused) {
  if (!HasConstantFilter(p, g) || !ReadsEachPixelOnce(g)) {
    return Unimplemented("not each pixel by itself with a constant filter");
  }
  RowsByMatrix product;
  product.m = g.batch * g.out_positions();
  product.n = g.out_channels;
  product.k = g.in_channels;
  product.most_bytes = SecondLevelCacheBytes() * (product.m > kFewRows ? 4 : 1) / 2;
  return RowKernel(p, product, fused);
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvPointwiseKernel(PrepareContext& p,
                                                            const ConvGeometry& g,
                                                            const FusedOps& fused) {
  const int64_t rows = g.batch * g.out_positions();
  if (!HasConstantFilter(p, g) || !ReadsEachPixelOnce(g) || rows > kFewRows) {
    return Unimplemented("not of few pixels with a constant filter");
  }
  PanelSums product;
  product.m = rows;
  product.n = g.out_channels;
  product.k = g.in_channels;
  product.threads = p.services().threads;
  product.panels.width = FindBlockedLoops().columns;
  product.panels.panel_bytes =
      static_cast<size_t>(product.k) * product.panels.width * sizeof(float);
  return FewRowsKernel(p, product, FilterPanels(g, product.panels.width, product.threads), fused);
}

}  // namespace tenon

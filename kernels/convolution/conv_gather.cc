#include "kernels/convolution/conv_gather.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/window_rows.h"
#include "kernels/matmul/blocked_kernel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/tile_kernel.h"
#include "primitive_cache/convolution.h"

namespace tenon {
namespace {

// Of the loops' time, with fewer columns too much goes into gathering.
constexpr int64_t kManyOutputs = 96;
// Floats of a filter for which oneDNN's direct kernel for AVX2 is slow: one thread, GFLOP/s of it
// and of gathered rows: 56x56x128, 3x3, 128 filters, strides of 2: 76, 88; 32x32x160, 256 filters:
// 51, 70; but 64x64x64, 160 filters: 84, 88, and with two threads 141, 139.
constexpr int64_t kLargeFilter = 3 * 3 * 128 * 128;

// Shapes for which that kernel is slower than gathered rows. It is as fast for windows of one
// column, if a filter's column is small enough: 17x17x192, 7x1, 192 filters: 92, 85; 8x8x384, 3x1:
// 47, 69.
bool SuitsGathering(const ConvGeometry& g) {
  const int64_t height = g.window[0], width = g.window[1];
  // 17x17x128, 1x7, 128 filters: 77, 92; 6399x512, 1x3, 512 filters, strides of 2: 69, 86.
  if (height == 1 && width > 1) return std::min(g.in_channels, g.out_channels) >= 16;
  // 28x28x192, 2x2, 384 filters: 58, 93; 64x64x64, 4x4, 64 filters: 56, 83.
  if (g.window_positions() > 1 && g.window == g.attrs.strides && g.in_channels >= 64) return true;
  return g.window_positions() > 1 && g.out_channels >= kManyOutputs &&
         g.filter_elements() >= kLargeFilter && (width > 1 || g.in_channels >= 256);
}

// 1x1 convolutions of few pixels: the last layers of mobile networks, whose images of 7x7 do not
// fill the tiles of oneDNN's kernel for AVX2. Two threads of Sapphire Rapids, its time over that of
// these loops: 5x5x960, 640 filters: 1.35; 7x7x2048, 512: 1.13; 7x7x960, 160: 1.13; 14x14x1024,
// 512, strides of 2: 1.12; 7x7x320, 160: 1.05; 9x9x320, 160: 1.01; but 7x7x160, 160: 0.96;
// 12x12x960, 640: 0.95; 4x4x320, 160: 0.91.
bool IsSmallPointwise(const ConvGeometry& g) {
  const int64_t pixels = g.batch * g.out_positions();
  return g.window_positions() == 1 && pixels >= 25 && pixels <= 81 && g.in_channels >= 320 &&
         g.out_channels >= 64;
}

// oneDNN's brgconv reads windows where they lie, gathered rows are apart. Two threads of Zen 4, its
// time over that of gathered rows, where windows share cache sets: 6399x512, 1x3, 512 filters,
// strides of 2: 1.2 to 1.7; 1500x1024, 1x3, 1024: 1.2; 2000x256, 1x8, 512, strides of 4: 1.28;
// 28x28x512, 3x3, 512, strides of 2: 1.22; 1x1, 1024: 1.37; but 14x14x1024, 1x1, 2048: 0.8, and
// windows that do not overlap: 32x32x1024, 2x2, 512: 0.86.
bool ReadsFewSets(const ConvGeometry& g) {
  constexpr int64_t kManyPixels = 100;
  const int64_t height = g.window[0], width = g.window[1], stride = g.attrs.strides[1];
  if (!WindowsShareSets(g) || g.out_channels < kManyOutputs) return false;
  if (g.window_positions() == 1) return stride > 1 && g.batch * g.out_positions() >= kManyPixels;
  return height == 1 ? width > 1 : stride > 1 && width > stride;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvGatherKernel(PrepareContext& p, const ConvGeometry& g,
                                                         const FusedOps& fused) {
  if (!HasConstantFilter(p, g) || !All(g.attrs.dilations, 1)) {
    return Unimplemented("not a window of adjacent pixels and a constant filter");
  }
  const ConvolutionProblem problem = ConvProblem(g, ElementType::kF32, p.services().threads);
  PanelSums product;
  product.m = g.batch * g.out_positions();
  product.n = g.out_channels;
  product.k = g.window_positions() * g.in_channels;
  product.threads = problem.threads;
  product.panels.width = FindBlockedLoops().columns;
  product.panels.panel_bytes =
      static_cast<size_t>(product.k) * product.panels.width * sizeof(float);
  const bool gathered = g.window_positions() > 1 || !All(g.attrs.strides, 1) || g.out != g.in;
  const auto source = [&]() -> std::unique_ptr<const RowSource> {
    return gathered ? std::make_unique<WindowRows>(g) : nullptr;
  };
  const auto layout = FilterPanels(g, product.panels.width, problem.threads);
  auto tiles = TileKernel(p, product, layout, fused, source());
  if (tiles.ok() || !absl::IsUnimplemented(tiles.status())) return tiles;
  const bool pointwise = IsSmallPointwise(g);
  const bool few_sets = ReadsFewSets(g);
  if (!pointwise && !few_sets && !SuitsGathering(g)) {
    return Unimplemented(
        "neither a large or one-dimensional window nor few pixels nor rows that share sets");
  }
  TENON_ASSIGN_OR_RETURN(const auto convolution, GetConvolution(problem, p.services().cache));
  const std::string kernel = convolution->implementation();
  const bool brgconv = absl::StartsWith(kernel, "brgconv");
  if (kernel != "jit:avx2" && !(pointwise && kernel == "jit_1x1:avx2") && !(few_sets && brgconv) &&
      !ComputesByGemm(*convolution)) {
    return Unimplemented("oneDNN is as fast");
  }
  return BlockedKernel(p, product, layout, fused, source());
}

}  // namespace tenon

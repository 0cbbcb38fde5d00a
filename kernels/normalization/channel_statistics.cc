#include "kernels/normalization/channel_statistics.h"

#include <cmath>

namespace tenon {
namespace {

constexpr int64_t kBlockBytes = 64
                                << 10;  // read twice, the second time from the second-level cache
constexpr int64_t kChunkElements = 1 << 16;
constexpr int64_t kMaxChunks = 24;

// Each channel's partial results: calls f(channel, chunk, index in the chunk).
template <typename F>
void ForPartials(const ChannelLayout& layout, F f) {
  for (int64_t k = 0; k < layout.chunks; ++k) {
    if (layout.order == ChannelOrder::kFirst) {
      f(k, k, int64_t{0});
      continue;
    }
    for (int64_t i = 0; i < layout.n; ++i) f(i % layout.channels, k, i);
  }
}

// Calls f(chunk), in parallel; `ns` is the cost per element.
template <typename F>
void ForChunks(const ChannelLayout& layout, int threads, double ns, F f) {
  const double elements = static_cast<double>(layout.elements() / layout.chunks);
  ParallelFor(threads, layout.chunks, ParallelGrain(ns * elements),
              [&](int64_t begin, int64_t end) {
                for (int64_t k = begin; k < end; ++k) f(k);
              });
}

// The number of elements of a channel operand.
double ChunkMoments(const ChannelLayout& layout, const BatchNormLoops& loops, const void* x,
                    const ChannelScratch& scratch, int64_t chunk) {
  const int64_t n = layout.chunk_operands();
  double* const sums = scratch.wide(chunk, 0);
  double* const squares = scratch.wide(chunk, 1);
  float* const block_sum = scratch.narrow(chunk, 0);
  float* const block_mean = scratch.narrow(chunk, 1);
  float* const block_squares = scratch.narrow(chunk, 2);
  float* const shift = scratch.narrow(chunk, 3);
  double total = 0;
  std::fill_n(sums, n, 0.0);
  std::fill_n(squares, n, 0.0);
  layout.ForBlocks(chunk, [&](int64_t at, int64_t rows, int64_t row) {
    const double count = static_cast<double>(layout.order == ChannelOrder::kLast ? rows : row);
    BatchNormPiece piece;
    piece.rows = static_cast<size_t>(rows);
    piece.n = static_cast<size_t>(row);
    piece.x = layout.At(x, at);
    std::fill_n(block_sum, n, 0.0f);
    piece.sum = block_sum;
    loops.sum(piece);
    const float inverse = static_cast<float>(1 / count);
    for (int64_t i = 0; i < n; ++i) block_mean[i] = block_sum[i] * inverse;
    if (total == 0) {
      for (int64_t i = 0; i < n; ++i) shift[i] = std::isfinite(block_mean[i]) ? block_mean[i] : 0;
    }
    std::fill_n(block_squares, n, 0.0f);
    piece.sum = block_squares;
    piece.mean = block_mean;
    loops.squares(piece);
    for (int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(block_mean[i]) - static_cast<double>(shift[i]);
      sums[i] += count * d;
      squares[i] += static_cast<double>(block_squares[i]) + count * d * d;
    }
    total += count;
  });
  return total;
}

void ChunkGradientSums(const ChannelLayout& layout, const BatchNormLoops& loops,
                       const BatchNormPiece& whole, const ChannelScratch& scratch, int64_t chunk) {
  const int64_t n = layout.chunk_operands();
  double* const sums = scratch.wide(chunk, 0);
  double* const products = scratch.wide(chunk, 1);
  std::fill_n(sums, n, 0.0);
  std::fill_n(products, n, 0.0);
  layout.ForBlocks(chunk, [&](int64_t at, int64_t rows, int64_t row) {
    BatchNormPiece piece = whole;
    piece.rows = static_cast<size_t>(rows);
    piece.n = static_cast<size_t>(row);
    piece.dy = layout.At(whole.dy, at);
    piece.x = layout.At(whole.x, at);
    if (whole.gate != nullptr) piece.gate = layout.At(whole.gate, at);
    piece.mean = scratch.operand(0) + (layout.order == ChannelOrder::kLast ? 0 : chunk);
    piece.sum = scratch.narrow(chunk, 0);
    piece.product = scratch.narrow(chunk, 1);
    std::fill_n(piece.sum, n, 0.0f);
    std::fill_n(piece.product, n, 0.0f);
    loops.gradient_sums(piece);
    for (int64_t i = 0; i < n; ++i) {
      sums[i] += static_cast<double>(piece.sum[i]);
      products[i] += static_cast<double>(piece.product[i]);
    }
  });
}

}  // namespace

ChannelLayout::ChannelLayout(int64_t outer_size, int64_t channel_count, int64_t inner_size,
                             DType element)
    : outer(outer_size), channels(channel_count), inner(inner_size), dtype(element) {
  const int64_t size = static_cast<int64_t>(SizeOf(dtype));
  if (inner > 1) {
    order = ChannelOrder::kFirst;
    n = 1;
    block = kBlockBytes / size;
    chunks = channels;
    return;
  }
  while (channels * fold < 64 && outer % (fold * 2) == 0) fold *= 2;
  n = channels * fold;
  rows = outer / fold;
  block = std::clamp<int64_t>(kBlockBytes / (size * n), 4, 512);
  chunks = std::clamp<int64_t>(rows * n / kChunkElements, 1, kMaxChunks);
  chunks = std::min(chunks, std::max<int64_t>(1, rows / 4));
}

ChannelMoments MomentsOf(const ChannelLayout& layout, const BatchNormLoops& loops, int threads,
                         const void* x, const ChannelScratch& scratch) {
  const size_t channels = static_cast<size_t>(layout.channels);
  ChannelMoments result = {std::vector<double>(channels), std::vector<double>(channels)};
  std::vector<double> counts(static_cast<size_t>(layout.chunks));
  ForChunks(layout, threads, 0.2, [&](int64_t k) {
    counts[static_cast<size_t>(k)] = ChunkMoments(layout, loops, x, scratch, k);
  });
  // A chunk's sum is relative to its shift: its first block's mean.
  const double n = static_cast<double>(layout.outer * layout.inner);
  ForPartials(layout, [&](int64_t c, int64_t k, int64_t i) {
    const double shift = scratch.narrow(k, 3)[i];
    const double count = counts[static_cast<size_t>(k)];
    result.mean[static_cast<size_t>(c)] += (shift * count + scratch.wide(k, 0)[i]) / n;
  });
  ForPartials(layout, [&](int64_t c, int64_t k, int64_t i) {
    const double shift = scratch.narrow(k, 3)[i];
    const double count = counts[static_cast<size_t>(k)];
    const double d = result.mean[static_cast<size_t>(c)] - shift;
    // Squares relative to the mean, from those relative to the shift.
    const double squares = scratch.wide(k, 1)[i] - 2 * d * scratch.wide(k, 0)[i] + count * d * d;
    result.variance[static_cast<size_t>(c)] += squares / n;
  });
  for (double& v : result.variance) v = v < 0 ? 0 : v;
  return result;
}

ChannelSums GradientSumsOf(const ChannelLayout& layout, const BatchNormLoops& loops, int threads,
                           const BatchNormPiece& whole, const ChannelScratch& scratch) {
  const size_t channels = static_cast<size_t>(layout.channels);
  ChannelSums result = {std::vector<double>(channels), std::vector<double>(channels)};
  ForChunks(layout, threads, 0.3,
            [&](int64_t k) { ChunkGradientSums(layout, loops, whole, scratch, k); });
  ForPartials(layout, [&](int64_t c, int64_t k, int64_t i) {
    result.sum[static_cast<size_t>(c)] += scratch.wide(k, 0)[i];
    result.product[static_cast<size_t>(c)] += scratch.wide(k, 1)[i];
  });
  return result;
}

}  // namespace tenon

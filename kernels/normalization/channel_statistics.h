// Moments and sums per channel of a tensor [outer, channels, inner], float or bfloat16, in one pass
// over memory: for batch norms, their gradients, tf.nn.moments. Each block that fits the cache
// gives its mean and its squares relative to that mean, and blocks are combined in double:
//
//   sum((x - m)^2) = sum over blocks (squares + n_b (m_b - s)^2) - n (m - s)^2, for any s.
//
// The split of the work depends only on the shape, so results do not depend on the number of
// threads.
#ifndef TENON_KERNELS_NORMALIZATION_CHANNEL_STATISTICS_H_
#define TENON_KERNELS_NORMALIZATION_CHANNEL_STATISTICS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/dtype.h"
#include "kernels/interface/parallel.h"
#include "kernels/normalization/batch_norm_simd.h"

namespace tenon {

// Channels last (inner is 1): chunks of whole rows; several pixels make one row if there are few
// channels ("fold"), and per-channel values are repeated accordingly. Channels first: a chunk is a
// channel.
struct ChannelLayout {
  ChannelOrder order = ChannelOrder::kLast;
  int64_t outer = 0, channels = 0, inner = 0;
  int64_t fold = 1;
  int64_t n = 0;      // values per channel operand: channels * fold, or 1
  int64_t rows = 0;   // of n, channels last
  int64_t block = 1;  // rows, or elements of a channel
  int64_t chunks = 1;
  DType dtype = DType::kFloat;

  ChannelLayout(int64_t outer, int64_t channels, int64_t inner, DType dtype);

  BatchNormLoops Loops() const {
    return FindBatchNormLoops(
        dtype == DType::kFloat ? BatchNormElement::kFloat : BatchNormElement::kBfloat16, order);
  }
  int64_t elements() const { return outer * channels * inner; }
  int64_t chunk_operands() const { return order == ChannelOrder::kLast ? n : 1; }
  int64_t operands() const { return order == ChannelOrder::kLast ? n : channels; }
  const char* At(const void* base, int64_t i) const {
    return static_cast<const char*>(base) + i * static_cast<int64_t>(SizeOf(dtype));
  }
  char* At(void* base, int64_t i) const {
    return static_cast<char*>(base) + i * static_cast<int64_t>(SizeOf(dtype));
  }
  // Repeats the first `channels` values of an operand over all of it.
  void Repeat(float* values) const {
    for (int64_t i = channels; i < operands(); ++i) values[i] = values[i - channels];
  }

  // Calls f(first element, rows, elements per row) for each block of a chunk.
  template <typename F>
  void ForBlocks(int64_t chunk, F f) const {
    if (order == ChannelOrder::kLast) {
      const int64_t end = rows * (chunk + 1) / chunks;
      for (int64_t r = rows * chunk / chunks; r < end; r += block) {
        f(r * n, std::min(block, end - r), n);
      }
      return;
    }
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t first = (o * channels + chunk) * inner;
      for (int64_t k = 0; k < inner; k += block) f(first + k, 1, std::min(block, inner - k));
    }
  }

  // Calls f(first element, rows, elements per row, first channel operand) over everything, in
  // parallel.
  template <typename F>
  void ForAll(int threads, F f) const {
    const double ns = 0.15;
    if (order == ChannelOrder::kLast) {
      const int64_t step = std::max<int64_t>(1, 4096 / n), items = (rows + step - 1) / step;
      ParallelFor(threads, items, ParallelGrain(ns * static_cast<double>(step * n)),
                  [&](int64_t begin, int64_t end) {
                    const int64_t last = std::min(rows, end * step);
                    f(begin * step * n, last - begin * step, n, int64_t{0});
                  });
      return;
    }
    ParallelFor(threads, outer * channels, ParallelGrain(ns * static_cast<double>(inner)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) f(i * inner, 1, inner, i % channels);
                });
  }
};

// The memory of one run: per chunk two doubles and four floats per operand, then four floats per
// channel operand.
class ChannelScratch {
 public:
  ChannelScratch(const ChannelLayout& layout, void* memory)
      : chunk_(layout.chunk_operands()),
        chunks_(layout.chunks),
        operands_(layout.operands()),
        doubles_(static_cast<double*>(memory)),
        floats_(reinterpret_cast<float*>(doubles_ + 2 * chunk_ * chunks_)) {}
  static size_t Bytes(const ChannelLayout& layout) {
    return static_cast<size_t>(layout.chunk_operands() * layout.chunks) *
               (2 * sizeof(double) + 4 * sizeof(float)) +
           static_cast<size_t>(layout.operands()) * 4 * sizeof(float);
  }

  double* wide(int64_t chunk, int i) const { return doubles_ + (2 * chunk + i) * chunk_; }
  float* narrow(int64_t chunk, int i) const { return floats_ + (4 * chunk + i) * chunk_; }
  float* operand(int i) const { return floats_ + 4 * chunk_ * chunks_ + i * operands_; }

 private:
  const int64_t chunk_, chunks_, operands_;
  double* const doubles_;
  float* const floats_;
};

struct ChannelMoments {
  std::vector<double> mean, variance;  // of the channels; the variance is sum((x - mean)^2) / n
};
ChannelMoments MomentsOf(const ChannelLayout& layout, const BatchNormLoops& loops, int threads,
                         const void* x, const ChannelScratch& scratch);

// dy, x and gate of `piece` are whole tensors.
struct ChannelSums {
  std::vector<double> sum, product;  // sum(dy), sum(dy * (x - center)), for the counted dy
};
// scratch.operand(0) holds the center.
ChannelSums GradientSumsOf(const ChannelLayout& layout, const BatchNormLoops& loops, int threads,
                           const BatchNormPiece& whole, const ChannelScratch& scratch);

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_CHANNEL_STATISTICS_H_

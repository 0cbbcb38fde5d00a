// Loops of batch normalization and its gradient over parts of a tensor, with float or bfloat16
// elements and float statistics.
#ifndef TENON_KERNELS_NORMALIZATION_BATCH_NORM_SIMD_H_
#define TENON_KERNELS_NORMALIZATION_BATCH_NORM_SIMD_H_

#include <cstddef>
#include <limits>

namespace tenon {

enum class ChannelOrder { kLast, kFirst };

// `rows` consecutive rows of n elements. Channels last: a row has n channels, and per-channel
// arrays have n values. Channels first: one row of one channel, and per-channel arrays have one
// value. The loops below list the fields that they read.
struct BatchNormPiece {
  size_t rows = 1, n = 0;
  const void* x = nullptr;
  const void* side = nullptr;  // added before the Relu; or null
  const void* dy = nullptr;
  // dy counts where the gate is above 0 and at most the limit; null: everywhere.
  const void* gate = nullptr;
  float gate_limit = std::numeric_limits<float>::infinity();
  bool relu = false;
  float relu_limit = std::numeric_limits<float>::infinity();
  void* y = nullptr;
  void* gated = nullptr;  // receives the counted dy; or null
  // Per channel.
  const float *mean = nullptr, *scale = nullptr, *offset = nullptr, *curve = nullptr;
  float *sum = nullptr, *product = nullptr;
};
using BatchNormLoop = void (*)(const BatchNormPiece& piece);

struct BatchNormLoops {
  BatchNormLoop sum;            // sum += x
  BatchNormLoop squares;        // sum += (x - mean)^2
  BatchNormLoop apply;          // y = (x - mean) * scale + offset [+ side], [Relu up to the limit]
  BatchNormLoop gradient_sums;  // sum += dy, product += dy * (x - mean)
  BatchNormLoop gradient;       // y = (dy + (x - mean) * curve + offset) * scale
};
enum class BatchNormElement { kFloat, kBfloat16 };
BatchNormLoops FindBatchNormLoops(BatchNormElement element, ChannelOrder order);

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_BATCH_NORM_SIMD_H_

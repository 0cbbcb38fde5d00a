// Batch normalization and its gradient: y = (x - mean) / sqrt(variance + epsilon) * scale + offset,
// with one value of each per channel.
//
// Training takes mean and variance from x. With r = 1 / sqrt(variance + epsilon), the gradients are
//
//   scale_backprop = r sum(dy (x - mean)), offset_backprop = sum(dy)
//   x_backprop = scale r (dy - mean(dy) - r^2 (x - mean) mean(dy (x - mean)))   in training
//   x_backprop = scale r dy                                                     otherwise
#ifndef TENON_KERNELS_NORMALIZATION_BATCH_NORM_H_
#define TENON_KERNELS_NORMALIZATION_BATCH_NORM_H_

#include <cmath>
#include <limits>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A node of FusedBatchNorm* or FusedBatchNormGrad*, or one with a side input and an activation.
struct BatchNormSpec {
  int64_t outer = 1, channels = 1, inner = 1;  // x is [outer, channels, inner] in memory
  float epsilon = 0;
  float factor = 1;  // exponential_avg_factor
  bool training = true;
  bool relu = false;
  float relu_limit = std::numeric_limits<float>::infinity();  // 6 for a Relu6
  bool has_side = false;
  int num_outputs = 5;
  DType dtype = DType::kFloat;  // of x
  int threads = 1;

  // The gradient passes where the Relu's result is above 0 and at most this.
  float gate_limit() const {
    return std::isinf(relu_limit) ? relu_limit : std::nextafter(relu_limit, 0.0f);
  }
  int64_t count() const { return outer * inner; }  // elements per channel
  // Whether outputs 1 and 2 of the forward op are averages with inputs 3 and 4.
  bool averages() const { return training && factor != 1.0f; }
};

// `x` is the input to normalize.
absl::StatusOr<BatchNormSpec> BatchNormSpecOf(const PrepareContext& p, int x);

// The axis of x's channels, by data_format.
int BatchNormChannelAxis(const AttrReader& attrs, int rank);
// InvalidArgument for an unknown activation or format, or more than one side input.
absl::Status CheckBatchNormAttrs(const AttrReader& attrs);

// Kernels of the forward op: outputs are y, mean and variance (averaged), mean and variance as
// used, and a scalar 0.
absl::StatusOr<std::unique_ptr<Kernel>> BatchNormReference(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> BatchNormVector(PrepareContext& p);

// Kernels of the gradient: outputs are x_backprop, scale_backprop, offset_backprop, two empty ones,
// side_input_backprop.
absl::StatusOr<std::unique_ptr<Kernel>> BatchNormGradReference(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> BatchNormGradVector(PrepareContext& p);

// Computes outputs 1 to 5 of the forward op from the statistics of x.
void StoreBatchNormStatistics(const BatchNormSpec& s, const double* mean, const double* variance,
                              RunContext& r);

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_BATCH_NORM_H_

// Loops over one row (the last axis) in float: normalizations and softmax.
#ifndef TENON_KERNELS_NORMALIZATION_ROW_SIMD_H_
#define TENON_KERNELS_NORMALIZATION_ROW_SIMD_H_

#include <cstddef>

namespace tenon {

// y = (s - mean(s)) / sqrt(variance(s) + epsilon) * gamma + beta, with s = x (+ residual unless
// null). `sum` receives s, or is null. The variance is the mean square of s - mean(s). y and sum
// may be x or residual, but not each other.
struct LayerNormRow {
  const float* x = nullptr;
  const float* residual = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float* y = nullptr;
  float* sum = nullptr;
  size_t n = 0;
  float epsilon = 0;
};
using LayerNormRowFn = void (*)(const LayerNormRow& row);
LayerNormRowFn FindLayerNormRow();

// y = s / sqrt(mean(s^2) + epsilon) * gamma; no beta.
LayerNormRowFn FindRmsNormRow();

// y = softmax(t) or log softmax(t) over t = inputs[0] * scale + inputs[1] + ...; an input with
// `repeated` has one value for the whole row. A NaN or an infinity in t makes the row NaN, as in
// TensorFlow. y may be one of the inputs.
struct SoftmaxRow {
  const float* const* inputs = nullptr;
  const bool* repeated = nullptr;
  int num_inputs = 1;
  float scale = 1;
  float* y = nullptr;
  size_t n = 0;
};
using SoftmaxRowFn = void (*)(const SoftmaxRow& row);
enum class SoftmaxKind { kSoftmax, kLogSoftmax };
SoftmaxRowFn FindSoftmaxRow(SoftmaxKind kind);

// Rows of so few columns that a vector holds one column of several rows: [rows, columns], one after
// the other. y may be x. Every row's bits are independent of its position.
inline constexpr size_t kFewColumns = 8;
using ShortRowsFn = void (*)(const float* x, float scale, size_t rows, float* y);
// For 2 to kFewColumns columns.
ShortRowsFn FindSoftmaxOfShortRows(SoftmaxKind kind, size_t columns);

// y[i] = x[i] * scale if keep[i], otherwise masked. y may be x.
using SelectRowFn = void (*)(const float* x, float scale, const bool* keep, float masked, float* y,
                             size_t n);
SelectRowFn FindSelectRow();

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_ROW_SIMD_H_

// An output row of a dilation: the largest sums of image and filter.
#ifndef TENON_KERNELS_POOLING_DILATION_SIMD_H_
#define TENON_KERNELS_POOLING_DILATION_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// Of one output row: the filter rows that lie in the image, and where their input rows begin.
struct DilationRow {
  int64_t filter_rows = 0;        // how many
  const float* in = nullptr;      // of the first filter row
  const float* filter = nullptr;  // [filter_rows, columns, channels], from the first one on
  int64_t in_step = 0;            // elements from an input row to the next one
};

// Of all rows. Column x of the output begins at input column x * stride - pad.
struct DilationColumns {
  int64_t in, filter, out;
  int64_t stride, rate, pad;
  int64_t channels;
};

// out: [columns.out, channels]. A sum counts if it is larger than those before it, and the first
// one if it is larger than the lowest float, so NaN never counts.
using DilationLoop = void (*)(const DilationRow& row, const DilationColumns& columns, float* out);
DilationLoop FindDilationLoop();

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_DILATION_SIMD_H_

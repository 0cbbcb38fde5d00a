// Lines of depthwise convolutions of narrow numbers, compiled for each instruction set.
#ifndef TENON_KERNELS_CONVOLUTION_DEPTHWISE_LINES_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_DEPTHWISE_LINES_SIMD_H_

#include <cstddef>
#include <cstdint>

#include "kernels/contraction/narrow_product_simd.h"

namespace tenon {

// Columns of the image become words: the taps of a column of the filter, `word_taps` in each, so
// that one instruction multiplies a word by its part of the filter. Words have left numbers of
// kernels/contraction/narrow_product_simd.h.

// The words of `columns` columns for the channels of one vector.
struct DepthwiseColumns {
  const char* const* rows = nullptr;  // first column and channel of each of `taps` rows
  const size_t* steps = nullptr;      // bytes from column to column, of each row
  size_t taps = 0, columns = 0;
  size_t channels = 0;       // at most a vector's lanes; what is beyond them is not read
  uint8_t flip = 0;          // as for NarrowLoops::widen
  int32_t* words = nullptr;  // [column][words of a column][lanes], `column_words` vectors apart
  size_t column_words = 0;
};

// sums[x] = start + the sum over taps and words of a window: windows begin `stride` columns apart,
// and their columns are `dilation` apart.
struct DepthwiseSums {
  const int32_t* words = nullptr;  // as above
  size_t column_words = 0;
  const int32_t* filter = nullptr;  // [columns of a window][words of a column][lanes]
  size_t window = 0, window_words = 0, stride = 1, dilation = 1;
  const int32_t* start = nullptr;
  size_t outputs = 0;
  int32_t* sums = nullptr;
  size_t sums_row = 0;  // from output to output
};

struct DepthwiseLoops {
  size_t lanes = 0;
  size_t word_taps = 0;
  void (*interleave)(const DepthwiseColumns& columns) = nullptr;
  void (*sum)(const DepthwiseSums& sums) = nullptr;
};
// Null if the target being used has no such loops. The CPU must have the instructions of the form.
const DepthwiseLoops* FindDepthwiseLoops(NarrowForm form);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_DEPTHWISE_LINES_SIMD_H_

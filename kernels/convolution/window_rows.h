// The im2col matrix of a convolution, whose rows are copied when they are needed.
#ifndef TENON_KERNELS_CONVOLUTION_WINDOW_ROWS_H_
#define TENON_KERNELS_CONVOLUTION_WINDOW_ROWS_H_

#include <utility>

#include "kernels/convolution/conv_geometry.h"
#include "kernels/matmul/blocked_kernel.h"

namespace tenon {

// A row is an output position, a term a channel of a pixel of its window. For images [N, H, W, C]
// and windows that are not dilated; pads_begin may be negative, pads_end is not used.
class WindowRows : public RowSource {
 public:
  explicit WindowRows(ConvGeometry g) : g_(std::move(g)) {}
  void Copy(const float* input, int64_t row, int64_t rows, int64_t term, int64_t terms, float* to,
            int64_t to_row) const override;

 protected:
  const ConvGeometry g_;

 private:
  void CopyLine(const float* line, int64_t x, int64_t from, int64_t size, float* to) const;
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_WINDOW_ROWS_H_

// A 1x1 convolution of floats by a constant filter, with its fused chain, for any rows of pixels.
#ifndef TENON_KERNELS_CONVOLUTION_POINTWISE_ROWS_H_
#define TENON_KERNELS_CONVOLUTION_POINTWISE_ROWS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/row_product_simd.h"

namespace tenon {

class PointwiseRows {
 public:
  // Packs input 1 of a node whose input 0 is an image [N, H, W, C]. `all_rows`: operands of the
  // chain may have the result's shape. Unimplemented for other convolutions and chains.
  static absl::StatusOr<PointwiseRows> Make(PrepareContext& p, const ConvGeometry& g,
                                            bool all_rows);

  int64_t columns() const { return columns_; }
  // The channels that a part of the filter computes; the last part may have fewer.
  int64_t panel() const { return panel_; }
  int64_t last_panel() const { return (columns_ - 1) % panel_ + 1; }

  // The channels [column, column + columns) of `rows` pixels, which begin at pixel `row`, from
  // their channels at `a`, to rows of `out_row` floats. `column` is a multiple of panel().
  void Run(RunContext& r, const float* a, int64_t row, int64_t rows, int64_t column,
           int64_t columns, float* out, int64_t out_row) const;

 private:
  PointwiseRows(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                std::shared_ptr<const PackedWeights> filter, int64_t panel);

  int64_t terms_, columns_, panel_;
  RowProductFn multiply_;
  std::shared_ptr<const PackedWeights> filter_;
  RegisterChain first_;
  TileChain rest_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_POINTWISE_ROWS_H_

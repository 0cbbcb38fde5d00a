// The geometry of pools: sizes, padding, and the elements of each window.
#ifndef TENON_KERNELS_POOLING_POOL_GEOMETRY_H_
#define TENON_KERNELS_POOLING_POOL_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

struct PoolGeometry {
  WindowAttrs attrs;
  int64_t batch = 0, channels = 0;
  Dims in, out, pads_begin, pads_end;

  int64_t in_positions() const;  // of one image
  int64_t out_positions() const;
  int64_t window_positions() const;  // at most 2^32
  Shape out_shape() const;           // in data_format's order
};

// The window attributes; for a V2 op, whose window is an input, from its values.
absl::StatusOr<WindowAttrs> PoolAttrs(const AttrReader& attrs, int spatial, const Tensor* ksize,
                                      const Tensor* strides);
// Whether it is MaxPoolV2, whose inputs 1 and 2 replace ksize and strides.
bool WindowIsInput(const AttrReader& attrs);
// The shape of rank `rank` in AvgPoolGrad's first input.
absl::StatusOr<Shape> PoolShapeOfValue(const Tensor& value, int rank);
absl::StatusOr<PoolGeometry> ResolvePool(const WindowAttrs& attrs, const Shape& input);
// InvalidArgument if a TapTable would be too large.
absl::Status CheckTaps(const PoolGeometry& g);
// ResolvePool and CheckTaps.
absl::StatusOr<PoolGeometry> ResolvePoolTaps(const WindowAttrs& attrs, const Shape& input);

ImageStrides StridesOf(const PoolGeometry& g, int64_t positions);

// An element of the other side that corresponds to a position.
struct Tap {
  int64_t position = 0;
  int32_t index = 0;  // the input position's index in the window, row-major
  double weight = 0;  // 1 / (elements of the image in the window)
};

// kToInput: for each output position, the input positions in its window. kToOutput: for each input
// position, the output positions whose windows contain it. Both in row-major order.
class TapTable {
 public:
  enum class Direction { kToInput, kToOutput };
  TapTable(const PoolGeometry& g, Direction direction);

  // A row is all positions that differ only in the last spatial dimension.
  int64_t rows() const { return rows_; }
  int64_t row_length() const { return static_cast<int64_t>(dims_.back().begin.size()) - 1; }
  // Calls f(position, taps) for each position of a row.
  template <typename F>
  void ForRow(int64_t row, F f) const {
    Taps outer = OuterTaps(row), taps;
    const Dim& last = dims_.back();
    for (int64_t i = 0; i < row_length(); ++i) {
      taps.clear();
      for (const Tap& t : outer) Extend(t, last, i, taps);
      f(row * row_length() + i, absl::MakeConstSpan(taps));
    }
  }

 private:
  using Taps = absl::InlinedVector<Tap, 32>;
  // One spatial dimension: taps[begin[i]] to taps[begin[i + 1]] belong to coordinate i.
  struct Dim {
    int64_t window = 0, other = 0;
    std::vector<Tap> taps;
    std::vector<size_t> begin;
  };
  Taps OuterTaps(int64_t row) const;
  static void Extend(const Tap& t, const Dim& dim, int64_t i, Taps& taps) {
    for (size_t k = dim.begin[static_cast<size_t>(i)]; k < dim.begin[static_cast<size_t>(i) + 1];
         ++k) {
      const Tap& d = dim.taps[k];
      taps.push_back({t.position * dim.other + d.position,
                      static_cast<int32_t>(t.index * dim.window + d.index), t.weight * d.weight});
    }
  }

  std::vector<Dim> dims_;
  int64_t rows_ = 1;
};

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_GEOMETRY_H_

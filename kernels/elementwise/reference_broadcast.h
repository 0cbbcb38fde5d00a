// The iteration space of an elementwise op with NumPy broadcasting: adjacent dimensions that every
// operand traverses alike are merged, so that most ops need only one or two loops.
#ifndef TENON_KERNELS_ELEMENTWISE_REFERENCE_BROADCAST_H_
#define TENON_KERNELS_ELEMENTWISE_REFERENCE_BROADCAST_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/shape.h"

namespace tenon {

inline constexpr int kMaxOperands = 3;

// The two inner loops: `rows` times `cols` elements of a contiguous output, and the position of
// each operand. Strides are in elements; col strides are 0 or 1.
struct Tile {
  int64_t out = 0;
  int64_t rows = 1;
  int64_t cols = 1;
  std::array<int64_t, kMaxOperands> offset{};
  std::array<int64_t, kMaxOperands> row_stride{};
  std::array<int64_t, kMaxOperands> col_stride{};
};

class Broadcast {
 public:
  // `operands` broadcast to `out`; all shapes are complete.
  Broadcast(const Shape& out, absl::Span<const Shape> operands);

  int64_t num_elements() const { return num_elements_; }

  // Calls f(const Tile&) for each tile, in order; stops when it returns false.
  template <typename F>
  bool ForEachTile(F&& f) const {
    if (num_elements_ == 0) return true;
    Tile tile = first_;
    const size_t outer = dims_.size();
    std::vector<int64_t> index(outer, 0);
    const int64_t step = tile.rows * tile.cols;
    for (;;) {
      if (!f(static_cast<const Tile&>(tile))) return false;
      tile.out += step;
      size_t d = outer;
      for (; d > 0; --d) {
        const Dim& dim = dims_[d - 1];
        for (size_t o = 0; o < kMaxOperands; ++o) tile.offset[o] += dim.stride[o];
        if (++index[d - 1] < dim.size) break;
        index[d - 1] = 0;
        for (size_t o = 0; o < kMaxOperands; ++o) tile.offset[o] -= dim.stride[o] * dim.size;
      }
      if (d == 0) return true;
    }
  }

  // Calls f(const Tile&) for tiles that make up the output's elements [begin, end), in order.
  template <typename F>
  void ForEachTileOf(int64_t begin, int64_t end, F&& f) const {
    while (begin < end) {
      const int64_t row = begin / first_.cols, column = begin % first_.cols;
      const int64_t row_of_tile = row % first_.rows;
      Tile tile = first_;
      tile.out = begin;
      if (column != 0 || end - begin < first_.cols) {
        tile.rows = 1;
        tile.cols = std::min(first_.cols - column, end - begin);
      } else {
        tile.rows = std::min(first_.rows - row_of_tile, (end - begin) / first_.cols);
      }
      int64_t rest = row / first_.rows;
      for (size_t d = dims_.size(); d-- > 0; rest /= dims_[d].size) {
        for (size_t o = 0; o < kMaxOperands; ++o) {
          tile.offset[o] += rest % dims_[d].size * dims_[d].stride[o];
        }
      }
      for (size_t o = 0; o < kMaxOperands; ++o) {
        tile.offset[o] += row_of_tile * first_.row_stride[o] + column * first_.col_stride[o];
      }
      f(static_cast<const Tile&>(tile));
      begin += tile.rows * tile.cols;
    }
  }

 private:
  struct Dim {
    int64_t size = 1;
    std::array<int64_t, kMaxOperands> stride{};
  };
  std::vector<Dim> dims_;  // outside the tile, outermost first
  Tile first_;
  int64_t num_elements_ = 0;
};

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_REFERENCE_BROADCAST_H_

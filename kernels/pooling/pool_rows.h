// Pools in vector code, channels last, one row of positions after the other. The elements that
// belong to a position (its taps) are found once, when the kernel is prepared.
#ifndef TENON_KERNELS_POOLING_POOL_ROWS_H_
#define TENON_KERNELS_POOLING_POOL_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/pooling/pool_geometry.h"
#include "kernels/pooling/pool_simd.h"

namespace tenon {

// Positions in a window are bytes.
constexpr int64_t kMostWindowPositions = 256;

struct VectorPool {
  PoolGeometry g;
  int64_t element = sizeof(float);  // bytes
  PoolLoops loops;
  int threads = 1;
};

// Unimplemented for other dtypes than float and bfloat16, channels first, and empty tensors.
absl::StatusOr<VectorPool> VectorPoolOf(const PrepareContext& p, PoolGeometry g, DType dtype);

// Unimplemented if a window is too large for positions in it to be bytes, or has no element of
// the image.
absl::Status CheckWindows(const PoolGeometry& g);

inline const char* PoolElementAt(const void* base, int64_t element, const VectorPool& pool) {
  return static_cast<const char*>(base) + element * pool.element;
}
inline char* PoolElementAt(void* base, int64_t element, const VectorPool& pool) {
  return static_cast<char*>(base) + element * pool.element;
}

// The taps of all rows. Rows whose taps differ only by an offset share them.
class RowTaps {
 public:
  // Unimplemented if there are too many.
  static absl::StatusOr<RowTaps> Make(const VectorPool& pool, TapTable::Direction direction);

  // The number of rows of one image.
  int64_t rows() const { return static_cast<int64_t>(rows_.size()); }

  // Calls f(first element of the row, first element of its taps, row) for all rows, in parallel.
  template <typename F>
  void ForRows(const VectorPool& pool, F f) const {
    const int64_t c = pool.g.channels;
    ParallelFor(pool.threads, pool.g.batch * rows(), ParallelGrain(NsOfRow(c)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const Row& row = rows_[static_cast<size_t>(i % rows())];
                    const Pattern& pattern = patterns_[row.pattern];
                    PoolRow piece;
                    piece.taps = pattern.taps.data();
                    piece.begin = pattern.begin.data();
                    piece.positions = static_cast<size_t>(length_);
                    piece.channels = static_cast<size_t>(c);
                    f(i * length_ * c, i / rows() * other_image_ + row.origin, piece);
                  }
                });
  }

 private:
  static constexpr size_t kMaxTaps = 1 << 20;
  static constexpr size_t kMaxPatterns = 256;
  struct Pattern {
    std::vector<PoolTap> taps;
    std::vector<uint32_t> begin;
  };
  struct Row {
    size_t pattern = 0;
    int64_t origin = 0;
  };

  double NsOfRow(int64_t channels) const;

  std::vector<Pattern> patterns_;
  std::vector<Row> rows_;
  int64_t length_ = 0, other_image_ = 0;
};

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_ROWS_H_

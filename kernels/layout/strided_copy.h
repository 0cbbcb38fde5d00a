// Copies an N-dimensional block between two strided layouts. Slices, transposes, tiles, broadcasts,
// reversals and paddings are this copy with different strides (0 repeats, negative reverses).
#ifndef TENON_KERNELS_LAYOUT_STRIDED_COPY_H_
#define TENON_KERNELS_LAYOUT_STRIDED_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/dtype.h"
#include "graph/shape.h"

namespace tenon {

// Row-major strides, in elements.
std::vector<int64_t> DenseStrides(const Shape& shape);

class StridedCopy {
 public:
  StridedCopy() = default;
  // Element `i` goes from src[src_offset + i . src_strides] to dst[dst_offset + i . dst_strides].
  StridedCopy(absl::Span<const int64_t> dims, absl::Span<const int64_t> src_strides,
              absl::Span<const int64_t> dst_strides, int64_t src_offset = 0,
              int64_t dst_offset = 0);

  // Elements have dtype `dtype`; strings are assigned to constructed strings.
  void Run(DType dtype, const void* src, void* dst) const;
  // The same, split among threads if it is worth it.
  void Run(int threads, DType dtype, const void* src, void* dst) const;

 private:
  template <typename T>
  void RunAs(const T* src, T* dst) const;

  struct Dim {
    int64_t size;
    int64_t src;
    int64_t dst;
  };
  // Outermost first; adjacent dimensions that are contiguous in both layouts are merged. At least
  // two.
  std::vector<Dim> dims_;
  int64_t src_offset_ = 0;
  int64_t dst_offset_ = 0;
  bool empty_ = false;
};

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_STRIDED_COPY_H_

// The diagonals of a matrix in MatrixDiag, MatrixDiagPart and MatrixSetDiag: k is one diagonal or a
// band [lower, upper], where 0 is the main diagonal and positive ones are above it. In packed form,
// row 0 has the uppermost diagonal; shorter ones are aligned to the left or right end of their row.
#ifndef TENON_KERNELS_LAYOUT_DIAGONALS_H_
#define TENON_KERNELS_LAYOUT_DIAGONALS_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"

namespace tenon {

struct Diagonals {
  int64_t lower = 0;
  int64_t upper = 0;
  bool upper_left = true;  // diagonals above the main one are aligned to the left
  bool lower_left = true;

  int64_t count() const { return upper - lower + 1; }
  // The length of a packed row for a matrix of that size.
  int64_t Longest(int64_t rows, int64_t cols) const {
    return std::min(rows + std::min<int64_t>(upper, 0), cols - std::max<int64_t>(lower, 0));
  }
  // The position at which diagonal d begins in its packed row of `longest`.
  int64_t Offset(int64_t d, int64_t rows, int64_t cols, int64_t longest) const {
    const bool left = (d >= 0 && upper_left) || (d <= 0 && lower_left);
    if (left) return 0;
    return longest - Length(d, rows, cols);
  }
  static int64_t Length(int64_t d, int64_t rows, int64_t cols) {
    return std::min(rows + std::min<int64_t>(d, 0), cols - std::max<int64_t>(d, 0));
  }
  // InvalidArgument unless the diagonals are within a matrix of that size.
  absl::Status Check(int64_t rows, int64_t cols) const;
};

// `k` may be null (the main diagonal). The attribute `align`, if there is one, gives the alignment.
absl::StatusOr<Diagonals> MakeDiagonals(const AttrReader& attrs, const Tensor* k);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_DIAGONALS_H_

// XLA's gather and scatter: where in a tensor the slices lie that a tensor of indices lists.
//
// The indices are vectors along dimension `index_vector` of their tensor (or scalars, if that is
// its rank); the other dimensions number the slices. A slice has the rank of the operand;
// dimensions that are collapsed, or run along with one of the indices' dimensions, are left out of
// it.
#ifndef TENON_KERNELS_XLA_SLICE_PLACES_H_
#define TENON_KERNELS_XLA_SLICE_PLACES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "kernels/xla/dimension_numbers.h"

namespace tenon {

// The dimensions of the indices that number slices; -1 where unknown.
DimList BatchDims(const Shape& indices, const GatherNumbers& numbers);
// The dimensions of the operand that slices keep, in order.
DimList KeptDims(int rank, const GatherNumbers& numbers);

// InvalidArgument if the numbers do not fit the ranks, or sizes that must be equal differ. `outer`
// is the rank of a gather's result or a scatter's updates. The operand's and the indices' ranks
// must be known.
absl::Status CheckNumbers(const GatherNumbers& numbers, const Shape& operand, const Shape& indices,
                          int outer);

class SlicePlaces {
 public:
  // For complete shapes that CheckNumbers accepts; `slice` has an entry for each operand dimension.
  SlicePlaces(const GatherNumbers& numbers, const Shape& operand, const Shape& indices,
              DType index_dtype, DimList slice);

  int64_t count() const { return count_; }

  // The position in the operand of the slice's first element. A slice that does not lie within the
  // operand is moved there.
  int64_t Clamped(const void* indices, int64_t slice) const { return Place(indices, slice, true); }
  // The same, but -1 for such a slice.
  int64_t Inside(const void* indices, int64_t slice) const { return Place(indices, slice, false); }

 private:
  int64_t Place(const void* indices, int64_t slice, bool clamp) const;

  struct Batch {
    int64_t size, stride;    // of the indices
    int64_t operand_stride;  // 0 if the operand does not run along
  };
  struct Index {
    int64_t last, stride;  // of the operand
  };
  std::vector<Batch> batch_;  // outermost first
  std::vector<Index> vector_;
  int64_t vector_stride_ = 0;
  int64_t count_ = 1;
  DType index_dtype_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_SLICE_PLACES_H_

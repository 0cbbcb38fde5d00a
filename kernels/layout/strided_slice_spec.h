// Interprets a strided slice's begin, end, strides and masks (NumPy's basic indexing).
#ifndef TENON_KERNELS_LAYOUT_STRIDED_SLICE_SPEC_H_
#define TENON_KERNELS_LAYOUT_STRIDED_SLICE_SPEC_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "kernels/layout/strided_copy.h"

namespace tenon {

inline constexpr int kNewAxis = -1;

// The part of each input dimension that is kept, and the resulting output dimensions.
struct SliceSpec {
  struct Range {
    int64_t begin = 0;
    int64_t stride = 1;
    int64_t size = -1;  // elements kept; -1: not known
  };
  std::vector<Range> ranges;     // one per input dimension
  std::vector<int> output_dims;  // the input dimension of each output dimension, or kNewAxis

  Shape OutputShape() const;
  // The position of the slice's elements in a dense tensor of shape `input`; sizes must be known.
  struct Region {
    Shape taken;  // elements per input dimension
    std::vector<int64_t> strides;
    int64_t offset = 0;
  };
  Region RegionOf(const Shape& input) const;
};

// `input` has a known rank. Null tensors have `n` values that are not known yet.
absl::StatusOr<SliceSpec> MakeSliceSpec(const AttrReader& attrs, const Shape& input, int64_t n,
                                        const Tensor* begin, const Tensor* end,
                                        const Tensor* strides);

// Copies a dense tensor of shape `value` to the slice of a dense one of shape `input`: the value is
// broadcast to the slice. As in TensorFlow, a slice without elements takes any value. Sizes must be
// known, except that an unknown value fits.
absl::Status ExpectFits(const SliceSpec& spec, const Shape& value);
absl::StatusOr<StridedCopy> CopyToSlice(const SliceSpec& spec, const Shape& input,
                                        const Shape& value);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_STRIDED_SLICE_SPEC_H_

#include "kernels/xla/scatter_targets.h"

#include <algorithm>

#include "kernels/layout/strided_copy.h"

namespace tenon {
namespace {

constexpr int64_t kBlock = 512;

}  // namespace

DimList ScatterTargets::SliceSizes(const GatherNumbers& numbers, const Shape& operand,
                                   const Shape& updates) {
  const DimList kept = KeptDims(operand.rank(), numbers);
  DimList slice(static_cast<size_t>(operand.rank()), 1);
  for (size_t i = 0; i < kept.size(); ++i) {
    slice[static_cast<size_t>(kept[i])] = updates.dim(static_cast<int>(numbers.offset[i]));
  }
  return slice;
}

ScatterTargets::ScatterTargets(const GatherNumbers& numbers, const Shape& operand,
                               const Shape& indices, DType index_dtype, const Shape& updates)
    : places_(numbers, operand, indices, index_dtype, SliceSizes(numbers, operand, updates)) {
  const DimList kept = KeptDims(operand.rank(), numbers);
  const std::vector<int64_t> strides = DenseStrides(operand);
  size_t next = kept.size();
  int64_t slices = 1;
  for (int i = updates.rank(); i-- > 0;) {
    Axis axis{updates.dim(i)};
    if (Contains(numbers.offset, i)) {
      axis.in_operand = strides[static_cast<size_t>(kept[--next])];
    } else {
      axis.in_slices = slices;
      slices *= axis.size;
    }
    const bool follows = axes_.empty() && axis.in_slices == 0 && axis.in_operand == run_;
    if (follows) {
      run_ *= axis.size;
    } else {
      axes_.insert(axes_.begin(), axis);
      count_ *= axis.size;
    }
  }
}

void ScatterTargets::ForEachRun(
    const void* indices,
    absl::FunctionRef<void(int64_t first, absl::Span<const int64_t> offsets)> visit) const {
  int64_t offsets[kBlock];
  std::vector<int64_t> index(axes_.size(), 0);
  int64_t within = 0, slice = 0, found = -1, place = 0;
  for (int64_t first = 0; first < count_; first += kBlock) {
    const int64_t n = std::min(kBlock, count_ - first);
    for (int64_t i = 0; i < n; ++i) {
      if (slice != found) {
        place = places_.Inside(indices, slice);
        found = slice;
      }
      offsets[i] = place < 0 ? -1 : place + within;
      for (size_t d = axes_.size(); d > 0; --d) {
        const Axis& axis = axes_[d - 1];
        within += axis.in_operand;
        slice += axis.in_slices;
        if (++index[d - 1] < axis.size) break;
        within -= axis.in_operand * axis.size;
        slice -= axis.in_slices * axis.size;
        index[d - 1] = 0;
      }
    }
    visit(first, absl::MakeConstSpan(offsets, static_cast<size_t>(n)));
  }
}

}  // namespace tenon

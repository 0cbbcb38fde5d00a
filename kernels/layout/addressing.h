// Addresses slices of a tensor by index vectors: for GatherNd, ScatterNd, TensorScatter.
#ifndef TENON_KERNELS_LAYOUT_ADDRESSING_H_
#define TENON_KERNELS_LAYOUT_ADDRESSING_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attr_reader.h"
#include "kernels/interface/types.h"

namespace tenon {

// Index vectors of `depth` over the leading dimensions of `whole`; slices of `slice` elements.
struct Addressing {
  Shape whole;
  int64_t depth = 0;
  int64_t count = 0;
  int64_t slice = 1;
  bool ignore_bad = false;

  // The offset of a slice; -1 if an index is out of range.
  template <typename I>
  int64_t Offset(const I* index) const {
    int64_t offset = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t size = whole.dim(static_cast<int>(d));
      if (index[d] < 0 || index[d] >= size) return -1;
      offset = offset * size + index[d];
    }
    return offset * slice;
  }
};

// Whether bad_indices_policy is IGNORE. InvalidArgument for an unknown policy.
absl::StatusOr<bool> IgnoresBadIndices(const AttrReader& attrs);

// InvalidArgument if index vectors have more dimensions than `whole`.
absl::StatusOr<Addressing> MakeAddressing(bool ignore_bad, const Shape& whole,
                                          const Shape& indices);
absl::StatusOr<Addressing> MakeAddressing(const AttrReader& attrs, const Shape& whole,
                                          const Shape& indices);
// The error for index vector `i`.
absl::Status BadIndex(int64_t i, const Shape& whole);

// Calls visit(first, offsets) for blocks of index vectors, in order: offsets[k] is the start of the
// slice of vector first + k, or -1 if it is out of range and such vectors are ignored. Otherwise
// returns the error of the first such vector, after the blocks before it. Indices are int16,
// uint16, int32 or int64.
absl::Status ForEachOffsets(
    const Addressing& a, DType index_type, const void* indices,
    absl::FunctionRef<void(int64_t first, absl::Span<const int64_t> offsets)> visit);

// Checks the shapes of indices and updates against those of the updated tensor, as far as they are
// known.
absl::Status CheckUpdates(const Shape& whole, const Shape& indices, const Shape& updates);

// The sum for scattering: integers wrap around, bools are or-ed, strings are joined.
template <typename T>
T Accumulate(const T& a, const T& b) {
  if constexpr (kIsSmallFloat<T>) {
    return static_cast<T>(ToCompute(a) + ToCompute(b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else {
    return WrapAdd(a, b);
  }
}

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_ADDRESSING_H_

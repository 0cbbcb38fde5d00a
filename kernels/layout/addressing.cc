#include "kernels/layout/addressing.h"

#include <algorithm>

#include "kernels/interface/axis.h"

namespace tenon {
namespace {

// Where the slices of `n` index vectors begin; -1: out of range.
template <typename I>
void FillOffsets(const Addressing& a, const I* index, int64_t n, int64_t* offsets) {
  if (a.depth == 1) {
    const int64_t size = a.whole.dim(0);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = static_cast<int64_t>(index[k]);
      offsets[k] = i >= 0 && i < size ? i * a.slice : -1;
    }
    return;
  }
  for (int64_t k = 0; k < n; ++k, index += a.depth) offsets[k] = a.Offset(index);
}

template <typename I>
absl::Status VisitOffsets(
    const Addressing& a, const I* index,
    absl::FunctionRef<void(int64_t first, absl::Span<const int64_t> offsets)> visit) {
  constexpr int64_t kBlock = 256;  // offsets that stay in the cache
  int64_t offsets[kBlock];
  for (int64_t first = 0; first < a.count; first += kBlock) {
    const int64_t n = std::min(kBlock, a.count - first);
    FillOffsets(a, index + first * a.depth, n, offsets);
    if (!a.ignore_bad) {
      const int64_t* bad = std::find(offsets, offsets + n, -1);
      if (bad != offsets + n) return BadIndex(first + (bad - offsets), a.whole);
    }
    visit(first, absl::MakeConstSpan(offsets, static_cast<size_t>(n)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> IgnoresBadIndices(const AttrReader& attrs) {
  const std::string policy = attrs.String("bad_indices_policy", "");
  if (policy != "" && policy != "DEFAULT" && policy != "ERROR" && policy != "IGNORE") {
    return InvalidArgument("bad_indices_policy '", policy, "'");
  }
  return policy == "IGNORE";
}

absl::StatusOr<Addressing> MakeAddressing(bool ignore_bad, const Shape& whole,
                                          const Shape& indices) {
  Addressing a;
  a.whole = whole;
  a.ignore_bad = ignore_bad;
  if (indices.rank() < 1) return InvalidArgument("indices must be at least a vector");
  a.depth = indices.dim(indices.rank() - 1);
  if (a.depth > whole.rank()) {
    return InvalidArgument("index vectors of ", a.depth, " for shape ", whole.ToString());
  }
  a.count = Product(indices, 0, indices.rank() - 1);
  a.slice = Product(whole, static_cast<int>(a.depth), whole.rank());
  return a;
}

absl::StatusOr<Addressing> MakeAddressing(const AttrReader& attrs, const Shape& whole,
                                          const Shape& indices) {
  TENON_ASSIGN_OR_RETURN(const bool ignore_bad, IgnoresBadIndices(attrs));
  return MakeAddressing(ignore_bad, whole, indices);
}

absl::Status BadIndex(int64_t i, const Shape& whole) {
  return InvalidArgument("index vector ", i, " does not index into shape ", whole.ToString());
}

absl::Status ForEachOffsets(
    const Addressing& a, DType index_type, const void* indices,
    absl::FunctionRef<void(int64_t first, absl::Span<const int64_t> offsets)> visit) {
  return DispatchType(
      TypeList<int16_t, uint16_t, int32_t, int64_t>{}, index_type,
      [&]<typename I>() { return VisitOffsets(a, static_cast<const I*>(indices), visit); });
}

absl::Status CheckUpdates(const Shape& whole, const Shape& indices, const Shape& updates) {
  if (indices.has_rank() && indices.rank() < 1) {
    return InvalidArgument("indices must be at least a vector");
  }
  if (indices.has_rank() && indices.dim(indices.rank() - 1) >= 0) {
    const int64_t depth = indices.dim(indices.rank() - 1);
    if (depth > whole.rank()) {
      return InvalidArgument("index vectors of ", depth, " for shape ", whole.ToString());
    }
    Shape expected;
    for (int i = 0; i < indices.rank() - 1; ++i) expected.push_back(indices.dim(i));
    for (int i = static_cast<int>(depth); i < whole.rank(); ++i) expected.push_back(whole.dim(i));
    if (!updates.CompatibleWith(expected)) {
      return InvalidArgument("updates must have shape ", expected.ToString(), ", but have ",
                             updates.ToString());
    }
    if (indices.IsComplete() && indices.num_elements() == 0 && updates.IsComplete() &&
        updates.num_elements() > 0) {
      return InvalidArgument("updates without indices");
    }
    if (whole.IsComplete() && whole.num_elements() == 0 && updates.IsComplete() &&
        updates.num_elements() > 0) {
      return InvalidArgument("updates of an empty tensor");
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon

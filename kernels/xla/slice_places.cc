#include "kernels/xla/slice_places.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/layout/strided_copy.h"

namespace tenon {

DimList BatchDims(const Shape& indices, const GatherNumbers& numbers) {
  DimList sizes;
  for (int i = 0; i < indices.rank(); ++i) {
    if (i != numbers.index_vector) sizes.push_back(indices.dim(i));
  }
  return sizes;
}

DimList KeptDims(int rank, const GatherNumbers& numbers) {
  DimList kept;
  for (int i = 0; i < rank; ++i) {
    if (!Contains(numbers.collapsed, i) && !Contains(numbers.operand_batch, i)) kept.push_back(i);
  }
  return kept;
}

absl::Status CheckNumbers(const GatherNumbers& n, const Shape& operand, const Shape& indices,
                          int outer) {
  const int rank = operand.rank();
  if (n.index_vector < 0 || n.index_vector > indices.rank()) {
    return InvalidArgument("index_vector_dim is ", n.index_vector, " for indices of shape ",
                           indices.ToString());
  }
  DimList left_out = n.collapsed;
  left_out.insert(left_out.end(), n.operand_batch.begin(), n.operand_batch.end());
  DimList indexed = n.index_map;
  indexed.insert(indexed.end(), n.operand_batch.begin(), n.operand_batch.end());
  if (!AreDims(left_out, rank) || !AreDims(indexed, rank) || !AreDims(n.offset, outer) ||
      !std::is_sorted(n.offset.begin(), n.offset.end())) {
    return InvalidArgument("dimension numbers that do not fit an operand of shape ",
                           operand.ToString());
  }
  if (n.offset.size() + left_out.size() != static_cast<size_t>(rank)) {
    return InvalidArgument("slices of an operand of rank ", rank, " have ", n.offset.size(),
                           " dimensions, and ", left_out.size(), " are left out");
  }
  const int64_t length =
      n.index_vector == indices.rank() ? 1 : indices.dim(static_cast<int>(n.index_vector));
  if (length >= 0 && length != static_cast<int64_t>(n.index_map.size())) {
    return InvalidArgument("index vectors have ", length, " elements for ", n.index_map.size(),
                           " dimensions");
  }
  if (n.operand_batch.size() != n.indices_batch.size() ||
      !AreDims(n.indices_batch, indices.rank()) || Contains(n.indices_batch, n.index_vector)) {
    return InvalidArgument("batch dimensions that do not fit indices of shape ",
                           indices.ToString());
  }
  for (size_t i = 0; i < n.operand_batch.size(); ++i) {
    const int64_t a = operand.dim(static_cast<int>(n.operand_batch[i]));
    const int64_t b = indices.dim(static_cast<int>(n.indices_batch[i]));
    if (a >= 0 && b >= 0 && a != b) {
      return InvalidArgument("batch dimensions of ", a, " and ", b, " must be equal");
    }
  }
  return absl::OkStatus();
}

SlicePlaces::SlicePlaces(const GatherNumbers& n, const Shape& operand, const Shape& indices,
                         DType index_dtype, DimList slice)
    : index_dtype_(index_dtype) {
  const std::vector<int64_t> strides = DenseStrides(indices), to = DenseStrides(operand);
  for (int i = 0; i < indices.rank(); ++i) {
    const size_t d = static_cast<size_t>(i);
    if (i == n.index_vector) {
      vector_stride_ = strides[d];
      continue;
    }
    int64_t along = 0;
    for (size_t k = 0; k < n.indices_batch.size(); ++k) {
      if (n.indices_batch[k] == i) along = to[static_cast<size_t>(n.operand_batch[k])];
    }
    batch_.push_back({indices.dim(i), strides[d], along});
    count_ *= indices.dim(i);
  }
  for (int64_t d : n.index_map) {
    const size_t k = static_cast<size_t>(d);
    vector_.push_back({operand.dim(static_cast<int>(d)) - slice[k], to[k]});
  }
}

int64_t SlicePlaces::Place(const void* indices, int64_t slice, bool clamp) const {
  int64_t at = 0, place = 0;
  for (size_t i = batch_.size(); i-- > 0;) {
    const int64_t index = slice % batch_[i].size;
    slice /= batch_[i].size;
    at += index * batch_[i].stride;
    place += index * batch_[i].operand_stride;
  }
  for (const Index& v : vector_) {
    const int64_t start = index_dtype_ == DType::kInt32 ? static_cast<const int32_t*>(indices)[at]
                                                        : static_cast<const int64_t*>(indices)[at];
    at += vector_stride_;
    if (!clamp && (start < 0 || start > v.last)) return -1;
    place += std::clamp<int64_t>(start, 0, v.last) * v.stride;
  }
  return place;
}

}  // namespace tenon

#include "kernels/elementwise/reference_broadcast.h"

namespace tenon {

Broadcast::Broadcast(const Shape& out, absl::Span<const Shape> operands)
    : num_elements_(out.num_elements()) {
  const int rank = out.rank();
  std::array<int64_t, kMaxOperands> elements;
  elements.fill(1);
  // From the innermost dimension outward; dims_ is reversed at the end.
  for (int i = rank - 1; i >= 0; --i) {
    Dim dim;
    dim.size = out.dim(i);
    for (size_t o = 0; o < operands.size(); ++o) {
      const int k = i - (rank - operands[o].rank());
      const int64_t size = k < 0 ? 1 : operands[o].dim(k);
      dim.stride[o] = size == 1 ? 0 : elements[o];
      elements[o] *= size;
    }
    if (dim.size == 1) continue;
    bool merge = !dims_.empty();
    for (size_t o = 0; merge && o < operands.size(); ++o) {
      merge = dim.stride[o] == dims_.back().stride[o] * dims_.back().size;
    }
    if (merge) {
      dims_.back().size *= dim.size;
    } else {
      dims_.push_back(dim);
    }
  }
  // The two innermost dimensions become the tile.
  if (!dims_.empty()) {
    first_.cols = dims_[0].size;
    first_.col_stride = dims_[0].stride;
  }
  if (dims_.size() > 1) {
    first_.rows = dims_[1].size;
    first_.row_stride = dims_[1].stride;
  }
  dims_.erase(dims_.begin(), dims_.begin() + std::min<std::ptrdiff_t>(2, std::ssize(dims_)));
  std::vector<Dim> reversed(dims_.rbegin(), dims_.rend());
  dims_ = std::move(reversed);
}

}  // namespace tenon

#include "kernels/layout/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "kernels/interface/parallel.h"
#include "kernels/layout/visit_elements.h"

namespace tenon {

std::vector<int64_t> DenseStrides(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t n = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = n;
    n *= shape.dim(i);
  }
  return strides;
}

StridedCopy::StridedCopy(absl::Span<const int64_t> dims, absl::Span<const int64_t> src_strides,
                         absl::Span<const int64_t> dst_strides, int64_t src_offset,
                         int64_t dst_offset)
    : src_offset_(src_offset), dst_offset_(dst_offset) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) empty_ = true;
    if (dims[i] == 1) continue;
    const Dim dim{dims[i], src_strides[i], dst_strides[i]};
    if (!dims_.empty() && dims_.back().src == dim.src * dim.size &&
        dims_.back().dst == dim.dst * dim.size) {
      dims_.back() = {dims_.back().size * dim.size, dim.src, dim.dst};
    } else {
      dims_.push_back(dim);
    }
  }
  // A transpose is fastest if the dimension that is dense in the source is just outside the one
  // that is dense in the destination: a block of both stays in cache.
  if (dims_.size() > 2 && dims_.back().src != 1) {
    auto dense = std::find_if(dims_.begin(), dims_.end() - 1, [](Dim d) { return d.src == 1; });
    if (dense != dims_.end() - 1) std::rotate(dense, dense + 1, dims_.end() - 1);
  }
  while (dims_.size() < 2) dims_.insert(dims_.begin(), Dim{1, 0, 0});
}

template <typename T>
void StridedCopy::RunAs(const T* src, T* dst) const {
  const Dim inner = dims_[dims_.size() - 1];
  const Dim rows = dims_[dims_.size() - 2];
  constexpr int64_t kBlock = 16;

  auto copy_plane = [&](const T* s, T* d) {
    if (inner.src == 1 && inner.dst == 1) {
      for (int64_t r = 0; r < rows.size; ++r, s += rows.src, d += rows.dst) {
        if constexpr (std::is_trivially_copyable_v<T>) {
          if (inner.size >= 8) {
            std::memcpy(d, s, static_cast<size_t>(inner.size) * sizeof(T));
            continue;
          }
        }
        for (int64_t i = 0; i < inner.size; ++i) d[i] = s[i];
      }
    } else if (inner.src == 0 && inner.dst == 1) {
      for (int64_t r = 0; r < rows.size; ++r, s += rows.src, d += rows.dst) {
        std::fill_n(d, inner.size, *s);
      }
    } else if (rows.src == 1 && rows.size > 1) {
      for (int64_t i0 = 0; i0 < inner.size; i0 += kBlock) {
        const int64_t i1 = std::min(i0 + kBlock, inner.size);
        for (int64_t r = 0; r < rows.size; ++r) {
          for (int64_t i = i0; i < i1; ++i) d[r * rows.dst + i * inner.dst] = s[r + i * inner.src];
        }
      }
    } else {
      for (int64_t r = 0; r < rows.size; ++r, s += rows.src, d += rows.dst) {
        for (int64_t i = 0; i < inner.size; ++i) d[i * inner.dst] = s[i * inner.src];
      }
    }
  };

  const size_t outer = dims_.size() - 2;
  std::vector<int64_t> index(outer, 0);
  src += src_offset_;
  dst += dst_offset_;
  for (;;) {
    copy_plane(src, dst);
    size_t k = outer;
    for (; k > 0; --k) {
      const Dim& dim = dims_[k - 1];
      src += dim.src;
      dst += dim.dst;
      if (++index[k - 1] < dim.size) break;
      index[k - 1] = 0;
      src -= dim.src * dim.size;
      dst -= dim.dst * dim.size;
    }
    if (k == 0) return;
  }
}

void StridedCopy::Run(DType dtype, const void* src, void* dst) const {
  if (empty_ || dims_.empty()) return;
  VisitElements(dtype,
                [&]<typename T>() { RunAs(static_cast<const T*>(src), static_cast<T*>(dst)); });
}

void StridedCopy::Run(int threads, DType dtype, const void* src, void* dst) const {
  if (empty_ || dims_.empty()) return;
  const auto split = std::find_if(dims_.begin(), dims_.end(), [](Dim d) { return d.size > 1; });
  if (threads <= 1 || split == dims_.end()) return Run(dtype, src, dst);
  double bytes = static_cast<double>(SizeOf(dtype));
  for (auto inner = split + 1; inner != dims_.end(); ++inner) {
    bytes *= static_cast<double>(inner->size);
  }
  const auto d = static_cast<size_t>(split - dims_.begin());
  ParallelFor(threads, split->size, ParallelGrain(bytes / kBytesPerNs),
              [&](int64_t begin, int64_t end) {
                if (end - begin == split->size) return Run(dtype, src, dst);
                StridedCopy part = *this;
                part.dims_[d].size = end - begin;
                part.src_offset_ += begin * split->src;
                part.dst_offset_ += begin * split->dst;
                part.Run(dtype, src, dst);
              });
}

}  // namespace tenon

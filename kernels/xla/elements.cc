#include "kernels/xla/elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"

namespace tenon {

absl::StatusOr<Tensor> Take(const Tensor& from, absl::Span<const int64_t> positions,
                            const Tensor* fallback) {
  TENON_ASSIGN_OR_RETURN(
      Tensor taken,
      Tensor::Allocate(from.dtype(), Shape({static_cast<int64_t>(positions.size())})));
  VisitStorage(from.dtype(), [&]<typename T>() {
    const T* const x = from.data<T>();
    const T* const other = fallback == nullptr ? nullptr : fallback->data<T>();
    T* y = taken.data<T>();
    for (int64_t p : positions) *y++ = p < 0 ? *other : x[p];
  });
  return taken;
}

void Put(const Tensor& elements, absl::Span<const int64_t> positions, Tensor& to) {
  VisitStorage(to.dtype(), [&]<typename T>() {
    const T* x = elements.data<T>();
    T* const y = to.data<T>();
    for (int64_t p : positions) y[p] = *x++;
  });
}

Tensor Part(Tensor& t, int64_t first, int64_t n) {
  return Tensor::FromExternal(t.dtype(), Shape({n}), ElementAddress(t.raw(), t.dtype(), first),
                              nullptr);
}

void MoveElements(const Tensor& from, int64_t first, Tensor& to, int64_t at, int64_t n) {
  const size_t bytes = static_cast<size_t>(n) * SizeOf(to.dtype());
  std::memmove(ElementAddress(to.raw(), to.dtype(), at),
               ElementAddress(from.raw(), from.dtype(), first), bytes);
}

absl::StatusOr<Tensor> Repeat(const Tensor& scalar, int64_t n) {
  TENON_ASSIGN_OR_RETURN(Tensor all, Tensor::Allocate(scalar.dtype(), Shape({n})));
  VisitStorage(scalar.dtype(),
               [&]<typename T>() { std::fill_n(all.data<T>(), n, *scalar.data<T>()); });
  return all;
}

void PadToPowerOfTwo(std::vector<int64_t>& positions) {
  if (positions.empty()) return;
  positions.resize(std::bit_ceil(positions.size()), positions.back());
}

}  // namespace tenon

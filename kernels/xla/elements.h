// Elements of tensors at listed positions.
#ifndef TENON_KERNELS_XLA_ELEMENTS_H_
#define TENON_KERNELS_XLA_ELEMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"

namespace tenon {

// The elements as a vector; position -1 stands for `fallback`.
absl::StatusOr<Tensor> Take(const Tensor& from, absl::Span<const int64_t> positions,
                            const Tensor* fallback = nullptr);
// Writes elements to positions, in order.
void Put(const Tensor& elements, absl::Span<const int64_t> positions, Tensor& to);
// Elements [first, first + n) as a vector, which must not outlive the tensor.
Tensor Part(Tensor& t, int64_t first, int64_t n);
// Elements [first, first + n) of `from` to those of `to` from `at` on; both may be one tensor.
void MoveElements(const Tensor& from, int64_t first, Tensor& to, int64_t at, int64_t n);
// `n` copies of a scalar.
absl::StatusOr<Tensor> Repeat(const Tensor& scalar, int64_t n);

// Repeats the last position until the number is a power of two, so that a function is called with
// few different lengths.
void PadToPowerOfTwo(std::vector<int64_t>& positions);

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_ELEMENTS_H_

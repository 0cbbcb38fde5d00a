// Sums and extremes of float rows and columns. If a value is NaN, the extreme is NaN.
#ifndef TENON_KERNELS_REDUCTION_REDUCE_SIMD_H_
#define TENON_KERNELS_REDUCTION_REDUCE_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

enum class ReduceKind { kSum, kMax, kMin };

// One value from n >= 1 contiguous values, not yet rounded to float.
using ReduceRowFn = double (*)(const float* x, size_t n);
ReduceRowFn FindReduceRow(ReduceKind kind);

// out[i] from x[i * n], …, x[i * n + n - 1], i in [0, rows), for the n of FindReduceShortRows; sums
// are rounded after each addition, in the same order for all rows.
using ReduceShortRowsFn = void (*)(const float* x, size_t rows, float* out);
inline constexpr size_t kLeastShortRow = 2, kMostShortRow = 4;
ReduceShortRowsFn FindReduceShortRows(ReduceKind kind, size_t n);

// out[c] from x[r * stride + c], r in [0, rows), rows >= 1, c in [0, columns).
using ReduceColumnsFn = void (*)(const float* x, int64_t rows, int64_t stride, size_t columns,
                                 float* out);
ReduceColumnsFn FindReduceColumns(ReduceKind kind);

// Sums of the columns of bfloat16 bits.
using Bfloat16ColumnsFn = void (*)(const uint16_t* x, int64_t rows, int64_t stride, size_t columns,
                                   float* out);
Bfloat16ColumnsFn FindBfloat16Sums();

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_REDUCE_SIMD_H_

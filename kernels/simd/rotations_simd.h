// Plane rotations of neighboring columns, one after the other, as QR iterations make them.
#ifndef TENON_KERNELS_SIMD_ROTATIONS_SIMD_H_
#define TENON_KERNELS_SIMD_ROTATIONS_SIMD_H_

#include <cstddef>

namespace tenon {

// Columns begin at multiples of this, and are filled up with numbers of any value.
inline constexpr size_t kColumnBytes = 64;

// For k = 0 … count - 1, with cosine c and sine s at turns[2 k]: columns k and k + 1, x and y,
// become c x + s y and c y - s x. Each number is read and written once. `columns`: the first;
// column k is at k * stride.
template <typename T>
using RotateColumnsFn = void (*)(const T* turns, size_t count, T* columns, size_t stride,
                                 size_t rows);
template <typename T>  // float, double
RotateColumnsFn<T> FindRotateColumns();

}  // namespace tenon

#endif  // TENON_KERNELS_SIMD_ROTATIONS_SIMD_H_

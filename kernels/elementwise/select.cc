#include "kernels/elementwise/select.h"

#include <algorithm>
#include <type_traits>

#include "kernels/elementwise/reference_broadcast.h"
#include "kernels/interface/parallel.h"
#include "kernels/layout/visit_elements.h"

namespace tenon {
namespace {

// A step is 0 for an operand that has one element for the whole row.
template <int a_step, int b_step, typename T>
void SelectEach(const bool* c, const T* a, const T* b, int64_t n, T* out) {
  if constexpr (std::is_unsigned_v<T>) {
    // Bitwise, and of bytes: GCC vectorizes no loop over bool.
    const auto* const bytes = reinterpret_cast<const unsigned char*>(c);
    for (int64_t i = 0; i < n; ++i) {
      const T mask = static_cast<T>(-static_cast<T>(bytes[i] != 0));
      out[i] = static_cast<T>((a[i * a_step] & mask) | (b[i * b_step] & static_cast<T>(~mask)));
    }
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    for (int64_t i = 0; i < n; ++i) {  // both are read, so that the loop has no branches
      const T x = a[i * a_step], y = b[i * b_step];
      out[i] = c[i] ? x : y;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? a[i * a_step] : b[i * b_step];
  }
}

template <typename T>
void SelectRow(const bool* c, const T* a, const T* b, const Tile& tile, T* out) {
  const int64_t n = tile.cols;
  const bool a_row = tile.col_stride[1] != 0, b_row = tile.col_stride[2] != 0;
  if (tile.col_stride[0] == 0) {
    const T* const from = *c ? a : b;
    if (*c ? a_row : b_row) {
      std::copy_n(from, n, out);
    } else {
      std::fill_n(out, n, *from);
    }
  } else if (a_row) {
    b_row ? SelectEach<1, 1>(c, a, b, n, out) : SelectEach<1, 0>(c, a, b, n, out);
  } else {
    b_row ? SelectEach<0, 1>(c, a, b, n, out) : SelectEach<0, 0>(c, a, b, n, out);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SelectKernel(PrepareContext& p, const Shape& condition) {
  const Broadcast space(p.output_shape(0), {condition, p.input_shape(1), p.input_shape(2)});
  const DType dtype = p.output_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([space, dtype, threads](RunContext& run) {
    VisitElements(dtype, [&]<typename T>() {
      const double ns = 0.3 + 0.1 * static_cast<double>(sizeof(T));
      ParallelFor(threads, space.num_elements(), ParallelGrain(ns),
                  [&](int64_t begin, int64_t end) {
                    space.ForEachTileOf(begin, end, [&](const Tile& tile) {
                      for (int64_t r = 0; r < tile.rows; ++r) {
                        SelectRow(run.input<bool>(0) + tile.offset[0] + r * tile.row_stride[0],
                                  run.input<T>(1) + tile.offset[1] + r * tile.row_stride[1],
                                  run.input<T>(2) + tile.offset[2] + r * tile.row_stride[2], tile,
                                  run.output<T>(0) + tile.out + r * tile.cols);
                      }
                    });
                  });
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon

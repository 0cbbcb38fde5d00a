#include "kernels/contraction/reference_product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/interface/types.h"

namespace tenon {
namespace {

constexpr int64_t kTerms = 256;  // in a part of a sum
constexpr int64_t kTileRows = 4;
// Columns whose sums stay in registers, for kTileRows rows.
template <typename C>
constexpr int64_t kTileColumns = 32 / static_cast<int64_t>(sizeof(C));

// std::complex would look for NaN in each product.
template <typename C>
void AddProduct(const C& a, const C& b, C& sum) {
  if constexpr (kIsComplex<C>) {
    sum = C(sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
            sum.imag() + (a.real() * b.imag() + a.imag() * b.real()));
  } else {
    sum += a * b;
  }
}

// Adds the products of `terms` terms to kTileRows rows of out. `strip`: kTileColumns columns of b.
template <typename C>
void AddTile(const C* a, int64_t a_row, const C* strip, int64_t terms, C* out, int64_t out_row,
             int64_t columns) {
  constexpr int64_t kColumns = kTileColumns<C>;
  // Compilers keep arrays of vectors in registers, but not arrays of numbers.
  using V [[gnu::vector_size(16)]] = C;
  V low[kTileRows] = {}, high[kTileRows] = {};
  for (int64_t k = 0; k < terms; ++k, strip += kColumns) {
    V b[2];
    std::memcpy(b, strip, sizeof(b));
    for (int64_t r = 0; r < kTileRows; ++r) {
      low[r] += a[r * a_row + k] * b[0];
      high[r] += a[r * a_row + k] * b[1];
    }
  }
  C sums[kTileRows][kColumns];
  for (int64_t r = 0; r < kTileRows; ++r) {
    std::memcpy(sums[r], &low[r], sizeof(V));
    std::memcpy(sums[r] + kColumns / 2, &high[r], sizeof(V));
  }
  for (int64_t r = 0; r < kTileRows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out[r * out_row + c] += sums[r][c];
  }
}

// Adds the products of `terms` terms to a row of out. `sums`: room for n elements.
template <typename C>
void AddRow(const C* a, const C* b, int64_t b_row, int64_t terms, int64_t n, C* sums, C* out) {
  std::fill_n(sums, n, C(0));
  for (int64_t k = 0; k < terms; ++k, b += b_row) {
    for (int64_t j = 0; j < n; ++j) AddProduct(a[k], b[j], sums[j]);
  }
  for (int64_t j = 0; j < n; ++j) out[j] += sums[j];
}

}  // namespace

template <typename C>
void ReferenceProduct(int64_t m, int64_t n, int64_t k, const C* a, const C* b, int64_t b_row,
                      C* out) {
  constexpr int64_t kColumns = kTileColumns<C>;
  std::fill_n(out, m * n, C(0));
  const int64_t tiled = kIsComplex<C> ? 0 : m - m % kTileRows;  // rows
  std::vector<C> strip(static_cast<size_t>(tiled > 0 ? kTerms * kColumns : 0));
  std::vector<C> sums(static_cast<size_t>(tiled < m ? n : 0));
  for (int64_t first = 0; first < k; first += kTerms) {
    const int64_t terms = std::min(kTerms, k - first);
    const C* const part = b + first * b_row;
    for (int64_t j = 0; tiled > 0 && j < n; j += kColumns) {
      const int64_t columns = std::min(kColumns, n - j);
      for (int64_t t = 0; t < terms; ++t) {
        std::copy_n(part + t * b_row + j, columns, strip.data() + t * kColumns);
      }
      if constexpr (!kIsComplex<C>) {
        for (int64_t i = 0; i < tiled; i += kTileRows) {
          AddTile(a + i * k + first, k, strip.data(), terms, out + i * n + j, n, columns);
        }
      }
    }
    for (int64_t i = tiled; i < m; ++i) {
      AddRow(a + i * k + first, part, b_row, terms, n, sums.data(), out + i * n);
    }
  }
}

template void ReferenceProduct(int64_t, int64_t, int64_t, const float*, const float*, int64_t,
                               float*);
template void ReferenceProduct(int64_t, int64_t, int64_t, const double*, const double*, int64_t,
                               double*);
template void ReferenceProduct(int64_t, int64_t, int64_t, const uint32_t*, const uint32_t*, int64_t,
                               uint32_t*);
template void ReferenceProduct(int64_t, int64_t, int64_t, const uint64_t*, const uint64_t*, int64_t,
                               uint64_t*);
template void ReferenceProduct(int64_t, int64_t, int64_t, const complex64*, const complex64*,
                               int64_t, complex64*);
template void ReferenceProduct(int64_t, int64_t, int64_t, const complex128*, const complex128*,
                               int64_t, complex128*);

}  // namespace tenon

// Shared by ops on sparse tensors (int64 indices [n, rank], values [n], shape [rank]).
#ifndef TENON_KERNELS_SPARSE_COORDINATES_H_
#define TENON_KERNELS_SPARSE_COORDINATES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace tenon {

// The coordinates of n elements.
struct Coordinates {
  const int64_t* data;
  int64_t n;
  int64_t rank;

  const int64_t* operator[](int64_t i) const { return data + i * rank; }
};

// -1, 0, 1: `a` comes before `b` in row-major order, is the same, comes after it.
int CompareCoordinates(const int64_t* a, const int64_t* b, int64_t rank);

// InvalidArgument if an element is outside `shape`, or a size is negative.
absl::Status CheckCoordinates(const Coordinates& at, const int64_t* shape);

// Elements in row-major order; equal coordinates keep their order.
std::vector<int64_t> RowMajorOrder(const Coordinates& at);

// The elements of two sorted tensors, matched by coordinates; -1: absent.
struct Pair {
  int64_t a;
  int64_t b;
};
std::vector<Pair> UnionOf(const Coordinates& a, const Coordinates& b);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_COORDINATES_H_

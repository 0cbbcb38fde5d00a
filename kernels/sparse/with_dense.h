// Ops on sparse tensors (indices [n, rank], values [n], shape [rank]) and dense ones: conversion,
// products, sums.
#ifndef TENON_KERNELS_SPARSE_WITH_DENSE_H_
#define TENON_KERNELS_SPARSE_WITH_DENSE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

// A dense tensor with the shape in input 1: values (input 2: [n] or a scalar, any dtype) at the
// positions in input 0 ([n, rank], [n] or a scalar; int32 or int64), input 3 elsewhere.
// InvalidArgument for positions out of bounds and, with validate_indices, repeated or out of order.
absl::StatusOr<std::unique_ptr<Kernel>> SparseToDenseKernel(PrepareContext& p);

// A sparse matrix (inputs 0 to 2) times a dense one (input 3), each optionally transposed and
// conjugated (adjoint_a, adjoint_b). Floats, complex numbers and int32; half and bfloat16 are
// summed in float. InvalidArgument for indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseMatMulKernel(PrepareContext& p);

// The dense tensor (input 3) plus the sparse one (inputs 0 to 2), with the same shape and dtype;
// indices are int32 or int64. InvalidArgument if the shapes differ or indices are out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseDenseAddKernel(PrepareContext& p);

// Combines a sparse tensor's elements with those of a dense one at the same positions.
enum class SparseDenseOp { kAdd, kMul, kDiv };

// The new values of the sparse tensor (inputs 0 to 2, real numbers); the dense one (input 3)
// broadcasts to its last dimensions. InvalidArgument if it does not, for indices out of bounds and
// division of integers by 0.
absl::StatusOr<std::unique_ptr<Kernel>> SparseDenseCwiseKernel(PrepareContext& p, SparseDenseOp op);
template <SparseDenseOp op>
absl::StatusOr<std::unique_ptr<Kernel>> SparseDenseCwiseKernel(PrepareContext& p) {
  return SparseDenseCwiseKernel(p, op);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_WITH_DENSE_H_

// SetSize, DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation: the
// last dimension of a tensor as a set for each position in the other dimensions.
#include "kernels/sparse/sets.h"

#include <algorithm>

#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

constexpr char kSetTypes[] = "T: int8 int16 int32 int64 uint8 uint16 string";

absl::Status ExpectSets(const ShapeContext& c, int first) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, first));
  const Shape& shape = c.input(first + 2);
  if (!shape.has_rank() || shape.dim(0) < 0 || shape.dim(0) >= 2) return absl::OkStatus();
  return InvalidArgument("sets need at least 2 dimensions, but have ", shape.dim(0));
}

absl::Status SetSizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSets(c, 0));
  if (c.value(2) == nullptr) return absl::OkStatus();
  const int64_t* dims = c.value(2)->data<int64_t>();
  Shape out;
  for (int64_t d = 0; d + 1 < c.value(2)->num_elements(); ++d) {
    if (dims[d] < 0) return InvalidArgument("a size of ", dims[d], " in set_shape");
    out.push_back(dims[d]);
  }
  TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <SetOperands operands>
absl::Status OperationShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ReadSetOperation(c.attrs()).status());
  constexpr bool kDenseA = operands != SetOperands::kSparseSparse;
  constexpr bool kDenseB = operands == SetOperands::kDenseDense;
  constexpr int kB = kDenseA ? 1 : 3;
  int64_t rank = -1;
  for (const auto& [dense, first] : {std::pair{kDenseA, 0}, std::pair{kDenseB, kB}}) {
    if (!dense) TENON_RETURN_IF_ERROR(ExpectSets(c, first));
    const Shape& s = c.input(dense ? first : first + 2);
    if (!s.has_rank()) continue;
    const int64_t own = dense ? s.rank() : s.dim(0);
    if (own >= 0 && own < 2)
      return InvalidArgument("sets need at least 2 dimensions, but have ", own);
    if (own >= 0 && rank >= 0 && own != rank) {
      return InvalidArgument("sets of ranks ", rank, " and ", own);
    }
    if (own >= 0) rank = own;
  }
  if (kDenseA && kDenseB && c.input(0).has_rank() && c.input(1).has_rank()) {
    for (int d = 0; d + 1 < c.input(0).rank(); ++d) {
      const int64_t a = c.input(0).dim(d), b = c.input(1).dim(d);
      if (a >= 0 && b >= 0 && a != b) {
        return InvalidArgument("sets of ", a, " and ", b, " places in dimension ", d);
      }
    }
  }
  c.set_output(0, Shape({-1, rank}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({rank}));
  return absl::OkStatus();
}

const OpRegistration set_size({
    .name = "SetSize",
    .inputs = "set_indices: int64, set_values: T, set_shape: int64",
    .outputs = "size: int32",
    .attrs = "validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = SetSizeShape,
    .reference = SetSizeKernel,
});

const OpRegistration dense_to_dense({
    .name = "DenseToDenseSetOperation",
    .inputs = "set1: T, set2: T",
    .outputs = "result_indices: int64, result_values: T, result_shape: int64",
    .attrs = "set_operation: string; validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = OperationShape<SetOperands::kDenseDense>,
    .reference = SetOperationKernel<SetOperands::kDenseDense>,
});

const OpRegistration dense_to_sparse({
    .name = "DenseToSparseSetOperation",
    .inputs = "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64",
    .outputs = "result_indices: int64, result_values: T, result_shape: int64",
    .attrs = "set_operation: string; validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = OperationShape<SetOperands::kDenseSparse>,
    .reference = SetOperationKernel<SetOperands::kDenseSparse>,
});

const OpRegistration sparse_to_sparse({
    .name = "SparseToSparseSetOperation",
    .inputs = "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
              "set2_values: T, set2_shape: int64",
    .outputs = "result_indices: int64, result_values: T, result_shape: int64",
    .attrs = "set_operation: string; validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = OperationShape<SetOperands::kSparseSparse>,
    .reference = SetOperationKernel<SetOperands::kSparseSparse>,
});

}  // namespace
}  // namespace tenon

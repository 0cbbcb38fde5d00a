// XlaBroadcastHelper (ones in the shape of the operand of lower rank, so that both have one rank)
// and XlaSetDynamicDimensionSize (the first elements of a dimension).
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: lhs, rhs, broadcast_dims.
absl::Status BroadcastHelperShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  const Shape &lhs = c.input(0), &rhs = c.input(1);
  if (!lhs.has_rank() || !rhs.has_rank() || c.value(2) == nullptr) return absl::OkStatus();
  c.set_output(0, lhs);
  c.set_output(1, rhs);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, IntegersOf(*c.value(2)));
  if (dims.empty()) {
    if (lhs.rank() == rhs.rank() || lhs.rank() == 0 || rhs.rank() == 0) return absl::OkStatus();
    return InvalidArgument("no broadcast_dims for shapes ", lhs.ToString(), " and ",
                           rhs.ToString());
  }
  const int lower = lhs.rank() < rhs.rank() ? 0 : 1;
  const Shape &small = c.input(lower), &large = c.input(1 - lower);
  if (static_cast<int>(dims.size()) != small.rank()) {
    return InvalidArgument(dims.size(), " broadcast_dims for shapes ", lhs.ToString(), " and ",
                           rhs.ToString());
  }
  Shape out(std::vector<int64_t>(static_cast<size_t>(large.rank()), 1));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= large.rank() || (i > 0 && dims[i] <= dims[i - 1])) {
      return InvalidArgument("broadcast_dims[", i, "] is ", dims[i]);
    }
    out.set_dim(static_cast<int>(dims[i]), small.dim(static_cast<int>(i)));
  }
  c.set_output(lower, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> BroadcastHelper(PrepareContext& p) {
  if (p.value(2) == nullptr) return PrepareLate(p, BroadcastHelper, {2});
  return CopyKernel(p);
}

const OpRegistration broadcast_helper({
    .name = "XlaBroadcastHelper",
    .inputs = "lhs: T, rhs: T, broadcast_dims: Tindices",
    .outputs = "lhs_output: T, rhs_output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
             "complex64 complex128 qint8 quint8 qint32; Tindices: int32 int64",
    .shape = BroadcastHelperShape,
    .reference = BroadcastHelper,
    .alias = true,
});

// Inputs: input, dim_index, size.
absl::Status DynamicSizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  Shape out = c.value(1) == nullptr ? Shape::UnknownOfRank(in.rank()) : in;
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t dim, ScalarInteger(*c.value(1), "dim_index"));
    if (dim < 0 || dim >= in.rank()) {
      return InvalidArgument("dim_index is ", dim, " for shape ", in.ToString());
    }
    int64_t size = -1;
    if (c.value(2) != nullptr) {
      TENON_ASSIGN_OR_RETURN(size, ScalarInteger(*c.value(2), "size"));
      const int64_t bound = in.dim(static_cast<int>(dim));
      if (size < 0 || (bound >= 0 && size > bound)) {
        return InvalidArgument("size is ", size, " for dimension ", dim, " of shape ",
                               in.ToString());
      }
    }
    out.set_dim(static_cast<int>(dim), size);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> DynamicSize(PrepareContext& p) {
  const Shape& out = p.output_shape(0);
  if (!out.IsComplete()) return PrepareLate(p, DynamicSize, {1, 2});
  p.InputNotRead(1);
  p.InputNotRead(2);
  const StridedCopy copy(out.dims(), DenseStrides(p.input_shape(0)), DenseStrides(out));
  const DType dtype = p.input_dtype(0);
  return MakeKernel([copy, dtype](RunContext& run) {
    copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

const OpRegistration set_dynamic_dimension_size({
    .name = "XlaSetDynamicDimensionSize",
    .inputs = "input: T, dim_index: int32, size: int32",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
             "complex64 complex128 qint8 quint8 qint16 quint16 qint32",
    .shape = DynamicSizeShape,
    .reference = DynamicSize,
    .moves_elements = true,
});

}  // namespace
}  // namespace tenon

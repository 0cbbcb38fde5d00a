// XlaDynamicSlice (a block of given size) and XlaDynamicUpdateSlice (a tensor with a block
// replaced). The block starts at run-time indices, which are moved so that it lies within the
// tensor.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Every dtype that XLA has.
constexpr char kTypes[] =
    "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
    "complex64 complex128 qint8 quint8 qint16 quint16 qint32; Tindices: int32 int64";

// Where blocks of shape `block` lie within a tensor of shape `whole`.
struct Places {
  Places(const Shape& whole, const Shape& block, DType index_dtype)
      : strides(DenseStrides(whole)), index_dtype(index_dtype) {
    for (int i = 0; i < whole.rank(); ++i) last.push_back(whole.dim(i) - block.dim(i));
  }

  // The first element of the block at `indices`.
  int64_t Offset(const void* indices) const {
    int64_t offset = 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      const int64_t start = index_dtype == DType::kInt32 ? static_cast<const int32_t*>(indices)[i]
                                                         : static_cast<const int64_t*>(indices)[i];
      offset += std::clamp<int64_t>(start, 0, last[i]) * strides[i];
    }
    return offset;
  }

  std::vector<int64_t> strides, last;
  DType index_dtype;
};

absl::Status ExpectIndices(const ShapeContext& c, int input, const char* what) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(input, 1));
  const Shape &whole = c.input(0), &indices = c.input(input);
  if (whole.has_rank() && indices.has_rank() && indices.dim(0) >= 0 &&
      indices.dim(0) != whole.rank()) {
    return InvalidArgument(what, " must have one element for each of ", whole.rank(),
                           " dimensions, but have shape ", indices.ToString());
  }
  return absl::OkStatus();
}

absl::Status ExpectBlock(const Shape& whole, const Shape& block) {
  for (int i = 0; i < whole.rank(); ++i) {
    if (whole.dim(i) >= 0 && block.dim(i) > whole.dim(i)) {
      return InvalidArgument("a block of shape ", block.ToString(), " in a tensor of shape ",
                             whole.ToString());
    }
  }
  return absl::OkStatus();
}

// Inputs: input, start_indices, size_indices.
absl::Status SliceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectIndices(c, 1, "start_indices"));
  TENON_RETURN_IF_ERROR(ExpectIndices(c, 2, "size_indices"));
  const Shape& in = c.input(0);
  if (c.value(2) == nullptr) {
    if (in.has_rank()) c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(Shape size, ShapeOfValue(*c.value(2), MinusOne::kRefused));
  if (in.has_rank()) TENON_RETURN_IF_ERROR(ExpectBlock(in, size));
  c.set_output(0, std::move(size));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> DynamicSlice(PrepareContext& p) {
  const Shape &in = p.input_shape(0), &size = p.output_shape(0);
  if (!size.IsComplete()) return PrepareLate(p, DynamicSlice, {2});
  p.InputNotRead(2);
  const Places places(in, size, p.input_dtype(1));
  const StridedCopy copy(size.dims(), places.strides, DenseStrides(size));
  const DType dtype = p.input_dtype(0);
  return MakeKernel([places, copy, dtype](RunContext& run) {
    const int64_t from = places.Offset(run.input(1));
    copy.Run(dtype, ElementAddress(run.input(0), dtype, from), run.output(0));
    return absl::OkStatus();
  });
}

// Inputs: input, update, indices.
absl::Status UpdateShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectIndices(c, 2, "indices"));
  const Shape &whole = c.input(0), &update = c.input(1);
  if (whole.has_rank() && update.has_rank()) {
    if (update.rank() != whole.rank()) {
      return InvalidArgument("an update of shape ", update.ToString(), " for a tensor of shape ",
                             whole.ToString(), ": the ranks differ");
    }
    TENON_RETURN_IF_ERROR(ExpectBlock(whole, update));
  }
  c.set_output(0, whole);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> DynamicUpdateSlice(PrepareContext& p) {
  const Shape &whole = p.input_shape(0), &update = p.input_shape(1);
  const Places places(whole, update, p.input_dtype(2));
  const StridedCopy copy(update.dims(), DenseStrides(update), places.strides);
  const int64_t n = whole.num_elements();
  const DType dtype = p.input_dtype(0);
  p.AllowInPlace(0, 0);  // the update then costs what it changes
  return MakeKernel([places, copy, n, dtype](RunContext& run) {
    const int64_t to = places.Offset(run.input(2));
    CopyElements(dtype, run.input(0), run.output(0), n);
    if (run.input(1) == run.output(0)) return absl::OkStatus();  // a tensor put into itself
    copy.Run(dtype, run.input(1), ElementAddress(run.output(0), dtype, to));
    return absl::OkStatus();
  });
}

const OpRegistration dynamic_slice({
    .name = "XlaDynamicSlice",
    .inputs = "input: T, start_indices: Tindices, size_indices: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = kTypes,
    .shape = SliceShape,
    .reference = DynamicSlice,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .batch_axis = batch_axis::Slice,
});

const OpRegistration dynamic_update_slice({
    .name = "XlaDynamicUpdateSlice",
    .inputs = "input: T, update: T, indices: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = kTypes,
    .shape = UpdateShape,
    .reference = DynamicUpdateSlice,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
});

}  // namespace
}  // namespace tenon

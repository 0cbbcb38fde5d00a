// StridedSliceGrad (zeros, with a gradient at the slice's position) and TensorStridedSliceUpdate (a
// copy of a tensor with the slice replaced).
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/strided_slice_spec.h"
#include "ops/op.h"

namespace tenon {
namespace {

bool KnownSlice(const Tensor* begin, const Tensor* end, const Tensor* strides) {
  return begin != nullptr && end != nullptr && strides != nullptr;
}

// Inputs: shape, begin, end, strides, dy.
absl::Status GradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  if (c.value(0) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Shape whole, ShapeOfValue(*c.value(0), MinusOne::kRefused));
  if (KnownSlice(c.value(1), c.value(2), c.value(3))) {
    TENON_ASSIGN_OR_RETURN(const SliceSpec spec,
                           MakeSliceSpec(c.attrs(), whole, c.value(1)->num_elements(), c.value(1),
                                         c.value(2), c.value(3)));
    if (!c.input(4).CompatibleWith(spec.OutputShape())) {
      return InvalidArgument("dy must have the slice's shape ", spec.OutputShape().ToString(),
                             ", but has ", c.input(4).ToString());
    }
  }
  c.set_output(0, whole);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> StridedSliceGrad(PrepareContext& p) {
  if (p.value(0) == nullptr || !KnownSlice(p.value(1), p.value(2), p.value(3))) {
    return PrepareLate(p, StridedSliceGrad, {0, 1, 2, 3});
  }
  for (int i = 0; i < 4; ++i) p.InputNotRead(i);
  const Shape& whole = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const SliceSpec spec,
                         MakeSliceSpec(p.attrs(), whole, p.value(1)->num_elements(), p.value(1),
                                       p.value(2), p.value(3)));
  const SliceSpec::Region region = spec.RegionOf(whole);
  const StridedCopy copy(region.taken.dims(), DenseStrides(region.taken), region.strides, 0,
                         region.offset);
  const int64_t n = whole.num_elements();
  const DType dtype = p.output_dtype(0);
  return MakeKernel([copy, n, dtype](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() { std::fill_n(run.output<T>(0), n, T()); });
    copy.Run(dtype, run.input(4), run.output(0));
    return absl::OkStatus();
  });
}

// Inputs: input, begin, end, strides, value (broadcast to the slice).
absl::Status UpdateShape(ShapeContext& c) {
  const Shape& whole = c.input(0);
  c.set_output(0, whole);
  if (!whole.has_rank() || !KnownSlice(c.value(1), c.value(2), c.value(3))) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const SliceSpec spec,
                         MakeSliceSpec(c.attrs(), whole, c.value(1)->num_elements(), c.value(1),
                                       c.value(2), c.value(3)));
  return ExpectFits(spec, c.input(4));
}

absl::StatusOr<std::unique_ptr<Kernel>> StridedSliceUpdate(PrepareContext& p) {
  if (!KnownSlice(p.value(1), p.value(2), p.value(3))) {
    return PrepareLate(p, StridedSliceUpdate, {1, 2, 3});
  }
  for (int i = 1; i < 4; ++i) p.InputNotRead(i);
  const Shape& whole = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const SliceSpec spec,
                         MakeSliceSpec(p.attrs(), whole, p.value(1)->num_elements(), p.value(1),
                                       p.value(2), p.value(3)));
  TENON_ASSIGN_OR_RETURN(const StridedCopy copy, CopyToSlice(spec, whole, p.input_shape(4)));
  const int64_t n = whole.num_elements();
  const DType dtype = p.output_dtype(0);
  p.AllowInPlace(0, 0);
  return MakeKernel([copy, n, dtype](RunContext& run) {
    CopyElements(dtype, run.input(0), run.output(0), n);
    copy.Run(dtype, run.input(4), run.output(0));
    return absl::OkStatus();
  });
}

const OpRegistration strided_slice_grad_op({
    .name = "StridedSliceGrad",
    .inputs = "shape: Index, begin: Index, end: Index, strides: Index, dy: T",
    .outputs = "output: T",
    .attrs = "T: type; Index: type; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = "
             "0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
    .types = "Index: int32 int64",
    .shape = GradShape,
    .reference = StridedSliceGrad,
});

const OpRegistration tensor_strided_slice_update_op({
    .name = "TensorStridedSliceUpdate",
    .inputs = "input: T, begin: Index, end: Index, strides: Index, value: T",
    .outputs = "output: T",
    .attrs = "T: type; Index: type; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = "
             "0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
    .types = "Index: int32 int64",
    .shape = UpdateShape,
    .reference = StridedSliceUpdate,
});

}  // namespace
}  // namespace tenon

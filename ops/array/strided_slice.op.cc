// StridedSlice: NumPy's basic indexing, with begin, end, ellipsis, new-axis and shrink masks.
#include <array>

#include "kernels/interface/late_kernel.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/layout/strided_slice_spec.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status StridedSliceShape(ShapeContext& c) {
  int64_t n = -1;
  for (int i = 1; i <= 3; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (n < 0 && c.input(i).has_rank()) n = c.input(i).dim(0);
  }
  if (!c.input(0).has_rank() || n < 0) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const SliceSpec spec, MakeSliceSpec(c.attrs(), c.input(0), n, c.value(1),
                                                             c.value(2), c.value(3)));
  c.set_output(0, spec.OutputShape());
  return absl::OkStatus();
}

StridedCopy CopyOf(const SliceSpec& spec, const Shape& in) {
  const SliceSpec::Region region = spec.RegionOf(in);
  return StridedCopy(region.taken.dims(), region.strides, DenseStrides(region.taken),
                     region.offset);
}

// A slice of known size whose place the run tells: a loop's counter, for example.
absl::StatusOr<std::unique_ptr<Kernel>> MovingStridedSlice(const PrepareContext& p) {
  const auto index = [&](int i) { return TensorSpec{p.input_dtype(i), p.input_shape(i), nullptr}; };
  return MakeKernel(
      [node = p.node(), in = p.input_shape(0), out = p.output_shape(0), dtype = p.input_dtype(0),
       specs = std::array{index(1), index(2), index(3)}](RunContext& run) -> absl::Status {
        std::array<Tensor, 3> at;
        for (size_t i = 0; i < at.size(); ++i) {
          at[i] =
              Tensor::FromExternal(specs[i].dtype, specs[i].shape,
                                   const_cast<void*>(run.input(static_cast<int>(i) + 1)), nullptr);
        }
        TENON_ASSIGN_OR_RETURN(
            const SliceSpec spec,
            MakeSliceSpec(AttrReader(node), in, at[0].num_elements(), &at[0], &at[1], &at[2]));
        if (spec.OutputShape() != out) {
          return Internal("a slice of shape ", spec.OutputShape().ToString(), " was planned as ",
                          out.ToString());
        }
        CopyOf(spec, in).Run(dtype, run.input(0), run.output(0));
        return absl::OkStatus();
      },
      "reference:moving");
}

absl::StatusOr<std::unique_ptr<Kernel>> StridedSlice(PrepareContext& p) {
  const Tensor* begin = p.value(1);
  const Tensor* end = p.value(2);
  const Tensor* strides = p.value(3);
  if (begin == nullptr || end == nullptr || strides == nullptr) {
    if (p.output_shape(0).IsComplete()) return MovingStridedSlice(p);
    return PrepareLate(p, StridedSlice, {1, 2, 3});
  }
  for (int i = 1; i <= 3; ++i) p.InputNotRead(i);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const SliceSpec spec,
                         MakeSliceSpec(p.attrs(), in, begin->num_elements(), begin, end, strides));
  const StridedCopy copy = CopyOf(spec, in);
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([copy, dtype, threads](RunContext& run) {
    copy.Run(threads, dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

const OpRegistration strided_slice({
    .name = "StridedSlice",
    .inputs = "input: T, begin: Index, end: Index, strides: Index",
    .outputs = "output: T",
    .attrs = "T: type; Index: type; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = "
             "0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
    .types = "Index: int16 int32 int64",
    .shape = StridedSliceShape,
    .reference = StridedSlice,
    .moves_elements = true,
    .batch_axis = batch_axis::StridedSlice,
    .on_integers = OnIntegers::kSelects,
});

}  // namespace
}  // namespace tenon

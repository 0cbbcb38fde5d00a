// ResourceStridedSliceAssign: v[begin:end:strides] = value, which is broadcast to the slice.
#include "env/status.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/layout/strided_slice_spec.h"
#include "kernels/state/update.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> Assign(PrepareContext& p) {
  const Node node = p.node();
  const Shape value = p.input_shape(4);
  const DType dtype = p.input_dtype(4), index_dtype = p.input_dtype(1);
  const Shape index = p.input_shape(1);
  for (int i = 1; i <= 3; ++i) {
    if (p.input_shape(i).rank() != 1 || p.input_shape(i) != index) {
      return InvalidArgument("begin, end and strides must be vectors of equal length");
    }
  }
  return UpdateKernel(
      dtype, {0}, [=](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
        const auto input = [&](int i) {
          return Tensor::FromExternal(index_dtype, index, const_cast<void*>(run.input(i)), nullptr);
        };
        const Tensor begin = input(1), end = input(2), strides = input(3);
        const Shape& shape = variables[0]->shape();
        TENON_ASSIGN_OR_RETURN(
            const SliceSpec spec,
            MakeSliceSpec(AttrReader(node), shape, index.dim(0), &begin, &end, &strides));
        TENON_ASSIGN_OR_RETURN(const StridedCopy copy, CopyToSlice(spec, shape, value));
        copy.Run(dtype, run.input(4), variables[0]->raw());
        return absl::OkStatus();
      });
}

const OpRegistration strided_slice_assign({
    .name = "ResourceStridedSliceAssign",
    .inputs = "ref: resource, begin: Index, end: Index, strides: Index, value: T",
    .attrs = "T: type; Index: type; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = "
             "0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
    .types = "Index: int32 int64",
    .reference = Assign,
    .stateful = true,
});

}  // namespace
}  // namespace tenon

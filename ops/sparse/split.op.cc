// SparseSplit: a sparse tensor cut along one dimension into num_split parts; the first ones are
// larger where the size does not divide.
#include <algorithm>

#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::StatusOr<int64_t> Parts(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const int64_t parts, attrs.Int("num_split"));
  if (parts < 1) return InvalidArgument("num_split must be at least 1, but is ", parts);
  return parts;
}

absl::Status SplitShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 1));
  TENON_ASSIGN_OR_RETURN(const int64_t parts, Parts(c.attrs()));
  const Shape& shape = c.input(3);
  for (int64_t i = 0; i < parts; ++i) {
    const int k = static_cast<int>(i), n = static_cast<int>(parts);
    c.set_output(k, Shape({-1, shape.has_rank() ? shape.dim(0) : -1}));
    c.set_output(n + k, Shape({-1}));
    c.set_output(2 * n + k, shape);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Split(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t parts, Parts(p.attrs()));
  const int64_t n = p.input_shape(1).dim(0), rank = p.input_shape(1).dim(1);
  const DType dtype = p.input_dtype(2);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at = {run.input<int64_t>(1), n, rank};
    const int64_t* shape = run.input<int64_t>(3);
    int64_t axis = *run.input<int64_t>(0);
    if (axis < -rank || axis >= rank) {
      return InvalidArgument("split_dim ", axis, " for a tensor of rank ", rank);
    }
    if (axis < 0) axis += rank;
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
    const int64_t size = shape[axis] / parts, larger = shape[axis] % parts;
    if (size == 0) {
      return InvalidArgument("num_split ", parts, " for a dimension of size ", shape[axis]);
    }
    int64_t begin = 0;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t end = begin + size + (part < larger ? 1 : 0);
      std::vector<int64_t> own;
      for (int64_t i = 0; i < n; ++i) {
        if (at[i][axis] >= begin && at[i][axis] < end) own.push_back(i);
      }
      const int k = static_cast<int>(part), step = static_cast<int>(parts);
      TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(k, Shape({std::ssize(own), rank})));
      TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(step + k, Shape({std::ssize(own)})));
      int64_t* to = static_cast<int64_t*>(indices);
      for (const int64_t i : own) {
        to = std::copy_n(at[i], rank, to);
        *(to - rank + axis) -= begin;
      }
      VisitStorage(dtype, [&]<typename T>() {
        T* value = static_cast<T*>(values);
        for (const int64_t i : own) *value++ = run.input<T>(2)[i];
      });
      int64_t* part_shape = run.output<int64_t>(2 * step + k);
      std::copy_n(shape, rank, part_shape);
      part_shape[axis] = end - begin;
      begin = end;
    }
    return absl::OkStatus();
  });
}

const OpRegistration sparse_split({
    .name = "SparseSplit",
    .inputs = "split_dim: int64, indices: int64, values: T, shape: int64",
    .outputs = "output_indices: num_split * int64, output_values: num_split * T, "
               "output_shape: num_split * int64",
    .attrs = "num_split: int; T: type",
    .shape = SplitShape,
    .reference = Split,
});

}  // namespace
}  // namespace tenon

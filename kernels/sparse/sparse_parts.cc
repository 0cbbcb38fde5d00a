#include "kernels/sparse/sparse_parts.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {

absl::Status CheckParts(const SparseParts& parts, DType dtype) {
  if (parts.indices->dtype() != DType::kInt64 || parts.shape->dtype() != DType::kInt64) {
    return InvalidArgument("indices and shape must be int64, not ", Name(parts.indices->dtype()),
                           " and ", Name(parts.shape->dtype()));
  }
  if (parts.values->dtype() != dtype) {
    return InvalidArgument("the values are ", Name(parts.values->dtype()), ", not ", Name(dtype));
  }
  const Shape &indices = parts.indices->shape(), &values = parts.values->shape(),
              &shape = parts.shape->shape();
  if (values.rank() != 1 || shape.rank() != 1 || indices != Shape({values.dim(0), shape.dim(0)})) {
    return InvalidArgument("indices of shape ", indices.ToString(), " for values of shape ",
                           values.ToString(), " and a shape of shape ", shape.ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckOrder(const Coordinates& at) {
  for (int64_t i = 1; i < at.n; ++i) {
    const int order = CompareCoordinates(at[i - 1], at[i], at.rank);
    if (order == 0) return InvalidArgument("indices[", i, "] is repeated");
    if (order > 0) return InvalidArgument("indices[", i, "] is out of order");
  }
  return absl::OkStatus();
}

absl::Status VisitSlices(const Coordinates& at, const void* values, DType dtype, int64_t slices,
                         absl::FunctionRef<absl::Status(const SparseSlice&)> visit) {
  std::vector<int64_t> indices;
  int64_t begin = 0;
  for (int64_t slice = 0; slice < slices; ++slice) {
    indices.clear();
    int64_t end = begin;
    for (; end < at.n && at[end][0] == slice; ++end) {
      indices.insert(indices.end(), at[end] + 1, at[end] + at.rank);
    }
    const void* first = ElementAddress(values, dtype, begin);
    TENON_RETURN_IF_ERROR(visit({slice, Shape({end - begin, at.rank - 1}), indices.data(), first}));
    begin = end;
  }
  return absl::OkStatus();
}

absl::Status WriteStacked(RunContext& run, const std::vector<SparseParts>& parts,
                          const Shape& outer, DType dtype) {
  const int64_t inner = parts[0].shape->num_elements(), rank = outer.rank() + inner;
  std::vector<int64_t> shape(outer.dims().begin(), outer.dims().end());
  shape.resize(static_cast<size_t>(rank));
  int64_t n = 0;
  for (const SparseParts& part : parts) {
    if (part.shape->num_elements() != inner) {
      return InvalidArgument("sparse tensors of ranks ", inner, " and ",
                             part.shape->num_elements());
    }
    n += part.values->num_elements();
    const int64_t* sizes = part.shape->data<int64_t>();
    for (int64_t d = 0; d < inner; ++d) {
      int64_t& size = shape[static_cast<size_t>(outer.rank() + d)];
      if (sizes[d] < 0 && outer.rank() > 0) return InvalidArgument("a shape with ", sizes[d]);
      size = &part == &parts[0] ? sizes[d] : std::max(size, sizes[d]);
    }
  }
  TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({n, rank})));
  TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({n})));
  TENON_ASSIGN_OR_RETURN(void* sizes, run.AllocateOutput(2, Shape({rank})));
  std::copy(shape.begin(), shape.end(), static_cast<int64_t*>(sizes));
  auto* to = static_cast<int64_t*>(indices);
  int64_t at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const SparseParts& part = parts[i];
    const int64_t count = part.values->num_elements();
    const int64_t* from = part.indices->data<int64_t>();
    for (int64_t row = 0; row < count; ++row, from += inner, to += rank) {
      int64_t place = static_cast<int64_t>(i);
      for (int d = outer.rank() - 1; d >= 0; --d) {
        to[d] = place % outer.dim(d);
        place /= outer.dim(d);
      }
      std::copy_n(from, inner, to + outer.rank());
    }
    WriteItem(part.values, dtype, count, ElementAddress(values, dtype, at));
    at += count;
  }
  return absl::OkStatus();
}

}  // namespace tenon

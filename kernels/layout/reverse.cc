#include "kernels/layout/reverse.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/strided_copy.h"

namespace tenon {

absl::StatusOr<std::vector<bool>> ReversedAxes(const Tensor& axis, int rank) {
  if (axis.shape().rank() != 1) {
    return InvalidArgument("axis must be a vector, but has shape ", axis.shape().ToString());
  }
  if (axis.dtype() == DType::kBool) {
    if (axis.num_elements() != rank) {
      return InvalidArgument(axis.num_elements(), " flags for ", rank, " dimensions");
    }
    return std::vector<bool>(axis.data<bool>(), axis.data<bool>() + rank);
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegersOf(axis));
  return AxisMask(axes, rank);
}

absl::StatusOr<std::unique_ptr<Kernel>> ReverseKernel(PrepareContext& p) {
  const Tensor* axis = p.value(1);
  if (axis == nullptr) return PrepareLate(p, ReverseKernel, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reversed, ReversedAxes(*axis, in.rank()));
  std::vector<int64_t> src = DenseStrides(in);
  int64_t offset = 0;
  for (size_t i = 0; i < src.size(); ++i) {
    if (!reversed[i]) continue;
    offset += (in.dims()[i] - 1) * src[i];
    src[i] = -src[i];
  }
  const StridedCopy copy(in.dims(), src, DenseStrides(in), offset);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([copy, dtype](RunContext& run) {
    copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RollKernel(PrepareContext& p) {
  const Tensor* shift = p.value(1);
  const Tensor* axis = p.value(2);
  if (shift == nullptr || axis == nullptr) return PrepareLate(p, RollKernel, {1, 2});
  p.InputNotRead(1);
  p.InputNotRead(2);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> shifts, IntegersOf(*shift));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegersOf(*axis));
  std::vector<int64_t> by(static_cast<size_t>(in.rank()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axes[i], in.rank()));
    int64_t& b = by[static_cast<size_t>(k)];
    const int64_t d = in.dim(k);
    if (d > 0) b = ((b + shifts[i] % d) % d + d) % d;  // shifts of the same axis add up
  }
  // A shifted dimension is two blocks that change places; every combination is one copy.
  const std::vector<int64_t> dense = DenseStrides(in);
  struct Part {
    Shape size;
    int64_t src = 0;
    int64_t dst = 0;
  };
  std::vector<Part> parts(1);
  for (size_t i = 0; i < by.size(); ++i) {
    const int64_t d = in.dims()[i];
    std::vector<Part> next;
    for (const Part& part : parts) {
      Part head = part, tail = part;
      head.size.push_back(d - by[i]);
      head.dst += by[i] * dense[i];
      next.push_back(head);
      if (by[i] == 0) continue;
      tail.size.push_back(by[i]);
      tail.src += (d - by[i]) * dense[i];
      next.push_back(tail);
    }
    parts = std::move(next);
    if (parts.size() > 1024) return Unimplemented("a roll of more than 10 axes");
  }
  std::vector<StridedCopy> copies;
  for (const Part& part : parts) {
    copies.emplace_back(part.size.dims(), dense, dense, part.src, part.dst);
  }
  const DType dtype = p.input_dtype(0);
  return MakeKernel([copies, dtype](RunContext& run) {
    for (const StridedCopy& copy : copies) copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

}  // namespace tenon

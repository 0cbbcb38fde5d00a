// XlaGather: slices of given size from the operand, at positions that a tensor of indices lists.
#include <algorithm>
#include <cstring>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/xla/slice_places.h"
#include "ops/op.h"

namespace tenon {
namespace {

// What it takes to find a slice, and to copy an element.
constexpr double kSliceNs = 8, kElementNs = 0.5;

absl::Status CheckSlice(const GatherNumbers& numbers, const Shape& operand, const DimList& slice) {
  if (static_cast<int>(slice.size()) != operand.rank()) {
    return InvalidArgument("slice_sizes has ", slice.size(), " elements for an operand of shape ",
                           operand.ToString());
  }
  for (int i = 0; i < operand.rank(); ++i) {
    const int64_t size = slice[static_cast<size_t>(i)];
    const bool left_out = Contains(numbers.collapsed, i) || Contains(numbers.operand_batch, i);
    if (size < 0 || (operand.dim(i) >= 0 && size > operand.dim(i)) || (left_out && size > 1)) {
      return InvalidArgument("slice_sizes[", i, "] is ", size, " for an operand of shape ",
                             operand.ToString());
    }
  }
  return absl::OkStatus();
}

// Inputs: operand, start_indices, slice_sizes.
absl::Status XlaGatherShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_ASSIGN_OR_RETURN(const std::string bytes, c.attrs().String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(const GatherNumbers numbers, ParseGatherNumbers(bytes));
  const Shape &operand = c.input(0), &indices = c.input(1);
  if (!operand.has_rank() || !indices.has_rank()) return absl::OkStatus();
  const DimList batch = BatchDims(indices, numbers);
  const int rank = static_cast<int>(batch.size() + numbers.offset.size());
  TENON_RETURN_IF_ERROR(CheckNumbers(numbers, operand, indices, rank));
  DimList slice(static_cast<size_t>(operand.rank()), -1);
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(slice, IntegersOf(*c.value(2)));
    TENON_RETURN_IF_ERROR(CheckSlice(numbers, operand, slice));
  }
  const DimList kept = KeptDims(operand.rank(), numbers);
  Shape out;
  size_t next_kept = 0, next_batch = 0;
  for (int i = 0; i < rank; ++i) {
    out.push_back(Contains(numbers.offset, i) ? slice[static_cast<size_t>(kept[next_kept++])]
                                              : batch[next_batch++]);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> XlaGather(PrepareContext& p) {
  if (p.value(2) == nullptr) return PrepareLate(p, XlaGather, {2});
  p.InputNotRead(2);
  TENON_ASSIGN_OR_RETURN(const std::string bytes, p.attrs().String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(const GatherNumbers numbers, ParseGatherNumbers(bytes));
  TENON_ASSIGN_OR_RETURN(const DimList slice, IntegersOf(*p.value(2)));
  const Shape &operand = p.input_shape(0), &out = p.output_shape(0);
  const SlicePlaces places(numbers, operand, p.input_shape(1), p.input_dtype(1), slice);

  const std::vector<int64_t> from = DenseStrides(operand), to = DenseStrides(out);
  const DimList kept = KeptDims(operand.rank(), numbers);
  DimList dims, src, dst;
  for (size_t i = 0; i < kept.size(); ++i) {
    dims.push_back(slice[static_cast<size_t>(kept[i])]);
    src.push_back(from[static_cast<size_t>(kept[i])]);
    dst.push_back(to[static_cast<size_t>(numbers.offset[i])]);
  }
  const StridedCopy copy(dims, src, dst);
  DimList batch, batch_strides;
  for (int i = 0; i < out.rank(); ++i) {
    if (Contains(numbers.offset, i)) continue;
    batch.push_back(out.dim(i));
    batch_strides.push_back(to[static_cast<size_t>(i)]);
  }
  const bool empty = out.num_elements() == 0;
  const DType dtype = p.input_dtype(0);
  if (!empty && std::count(slice.begin(), slice.end(), 0) > 0) {
    // A dimension of 0 that the result does not have: XLA gives zeros.
    const size_t bytes = static_cast<size_t>(out.num_elements()) * SizeOf(dtype);
    return MakeKernel([bytes](RunContext& run) {
      std::memset(run.output(0), 0, bytes);
      return absl::OkStatus();
    });
  }
  if (empty) return MakeKernel([](RunContext&) { return absl::OkStatus(); });
  const int64_t elements = out.num_elements() / places.count();  // of a slice
  const int threads = p.services().threads;
  const int64_t grain = ParallelGrain(kSliceNs + kElementNs * static_cast<double>(elements));
  if (elements == 1) {
    return MakeKernel([=](RunContext& run) {
      ParallelFor(threads, places.count(), grain, [&](int64_t begin, int64_t end) {
        VisitStorage(dtype, [&]<typename T>() {
          const T* const operand = run.input<T>(0);
          T* const result = run.output<T>(0);
          // The other dimensions have size 1, so the slices follow each other.
          for (int64_t i = begin; i < end; ++i)
            result[i] = operand[places.Clamped(run.input(1), i)];
        });
      });
      return absl::OkStatus();
    });
  }
  return MakeKernel([=](RunContext& run) {
    ParallelFor(threads, places.count(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t left = i, at = 0;
        for (size_t d = batch.size(); d-- > 0;) {
          at += left % batch[d] * batch_strides[d];
          left /= batch[d];
        }
        copy.Run(dtype, ElementAddress(run.input(0), dtype, places.Clamped(run.input(1), i)),
                 ElementAddress(run.output(0), dtype, at));
      }
    });
    return absl::OkStatus();
  });
}

const OpRegistration xla_gather({
    .name = "XlaGather",
    .inputs = "operand: T, start_indices: Tindices, slice_sizes: Tindices",
    .outputs = "output: T",
    .attrs = "dimension_numbers: string; indices_are_sorted: bool; T: type; Tindices: type",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
             "complex64 complex128 qint8 quint8 qint16 quint16 qint32; Tindices: int32 int64",
    .shape = XlaGatherShape,
    .reference = XlaGather,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
});

}  // namespace
}  // namespace tenon

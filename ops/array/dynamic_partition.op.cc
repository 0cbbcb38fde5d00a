// DynamicPartition sorts a tensor's slices into several tensors; DynamicStitch and
// ParallelDynamicStitch merge slices of several tensors.
#include "kernels/layout/dynamic_partition.h"

#include <algorithm>

#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

bool StartsWithShape(const Shape& whole, const Shape& prefix) {
  if (!whole.has_rank() || !prefix.has_rank()) return true;
  return prefix.rank() <= whole.rank() &&
         Shape(whole.dims().subspan(0, static_cast<size_t>(prefix.rank()))).CompatibleWith(prefix);
}

absl::Status PartitionShape(ShapeContext& c) {
  if (c.num_outputs() < 1) return InvalidArgument("num_partitions must be at least 1");
  const Shape& data = c.input(0);
  const Shape& partitions = c.input(1);
  if (!StartsWithShape(data, partitions)) {
    return InvalidArgument("data.shape must start with partitions.shape, but they are ",
                           data.ToString(), " and ", partitions.ToString());
  }
  if (!data.has_rank() || !partitions.has_rank()) return absl::OkStatus();
  Shape out({-1});
  for (int i = partitions.rank(); i < data.rank(); ++i) out.push_back(data.dim(i));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
  return absl::OkStatus();
}

// Inputs: N indices, then N data.
absl::Status StitchShape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  if (n < 1) return InvalidArgument("N must be at least 1");
  Shape slice = Shape::Unknown();
  int64_t rows = 0;  // -1: not known
  for (int i = 0; i < n; ++i) {
    const Shape& indices = c.input(i);
    const Shape& data = c.input(n + i);
    if (!StartsWithShape(data, indices)) {
      return InvalidArgument("data[", i, "].shape must start with indices[", i,
                             "].shape, but they are ", data.ToString(), " and ",
                             indices.ToString());
    }
    if (c.value(i) == nullptr) {
      rows = -1;
    } else if (rows >= 0) {
      TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(*c.value(i)));
      for (int64_t v : values) rows = std::max(rows, v + 1);
    }
    if (!data.has_rank() || !indices.has_rank()) continue;
    const Shape tail(data.dims().subspan(static_cast<size_t>(indices.rank())));
    const absl::StatusOr<Shape> merged = MergeShapes(slice, tail);
    if (!merged.ok()) {
      return InvalidArgument("slices of different shapes: ", slice.ToString(), " and ",
                             tail.ToString());
    }
    slice = *merged;
  }
  if (!slice.has_rank()) return absl::OkStatus();
  slice.insert(0, rows);
  if (slice.IsComplete()) TENON_RETURN_IF_ERROR(slice.CheckedElements().status());
  c.set_output(0, std::move(slice));
  return absl::OkStatus();
}

const OpRegistration dynamic_partition_op({
    .name = "DynamicPartition",
    .inputs = "data: T, partitions: int32",
    .outputs = "outputs: num_partitions * T",
    .attrs = "num_partitions: int; T: type",
    .shape = PartitionShape,
    .reference = DynamicPartitionKernel,
});

const OpRegistration dynamic_stitch_op({
    .name = "DynamicStitch",
    .inputs = "indices: N * int32, data: N * T",
    .outputs = "merged: T",
    .attrs = "N: int; T: type",
    .shape = StitchShape,
    .reference = DynamicStitchKernel,
});

const OpRegistration parallel_dynamic_stitch_op({
    .name = "ParallelDynamicStitch",
    .inputs = "indices: N * int32, data: N * T",
    .outputs = "merged: T",
    .attrs = "N: int; T: type",
    .shape = StitchShape,
    .reference = DynamicStitchKernel,
});

}  // namespace
}  // namespace tenon

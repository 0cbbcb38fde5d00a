// DynamicPartition sorts a tensor's slices into several tensors; DynamicStitch and
// ParallelDynamicStitch put slices of several tensors together again.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/reduction/segments.h"
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

absl::StatusOr<std::unique_ptr<Kernel>> DynamicPartition(PrepareContext& p) {
  const Shape slice = p.output_shape(0);
  const int64_t n = p.input_shape(1).num_elements();
  const int64_t width = Product(slice, 1, slice.rank());
  const int outputs = p.num_outputs();
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int32_t* partitions = run.input<int32_t>(1);
    std::vector<int64_t> counts(static_cast<size_t>(outputs), 0);
    for (int64_t i = 0; i < n; ++i) {
      if (partitions[i] < 0 || partitions[i] >= outputs) {
        return InvalidArgument("partitions[", i, "] = ", partitions[i], " is not in [0, ", outputs,
                               ")");
      }
      ++counts[static_cast<size_t>(partitions[i])];
    }
    std::vector<void*> out;
    for (int o = 0; o < outputs; ++o) {
      Shape shape = slice;
      shape.set_dim(0, counts[static_cast<size_t>(o)]);
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(o, shape));
      out.push_back(memory);
    }
    VisitStorage(dtype, [&]<typename T>() {
      const T* x = run.input<T>(0);
      for (int64_t i = 0; i < n; ++i, x += width) {
        void*& to = out[static_cast<size_t>(partitions[i])];
        to = std::copy_n(x, width, static_cast<T*>(to));
      }
    });
    return absl::OkStatus();
  });
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

absl::StatusOr<std::unique_ptr<Kernel>> DynamicStitch(PrepareContext& p) {
  const Shape shape = p.output_shape(0);
  const int n = p.num_inputs() / 2;
  std::vector<int64_t> sizes;
  for (int i = 0; i < n; ++i) sizes.push_back(p.input_shape(i).num_elements());
  const DType dtype = p.output_dtype(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    int64_t rows = 0;
    for (int i = 0; i < n; ++i) {
      for (int64_t k = 0; k < sizes[static_cast<size_t>(i)]; ++k) {
        const int64_t index = run.input<int32_t>(i)[k];
        if (index < 0) return InvalidArgument("indices[", i, "] has ", index);
        rows = std::max(rows, index + 1);
      }
    }
    void* out = shape.IsComplete() ? run.output(0) : nullptr;
    if (out == nullptr) {
      Shape whole = shape;
      whole.set_dim(0, rows);
      TENON_RETURN_IF_ERROR(whole.CheckedElements().status());
      TENON_ASSIGN_OR_RETURN(out, run.AllocateOutput(0, whole));
    }
    const int64_t width = Product(shape, 1, shape.rank());
    VisitStorage(dtype, [&]<typename T>() {
      std::fill_n(static_cast<T*>(out), rows * width, T());
      for (int i = 0; i < n; ++i) {
        for (int64_t k = 0; k < sizes[static_cast<size_t>(i)]; ++k) {
          std::copy_n(run.input<T>(n + i) + k * width, width,
                      static_cast<T*>(out) + run.input<int32_t>(i)[k] * width);
        }
      }
    });
    return absl::OkStatus();
  });
}

const OpRegistration dynamic_partition_op({
    .name = "DynamicPartition",
    .inputs = "data: T, partitions: int32",
    .outputs = "outputs: num_partitions * T",
    .attrs = "num_partitions: int; T: type",
    .shape = PartitionShape,
    .reference = DynamicPartition,
});

const OpRegistration dynamic_stitch_op({
    .name = "DynamicStitch",
    .inputs = "indices: N * int32, data: N * T",
    .outputs = "merged: T",
    .attrs = "N: int; T: type",
    .shape = StitchShape,
    .reference = DynamicStitch,
});

const OpRegistration parallel_dynamic_stitch_op({
    .name = "ParallelDynamicStitch",
    .inputs = "indices: N * int32, data: N * T",
    .outputs = "merged: T",
    .attrs = "N: int; T: type",
    .shape = StitchShape,
    .reference = DynamicStitch,
});

}  // namespace
}  // namespace tenon

// Batch, Unbatch and UnbatchGrad, which collect the calls of several threads into batches in
// TensorFlow and split the results again. Here each call is a batch of its own.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kCall = 0;  // the id of every call, which nobody shares a batch with

// The common first dimension of all inputs; -1: not known.
absl::StatusOr<int64_t> CommonRows(const ShapeContext& c) {
  int64_t rows = -1;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& in = c.input(i);
    if (!in.has_rank()) continue;
    if (in.rank() == 0) return InvalidArgument("in_tensors must have a first dimension");
    if (rows >= 0 && in.dim(0) >= 0 && in.dim(0) != rows) {
      return InvalidArgument("in_tensors of ", rows, " and ", in.dim(0), " rows");
    }
    rows = std::max(rows, in.dim(0));
  }
  return rows;
}

// A call without rows gives empty vectors, as in TensorFlow.
absl::Status BatchShape(ShapeContext& c) {
  if (c.num_inputs() == 0) return InvalidArgument("nothing to batch");
  TENON_ASSIGN_OR_RETURN(const int64_t rows, CommonRows(c));
  TENON_ASSIGN_OR_RETURN(const int64_t most, c.attrs().Int("max_batch_size"));
  for (const char* name : {"batch_timeout_micros", "grad_timeout_micros"}) {
    TENON_ASSIGN_OR_RETURN(const int64_t micros, c.attrs().Int(name));
    if (micros < 0) return InvalidArgument(name, " must not be negative");
  }
  if (rows > most) return InvalidArgument(rows, " rows for batches of ", most);
  if (rows < 0) return absl::OkStatus();
  const int index = c.num_inputs();
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, rows > 0 ? c.input(i) : Shape({0}));
  c.set_output(index, rows > 0 ? Shape({1, 3}) : Shape({0}));
  c.set_output(index + 1, rows > 0 ? Shape() : Shape({0}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Batch(PrepareContext& p) {
  const int n = p.num_inputs();
  const int64_t rows = p.input_shape(0).dim(0);
  std::vector<TensorSpec> specs;
  for (int i = 0; i < n; ++i) specs.push_back({p.input_dtype(i), p.input_shape(i), nullptr});
  return MakeKernel([=](RunContext& run) {
    if (rows == 0) return absl::OkStatus();
    for (int i = 0; i < n; ++i) {
      const TensorSpec& spec = specs[static_cast<size_t>(i)];
      VisitStorage(spec.dtype, [&]<typename T>() {
        std::copy_n(run.input<T>(i), spec.shape.num_elements(), run.output<T>(i));
      });
    }
    const int64_t place[] = {kCall, 0, rows};
    std::copy_n(place, 3, run.output<int64_t>(n));
    *run.output<int64_t>(n + 1) = kCall;
    return absl::OkStatus();
  });
}

absl::Status ExpectBatchIndex(const ShapeContext& c) {
  if (c.input(1).CompatibleWith(Shape({-1, 3}))) return absl::OkStatus();
  return InvalidArgument("batch_index must have 3 columns, but has shape ", c.input(1).ToString());
}

absl::Status UnbatchShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectBatchIndex(c));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() == 0) return InvalidArgument("batched_tensor must have a first dimension");
  if (out.dim(0) >= 0 && c.input(1).has_rank() && c.input(1).dim(0) > out.dim(0)) {
    return InvalidArgument(c.input(1).dim(0), " calls in a batch of ", out.dim(0), " rows");
  }
  out.set_dim(0, -1);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The rows of input 0 that the row of batch_index with this id states.
absl::StatusOr<std::unique_ptr<Kernel>> Unbatch(PrepareContext& p) {
  const Shape in = p.input_shape(0);
  const DType dtype = p.input_dtype(0);
  const int64_t calls = p.input_shape(1).dim(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t* place = run.input<int64_t>(1);
    const int64_t* const end = place + 3 * calls;
    while (place != end && *place != *run.input<int64_t>(2)) place += 3;
    if (place == end) return InvalidArgument("the batch has no call ", *run.input<int64_t>(2));
    if (place[1] < 0 || place[2] < place[1] || place[2] > in.dim(0)) {
      return InvalidArgument("rows ", place[1], " to ", place[2], " of ", in.dim(0));
    }
    Shape out = in;
    out.set_dim(0, place[2] - place[1]);
    TENON_ASSIGN_OR_RETURN(void* const to, run.AllocateOutput(0, out));
    const int64_t width = Product(in, 1, in.rank());
    VisitStorage(dtype, [&]<typename T>() {
      std::copy_n(run.input<T>(0) + place[1] * width, out.num_elements(), static_cast<T*>(to));
    });
    return absl::OkStatus();
  });
}

absl::Status UnbatchGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectBatchIndex(c));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  if (!c.input(1).CompatibleWith(Shape({1, 3}))) {
    return Unimplemented("a batch of several calls");
  }
  if (c.input(2).has_rank() && c.input(2).rank() == 0) {
    return InvalidArgument("grad must have a first dimension");
  }
  c.set_output(0, c.input(2));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> UnbatchGrad(PrepareContext& p) {
  const int64_t n = p.input_shape(2).num_elements();
  const DType dtype = p.input_dtype(2);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    if (*run.input<int64_t>(1) != *run.input<int64_t>(3)) {
      return InvalidArgument("the batch has no call ", *run.input<int64_t>(3));
    }
    VisitStorage(dtype, [&]<typename T>() { std::copy_n(run.input<T>(2), n, run.output<T>(0)); });
    return absl::OkStatus();
  });
}

const OpRegistration batch({
    .name = "Batch",
    .inputs = "in_tensors: T",
    .outputs = "batched_tensors: T, batch_index: int64, id: int64",
    .attrs = "num_batch_threads: int; max_batch_size: int; max_enqueued_batches: int = 10; "
             "batch_timeout_micros: int; allowed_batch_sizes: list(int) = []; "
             "grad_timeout_micros: int; container: string = ; shared_name: string = ; "
             "batching_queue: string = ; T: list(type)",
    .shape = BatchShape,
    .reference = Batch,
});

const OpRegistration unbatch({
    .name = "Unbatch",
    .inputs = "batched_tensor: T, batch_index: int64, id: int64",
    .outputs = "unbatched_tensor: T",
    .attrs = "timeout_micros: int; container: string = ; shared_name: string = ; T: type",
    .shape = UnbatchShape,
    .reference = Unbatch,
});

const OpRegistration unbatch_grad({
    .name = "UnbatchGrad",
    .inputs = "original_input: T, batch_index: int64, grad: T, id: int64",
    .outputs = "batched_grad: T",
    .attrs = "container: string = ; shared_name: string = ; T: type",
    .shape = UnbatchGradShape,
    .reference = UnbatchGrad,
});

}  // namespace
}  // namespace tenon

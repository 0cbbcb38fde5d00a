#include "kernels/layout/dynamic_partition.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> DynamicPartitionKernel(PrepareContext& p) {
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

absl::StatusOr<std::unique_ptr<Kernel>> DynamicStitchKernel(PrepareContext& p) {
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

}  // namespace tenon

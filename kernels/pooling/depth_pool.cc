#include "kernels/pooling/depth_pool.h"

#include <vector>

#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {

absl::StatusOr<int64_t> DepthWindow(const AttrReader& attrs, const Tensor* ksize,
                                    const Tensor* strides) {
  const auto list = [&attrs](const char* name,
                             const Tensor* value) -> absl::StatusOr<std::vector<int64_t>> {
    return value != nullptr ? IntegerValues(*value) : attrs.Ints(name);
  };
  if (attrs.String("data_format", "NHWC") != "NHWC") return 1;
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, list("ksize", ksize));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> step, list("strides", strides));
  if (size.size() != 4 || step.size() != 4 || size[3] <= 1) return 1;
  for (size_t i = 0; i < 3; ++i) {
    if (size[i] != 1 || step[i] != 1) {
      return InvalidArgument("a window over channels must not cover positions too");
    }
  }
  if (step[3] != size[3]) {
    return InvalidArgument("a window over ", size[3], " channels must have that stride, not ",
                           step[3]);
  }
  const auto paddings = attrs.Ints("explicit_paddings");
  if (attrs.String("padding", "") == "EXPLICIT" || (paddings.ok() && !paddings->empty())) {
    return InvalidArgument("a window over channels cannot have explicit paddings");
  }
  return size[3];
}

absl::StatusOr<std::unique_ptr<Kernel>> DepthPoolKernel(PrepareContext& p, int64_t window) {
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  return DispatchType(RealNumbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const T* const x = run.input<T>(0);
      T* const y = run.output<T>(0);
      ParallelFor(threads, n, ParallelGrain(static_cast<double>(window)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const T* const group = x + i * window;
                      T largest = group[0];
                      for (int64_t k = 1; k < window; ++k) {
                        if (ToCompute(largest) < ToCompute(group[k])) largest = group[k];
                      }
                      y[i] = largest;
                    }
                  });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon

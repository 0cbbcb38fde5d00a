#include "kernels/quantized/relu.h"

#include <limits>

#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

// Each element of y may be that of x.
template <typename T>
void ClampIntegers(const T* x, T low, T high, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T raised = x[i] < low ? low : x[i];
    y[i] = high < raised ? high : raised;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReluKernel(PrepareContext& p, ReluBound bound) {
  if (p.input_dtype(0) != p.output_dtype(0)) {
    return InvalidArgument("out_type must be ", Name(p.input_dtype(0)), ", is ",
                           Name(p.output_dtype(0)));
  }
  const DType dtype = p.input_dtype(0);
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  const int threads = p.services().threads;
  return MakeKernel([n, dtype, bound, threads](RunContext& r) -> absl::Status {
    const FloatRange range = ScalarRange(r, ReluRangeInput(bound));
    const bool known = VisitQuantized(dtype, [&]<typename T>() {
      const T low = QuantizeValue<T>(0.0f, range);
      T high = std::numeric_limits<T>::max();
      if (bound == ReluBound::kSix) high = QuantizeValue<T>(6.0f, range);
      if (bound == ReluBound::kInput) high = QuantizeValue<T>(r.input<float>(1)[0], range);
      const T* const x = r.input<T>(0);
      T* const y = r.output<T>(0);
      ParallelFor(threads, n, ParallelGrain(0.1), [&](int64_t begin, int64_t end) {
        ClampIntegers(x + begin, low, high, y + begin, end - begin);
      });
    });
    SetRange(r, 1, range);
    return known ? absl::OkStatus() : NotQuantized(dtype);
  });
}

}  // namespace tenon

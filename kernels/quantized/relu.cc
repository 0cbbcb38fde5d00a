#include "kernels/quantized/relu.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReluKernel(PrepareContext& p, ReluBound bound) {
  if (p.input_dtype(0) != p.output_dtype(0)) {
    return InvalidArgument("out_type must be ", Name(p.input_dtype(0)), ", is ",
                           Name(p.output_dtype(0)));
  }
  const DType dtype = p.input_dtype(0);
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  return MakeKernel([n, dtype, bound](RunContext& r) -> absl::Status {
    const FloatRange range = ScalarRange(r, ReluRangeInput(bound));
    const bool known = VisitQuantized(dtype, [&]<typename T>() {
      const T low = QuantizeValue<T>(0.0f, range);
      T high = std::numeric_limits<T>::max();
      if (bound == ReluBound::kSix) high = QuantizeValue<T>(6.0f, range);
      if (bound == ReluBound::kInput) high = QuantizeValue<T>(r.input<float>(1)[0], range);
      for (int64_t i = 0; i < n; ++i) {
        r.output<T>(0)[i] = std::min(std::max(r.input<T>(0)[i], low), high);
      }
    });
    SetRange(r, 1, range);
    return known ? absl::OkStatus() : NotQuantized(dtype);
  });
}

}  // namespace tenon

// SobolSample: points of Sobol's sequence.
#include "kernels/random/sobol.h"

#include <limits>

#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kMostPoints = std::numeric_limits<int32_t>::max();

// Inputs: dim, num_results, skip.
absl::Status SobolShape(ShapeContext& c) {
  int64_t values[3] = {-1, -1, 0};
  for (int i = 0; i < 3; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
    if (c.value(i) == nullptr) continue;
    TENON_ASSIGN_OR_RETURN(values[i], ScalarInteger(*c.value(i), "an input"));
    if (values[i] < (i == 2 ? 0 : 1)) {
      return InvalidArgument("dim and num_results must be positive, skip not negative; input ", i,
                             " is ", values[i]);
    }
  }
  // TensorFlow's negative points from 2^30 on are a defect.
  if (values[1] + values[2] >= kMostPoints) {
    return InvalidArgument("num_results and skip must sum to less than ", kMostPoints);
  }
  c.set_output(0, Shape({values[1], values[0]}));
  return absl::OkStatus();
}

const OpRegistration sobol_sample({
    .name = "SobolSample",
    .inputs = "dim: int32, num_results: int32, skip: int32",
    .outputs = "samples: dtype",
    .attrs = "dtype: type = float",
    .types = "dtype: float double",
    .shape = SobolShape,
    .reference = SobolSampleKernel,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon

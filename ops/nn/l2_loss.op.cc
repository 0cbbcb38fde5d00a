// L2Loss: half the sum of the squares of all elements.
#include <algorithm>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/loss_simd.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kPiece = 1 << 16;

absl::StatusOr<std::unique_ptr<Kernel>> ReferenceL2Loss(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) {
      const T* x = run.input<T>(0);
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      run.output<T>(0)[0] = static_cast<T>(sum / 2);
      return absl::OkStatus();
    });
  });
}

// Partial sums of blocks that do not depend on the number of threads.
absl::StatusOr<std::unique_ptr<Kernel>> VectorL2Loss(PrepareContext& p) {
  if (p.input_dtype(0) != DType::kFloat) return NoKernelFor(p.input_dtype(0));

  const int64_t n = p.input_shape(0).num_elements();
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  const int threads = p.services().threads;
  p.RequestScratch(static_cast<size_t>(pieces) * sizeof(double));
  auto run = [n, pieces, threads, sum = FindSquareSum()](RunContext& r) {
    double* const part = static_cast<double*>(r.scratch());
    const float* const x = r.input<float>(0);
    ParallelFor(threads, pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t length = std::min(kPiece, n - i * kPiece);
        part[i] = sum(x + i * kPiece, static_cast<size_t>(length));
      }
    });
    double total = 0;
    for (int64_t i = 0; i < pieces; ++i) total += part[i];
    r.output<float>(0)[0] = static_cast<float>(total / 2);
    return absl::OkStatus();
  };
  return MakeKernel(run, "vector");
}

const OpRegistration l2_loss({
    .name = "L2Loss",
    .inputs = "t: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = ScalarShape,
    .reference = ReferenceL2Loss,
    .accelerated = VectorL2Loss,
    .native = "_MklNativeL2Loss",
    .native_types = "float",
    .error_bound = ErrorBound::kSumOfSquares,
});

}  // namespace
}  // namespace tenon

#include "kernels/elementwise/cast.h"

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/half_simd.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

constexpr double kNsPerElement = 0.15;

template <typename From, typename To, void (*convert)(const From*, To*, size_t)>
absl::StatusOr<std::unique_ptr<Kernel>> MakeCast(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  return MakeKernel(
      [n, threads](RunContext& run) {
        const From* from = run.input<From>(0);
        To* to = run.output<To>(0);
        ParallelFor(threads, n, ParallelGrain(kNsPerElement), [&](int64_t begin, int64_t end) {
          convert(from + begin, to + begin, static_cast<size_t>(end - begin));
        });
        return absl::OkStatus();
      },
      "vector");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorCast(PrepareContext& p) {
  const DType from = p.input_dtype(0), to = p.output_dtype(0);
  if (p.attrs().Bool("Truncate", false)) return Unimplemented("truncation");
  if (from == DType::kFloat && to == DType::kBfloat16) {
    return MakeCast<float, uint16_t, NarrowToBfloat16>(p);
  }
  if (from == DType::kBfloat16 && to == DType::kFloat) {
    return MakeCast<uint16_t, float, WidenBfloat16>(p);
  }
  if (from == DType::kFloat && to == DType::kHalf) {
    return MakeCast<float, uint16_t, NarrowToHalf>(p);
  }
  if (from == DType::kHalf && to == DType::kFloat) {
    return MakeCast<uint16_t, float, WidenHalf>(p);
  }
  return Unimplemented("no vector kernel from ", Name(from), " to ", Name(to));
}

}  // namespace tenon

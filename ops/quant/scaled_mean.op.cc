// _ScaledMean: the mean of 8-bit integers of mode SCALED, plus an offset, as float. The reduced
// axes stand side by side (an image's pixels, say). Sums are whole numbers.
#include <algorithm>
#include <cmath>
#include <vector>

#include "env/status.h"
#include "kernels/elementwise/quantize_simd.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/quantized/range_inputs.h"
#include "kernels/reduction/reference.h"
#include "ops/math/reduction_shape.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status MeanShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3}));
  return ReductionShape(c);
}

// int32 holds that many 8-bit integers' sum.
constexpr int64_t kMostReduced = int64_t{1} << 23;

absl::StatusOr<Slices> ReducedSlices(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegersOf(*p.value(1)));
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> mask, AxisMask(axes, in.rank()));
  const auto first = std::find(mask.begin(), mask.end(), true);
  const auto last = std::find(first, mask.end(), false);
  if (std::find(last, mask.end(), true) != mask.end()) {
    return InvalidArgument("the axes to reduce must stand side by side");
  }
  const int begin = static_cast<int>(first - mask.begin());
  const int end = static_cast<int>(last - mask.begin());
  Slices s;
  s.outer = Product(in, 0, begin);
  s.count = Product(in, begin, end);
  s.inner = Product(in, end, in.rank());
  if (s.count > kMostReduced) return InvalidArgument("the sums of so many elements overflow");
  return s;
}

template <typename T>
void SumOneByOne(const T* x, int32_t* sums, size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] += x[i];
}

template <bool kVector>
absl::StatusOr<std::unique_ptr<Kernel>> Mean(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, Mean<kVector>, {1});
  TENON_ASSIGN_OR_RETURN(const Slices s, ReducedSlices(p));
  const bool is_signed = p.input_dtype(0) == DType::kQint8;
  const SumIntegersFn vector =
      kVector ? FindSumIntegers(is_signed ? EightBits::kSigned : EightBits::kUnsigned) : nullptr;
  const int threads = p.services().threads;
  const double offset = p.attrs().Float("offset", 0);
  // A share of the columns is a cache line at least.
  constexpr int64_t kColumns = 64;
  const int64_t parts = std::max<int64_t>(1, s.inner / kColumns);
  return MakeKernel(
      [=](RunContext& r) -> absl::Status {
        const FloatRange range = ScalarRange(r, 2);
        const float step =
            std::max(std::fabs(range.min), std::fabs(range.max)) / (is_signed ? 127.0f : 255.0f);
        const double count = static_cast<double>(s.count);
        const double ns = 0.1 * count * static_cast<double>(s.inner / parts);
        ParallelFor(threads, s.outer * parts, ParallelGrain(ns), [&](int64_t from, int64_t to) {
          std::vector<int32_t> sums;
          for (int64_t i = from; i < to; ++i) {
            const int64_t begin = s.inner * (i % parts) / parts;
            const size_t n = static_cast<size_t>(s.inner * (i % parts + 1) / parts - begin);
            sums.assign(n, 0);
            const uint8_t* x = r.input<uint8_t>(0) + i / parts * s.count * s.inner + begin;
            for (int64_t k = 0; k < s.count; ++k, x += s.inner) {
              if (vector != nullptr) {
                vector(x, sums.data(), n);
              } else if (is_signed) {
                SumOneByOne(reinterpret_cast<const int8_t*>(x), sums.data(), n);
              } else {
                SumOneByOne(x, sums.data(), n);
              }
            }
            float* const y = r.output<float>(0) + i / parts * s.inner + begin;
            for (size_t c = 0; c < n; ++c)
              y[c] = static_cast<float>(sums[c] / count * step + offset);
          }
        });
        return absl::OkStatus();
      },
      kVector ? "vector" : "reference");
}

const OpRegistration mean({
    .name = "_ScaledMean",
    .inputs = "input: T, reduction_indices: Tidx, min_input: float, max_input: float",
    .outputs = "output: float",
    .attrs = "keep_dims: bool = false; T: type; Tidx: type = int32; offset: float = 0.0",
    .types = "T: qint8 quint8; Tidx: int32 int64",
    .shape = MeanShape,
    .reference = Mean<false>,
    .accelerated = Mean<true>,
    .native = "_MklNativeScaledMean",
    .native_types = "qint8 quint8",
    .internal = true,
});

}  // namespace
}  // namespace tenon

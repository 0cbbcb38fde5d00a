#include "kernels/quantized/scaled.h"

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

namespace tenon {
namespace {

enum class Loops { kPlain, kVector };

// int32 can hold the sum of this many 8-bit integers.
constexpr int64_t kMostReduced = int64_t{1} << 23;

absl::StatusOr<Slices> ReducedSlices(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegersOf(*p.value(1)));
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> mask, AxisMask(axes, in.rank()));
  const auto first = std::find(mask.begin(), mask.end(), true);
  const auto last = std::find(first, mask.end(), false);
  if (std::find(last, mask.end(), true) != mask.end()) {
    return InvalidArgument("the axes to reduce must be adjacent");
  }
  const int begin = static_cast<int>(first - mask.begin());
  const int end = static_cast<int>(last - mask.begin());
  Slices s;
  s.outer = Product(in, 0, begin);
  s.count = Product(in, begin, end);
  s.inner = Product(in, end, in.rank());
  if (s.count > kMostReduced) return InvalidArgument("the sums of this many elements overflow");
  return s;
}

template <typename T>
void SumOneByOne(const T* x, int32_t* sums, size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] += x[i];
}

EightBits BitsOf(DType dtype) {
  return dtype == DType::kQint8 ? EightBits::kSigned : EightBits::kUnsigned;
}

// The scale of the range in inputs i and i + 1.
float StepOf(const RunContext& r, int i, DType dtype) {
  const FloatRange range = ScalarRange(r, i);
  return std::max(std::fabs(range.min), std::fabs(range.max)) /
         (dtype == DType::kQint8 ? 127.0f : 255.0f);
}

void AddOneByOne(DType a, DType b, DType y, const AddIntegersMap& map, const void* x, const void* z,
                 void* out, size_t n) {
  auto at = [](DType dtype, const void* p, size_t i) {
    return static_cast<float>(dtype == DType::kQint8 ? static_cast<const int8_t*>(p)[i]
                                                     : int{static_cast<const uint8_t*>(p)[i]});
  };
  for (size_t i = 0; i < n; ++i) {
    const float sum = at(a, x, i) * map.a_scale + at(b, z, i) * map.b_scale + map.offset;
    const float v = std::isnan(sum) ? 0 : std::nearbyint(std::clamp(sum, map.low, map.high));
    if (y == DType::kQint8) {
      static_cast<int8_t*>(out)[i] = static_cast<int8_t>(v);
    } else {
      static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(v);
    }
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeScaledMean(PrepareContext& p, KernelFactory late,
                                                       Loops loops) {
  if (p.value(1) == nullptr) return PrepareLate(p, late, {1});
  TENON_ASSIGN_OR_RETURN(const Slices s, ReducedSlices(p));
  const bool is_signed = p.input_dtype(0) == DType::kQint8;
  const SumIntegersFn vector =
      loops == Loops::kVector
          ? FindSumIntegers(is_signed ? EightBits::kSigned : EightBits::kUnsigned)
          : nullptr;
  const int threads = p.services().threads;
  const double offset = p.attrs().Float("offset", 0);
  // A range of columns is at least one cache line.
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
      loops == Loops::kVector ? "vector" : "reference");
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeScaledAdd(PrepareContext& p, Loops loops) {
  const DType a = p.input_dtype(0), b = p.input_dtype(1), y = p.output_dtype(0);
  TENON_ASSIGN_OR_RETURN(const bool relu, p.attrs().Bool("relu"));
  const float offset = p.attrs().Float("offset", 0);
  const int lowest = y == DType::kQint8 ? -128 : 0;
  const auto zero = static_cast<float>(p.attrs().Int("zero", 0));
  if (!(zero >= static_cast<float>(lowest) && zero <= static_cast<float>(lowest + 255))) {
    return InvalidArgument("zero must be an integer of ", Name(y), ", is ", zero);
  }
  const AddIntegersFn vector =
      loops == Loops::kVector ? FindAddIntegers(BitsOf(a), BitsOf(b), BitsOf(y)) : nullptr;
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  for (int i : {0, 1}) p.AllowInPlace(i, 0);
  return MakeKernel(
      [=](RunContext& r) -> absl::Status {
        const float step = StepOf(r, 6, y);
        AddIntegersMap map;
        map.a_scale = StepOf(r, 2, a) / step;
        map.b_scale = StepOf(r, 4, b) / step;
        map.offset = offset / step;
        map.low = relu ? zero : y == DType::kQuint8 ? 0.0f : -128.0f;
        map.high = y == DType::kQuint8 ? 255.0f : 127.0f;
        ParallelFor(threads, n, ParallelGrain(0.2), [&](int64_t begin, int64_t end) {
          const uint8_t *x = r.input<uint8_t>(0) + begin, *z = r.input<uint8_t>(1) + begin;
          uint8_t* const out = r.output<uint8_t>(0) + begin;
          const size_t count = static_cast<size_t>(end - begin);
          vector != nullptr ? vector(map, x, z, out, count)
                            : AddOneByOne(a, b, y, map, x, z, out, count);
        });
        return absl::OkStatus();
      },
      loops == Loops::kVector ? "vector" : "reference");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ScaledMeanReference(PrepareContext& p) {
  return MakeScaledMean(p, ScaledMeanReference, Loops::kPlain);
}

absl::StatusOr<std::unique_ptr<Kernel>> ScaledMeanVector(PrepareContext& p) {
  return MakeScaledMean(p, ScaledMeanVector, Loops::kVector);
}

absl::StatusOr<std::unique_ptr<Kernel>> ScaledAddReference(PrepareContext& p) {
  return MakeScaledAdd(p, Loops::kPlain);
}

absl::StatusOr<std::unique_ptr<Kernel>> ScaledAddVector(PrepareContext& p) {
  return MakeScaledAdd(p, Loops::kVector);
}

}  // namespace tenon

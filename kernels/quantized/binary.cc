#include "kernels/quantized/binary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "env/status.h"
#include "kernels/elementwise/broadcast.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/quantized_simd.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

absl::Status CheckOrdered(FloatRange range, const char* name) {
  if (range.max > range.min) return absl::OkStatus();
  return InvalidArgument("max_", name, " must be above min_", name, ", they are ", range.max,
                         " and ", range.min);
}

// Calls f(out, a, b, n, steps) for parts of rows: the positions of their first elements in the
// result and in two broadcast operands, and the operands' steps, 0 or 1.
template <typename F>
void ForRows(const CollapsedBroadcast& space, int threads, const F& f) {
  constexpr double kNanoseconds = 0.5;
  const size_t last = space.dims.size() - 1;
  int64_t total = 1;
  for (const int64_t size : space.dims) total *= size;
  ParallelFor(threads, total, ParallelGrain(kNanoseconds), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t row = begin / space.dims[last];
      const int64_t column = begin - row * space.dims[last];
      const int64_t n = std::min(space.dims[last] - column, end - begin);
      int64_t at[2] = {};
      for (size_t d = last; d-- > 0; row /= space.dims[d]) {
        for (size_t i = 0; i < 2; ++i) at[i] += row % space.dims[d] * space.strides[i][d];
      }
      const int64_t a_step = space.strides[0][last], b_step = space.strides[1][last];
      f(begin, at[0] + column * a_step, at[1] + column * b_step, n, a_step, b_step);
      begin += n;
    }
  });
}

// Converts uint8 with one range to int32 with another scale: a line through the images of 0 and 1.
struct Widened {
  // Whether no result is clamped: zero + q * step.
  bool line = false;
  int32_t zero = 0, step = 0;
  std::array<int32_t, 256> table{};

  static Widened Of(FloatRange from, FloatRange to) {
    const auto image = [&](uint8_t q) {
      return QuantizeUnclamped<int32_t>(DequantizeValue<uint8_t>(q, from), to);
    };
    const int64_t zero = image(0);
    Widened w;
    w.step = static_cast<int32_t>(
        AddWrapped(image(1), static_cast<int64_t>(0u - static_cast<uint64_t>(zero))));
    w.zero = static_cast<int32_t>(zero);
    w.line = true;
    for (size_t q = 0; q < w.table.size(); ++q) {
      const int64_t v = AddWrapped(zero, static_cast<int64_t>(q) * w.step);
      w.table[q] = static_cast<int32_t>(std::clamp(v, kLowest<int32_t>, kHighest<int32_t>));
      w.line = w.line && v == w.table[q];
    }
    return w;
  }
  static Widened Constant(int32_t value) {
    Widened w;
    w.line = true;
    w.zero = value;
    w.table.fill(value);
    return w;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedAddKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(
      const CollapsedBroadcast space,
      CollapseBroadcast({p.input_shape(0), p.input_shape(1)}, p.output_shape(0)));
  const int threads = p.services().threads;
  const bool x_scalar = p.input_shape(0).num_elements() == 1;
  const bool y_scalar = !x_scalar && p.input_shape(1).num_elements() == 1;
  return MakeKernel([=, code = FindBytesToInts()](RunContext& r) -> absl::Status {
    const FloatRange x_range = ScalarRange(r, 2), y_range = ScalarRange(r, 4);
    TENON_RETURN_IF_ERROR(CheckOrdered(x_range, "x"));
    TENON_RETURN_IF_ERROR(CheckOrdered(y_range, "y"));
    // Symmetric, with room for the sum.
    const float limit = std::max(std::fabs(std::min(x_range.min, y_range.min)),
                                 std::fabs(std::max(x_range.max, y_range.max))) *
                        (1 << 14);
    const FloatRange range{-limit, limit};
    const uint8_t* x = r.input<uint8_t>(0);
    const uint8_t* y = r.input<uint8_t>(1);
    int32_t* z = r.output<int32_t>(0);
    // A single scalar is rounded separately.
    const auto widened = [&](bool scalar, const uint8_t* q, FloatRange from) {
      if (!scalar) return Widened::Of(from, range);
      return Widened::Constant(QuantizeValue<int32_t>(DequantizeValue(*q, from), range));
    };
    const Widened wide_x = widened(x_scalar, x, x_range), wide_y = widened(y_scalar, y, y_range);
    ForRows(space, threads,
            [&](int64_t at, int64_t a, int64_t b, int64_t n, int64_t a_step, int64_t b_step) {
              if (wide_x.line && wide_y.line) {
                const BytePairs pairs{x + a, y + b, static_cast<size_t>(a_step),
                                      static_cast<size_t>(b_step)};
                code.add(pairs, wide_x.step, wide_y.step, WrapAdd(wide_x.zero, wide_y.zero), z + at,
                         static_cast<size_t>(n));
                return;
              }
              for (int64_t i = 0; i < n; ++i) {
                z[at + i] =
                    WrapAdd(wide_x.table[x[a + i * a_step]], wide_y.table[y[b + i * b_step]]);
              }
            });
    SetRange(r, 1, range);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMulKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(
      const CollapsedBroadcast space,
      CollapseBroadcast({p.input_shape(0), p.input_shape(1)}, p.output_shape(0)));
  const int threads = p.services().threads;
  return MakeKernel([=, code = FindBytesToInts()](RunContext& r) -> absl::Status {
    const FloatRange x_range = ScalarRange(r, 2), y_range = ScalarRange(r, 4);
    TENON_RETURN_IF_ERROR(CheckOrdered(x_range, "x"));
    TENON_RETURN_IF_ERROR(CheckOrdered(y_range, "y"));
    const auto x_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, x_range));
    const auto y_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, y_range));
    const uint8_t* x = r.input<uint8_t>(0);
    const uint8_t* y = r.input<uint8_t>(1);
    int32_t* z = r.output<int32_t>(0);
    ForRows(space, threads,
            [&](int64_t at, int64_t a, int64_t b, int64_t n, int64_t a_step, int64_t b_step) {
              const BytePairs pairs{x + a, y + b, static_cast<size_t>(a_step),
                                    static_cast<size_t>(b_step)};
              code.multiply(pairs, x_zero, y_zero, z + at, static_cast<size_t>(n));
            });
    SetRange(r, 1, ProductRange<uint8_t, uint8_t>(x_range, y_range));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedBiasAddKernel(PrepareContext& p) {
  const Slices s = SlicesOf(p.input_shape(0), p.input_shape(0).rank() - 1);
  const DType dtype = p.input_dtype(0);
  if (p.input_dtype(1) != dtype) return InvalidArgument("input and bias must be of one type");
  const int threads = p.services().threads;
  return MakeKernel([s, dtype, threads](RunContext& r) -> absl::Status {
    const FloatRange in = ScalarRange(r, 2), bias = ScalarRange(r, 4);
    const float limit = std::max(std::max(in.max, -in.min), std::max(bias.max, -bias.min)) *
                        static_cast<float>(1 << 17);
    const FloatRange range{-limit, limit};
    const bool known = VisitQuantized(dtype, [&]<typename T>() {
      const Dequantizer<T> real_input(in), real_bias(bias);
      const Quantizer<int32_t> quantize(range);
      const auto zero = QuantizeValue<int32_t>(0.0f, range);
      const T* const x = r.input<T>(0);
      int32_t* const z = r.output<int32_t>(0);
      std::vector<int32_t> biases(static_cast<size_t>(s.count));
      for (int64_t k = 0; k < s.count; ++k) {
        biases[static_cast<size_t>(k)] = WrapAdd(quantize(real_bias(r.input<T>(1)[k])), zero);
      }
      // The image of each byte.
      constexpr int kBytes = sizeof(T) == 1 ? 256 : 0;
      std::array<int32_t, std::max(kBytes, 1)> images{};
      for (int q = 0; q < kBytes; ++q) {
        images[static_cast<size_t>(q)] = quantize(real_input(static_cast<T>(q)));
      }
      ParallelFor(threads, s.outer, ParallelGrain(static_cast<double>(s.count)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin * s.count; i < end * s.count; i += s.count) {
                      for (int64_t k = 0; k < s.count; ++k) {
                        const T v = x[i + k];
                        const int32_t image =
                            kBytes > 0 ? images[static_cast<uint8_t>(v)] : quantize(real_input(v));
                        z[i + k] = WrapAdd(image, biases[static_cast<size_t>(k)]);
                      }
                    }
                  });
    });
    SetRange(r, 1, range);
    return known ? absl::OkStatus() : NotQuantized(dtype);
  });
}

}  // namespace tenon

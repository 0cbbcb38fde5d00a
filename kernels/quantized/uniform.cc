#include "kernels/quantized/uniform.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/quantized/quantized_simd.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"
#include "kernels/quantized/uniform_math.h"

namespace tenon {
namespace {

// An input of one element for the whole tensor, or of one for each slice.
template <typename T>
struct PerSlice {
  const T* values;
  int64_t step;

  PerSlice(const RunContext& r, int input, bool vector) : values(r.input<T>(input)), step(vector) {}
  T operator[](int64_t slice) const { return values[slice * step]; }
};

// y = map(slice)(x), element by element; a map may also take many elements, as map(x, y, n).
template <typename X, typename Y, typename MakeMap>
void MapSlices(const Slices& s, const X* x, Y* y, int threads, const MakeMap& make_map) {
  using Map = decltype(make_map(int64_t{0}));
  std::vector<Map> maps;
  maps.reserve(static_cast<size_t>(s.count));
  for (int64_t k = 0; k < s.count; ++k) maps.push_back(make_map(k));
  const auto run = [&](const Map& map, int64_t begin, int64_t end) {
    if constexpr (requires { map(x, y, end); }) {
      map(x + begin, y + begin, end - begin);
    } else {
      for (int64_t i = begin; i < end; ++i) y[i] = static_cast<Y>(map(x[i]));
    }
  };
  if (s.count == 1) {
    ParallelFor(threads, s.outer * s.inner, ParallelGrain(2),
                [&](int64_t begin, int64_t end) { run(maps[0], begin, end); });
    return;
  }
  ParallelFor(threads, s.outer * s.count, ParallelGrain(2 * static_cast<double>(s.inner) + 2),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  run(maps[static_cast<size_t>(i % s.count)], i * s.inner, (i + 1) * s.inner);
                }
              });
}

// What scales and zero points say of a tensor in one run.
struct Quantization {
  PerSlice<float> scales;
  PerSlice<int32_t> zeros;

  Quantization(const RunContext& r, int input, bool vector)
      : scales(r, input, vector), zeros(r, input + 1, vector) {}
};

template <typename T>
constexpr bool kQuantizesInVectors = std::is_same_v<T, int8_t> || std::is_same_v<T, int32_t>;

// Slices along the last axis.
template <typename T>
void QuantizeColumns(const Slices& s, const Quantization& q, const IntegerRange& range,
                     const float* x, T* y, int threads) {
  const auto count = static_cast<size_t>(s.count);
  std::vector<float> inverses(count);
  for (size_t k = 0; k < count; ++k) inverses[k] = 1.0f / q.scales[static_cast<int64_t>(k)];
  const UniformColumns columns = {inverses.data(), q.zeros.values, range.low, range.high};
  const UniformColumnsFn<T> quantize = FindUniformQuantizeColumns<T>();
  ParallelFor(threads, s.outer, ParallelGrain(0.3 * static_cast<double>(s.count)),
              [&](int64_t begin, int64_t end) {
                for (int64_t at = begin * s.count; at < end * s.count; at += s.count) {
                  quantize(columns, x + at, y + at, count);
                }
              });
}

// In vector code, where that knows the type.
struct UniformQuantizer {
  UniformMap map;

  template <typename T>
  void operator()(const float* x, T* y, int64_t n) const {
    if constexpr (kQuantizesInVectors<T>) {
      static const UniformQuantizeFn<T> fn = FindUniformQuantize<T>();
      fn(map, x, y, static_cast<size_t>(n));
    } else {
      const IntegerRange range{map.low, map.high};
      for (int64_t i = 0; i < n; ++i) {
        y[i] = static_cast<T>(range.Clamp(QuantizeUniformly(x[i], map.inverse, map.zero)));
      }
    }
  }
};

// The factors from one quantization to another, by slice.
absl::StatusOr<std::vector<FixedPointFactor>> Factors(const PerSlice<float>& from,
                                                      const PerSlice<float>& to, int64_t count) {
  std::vector<FixedPointFactor> factors;
  factors.reserve(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    TENON_ASSIGN_OR_RETURN(const FixedPointFactor factor,
                           FixedPointFactor::Of(static_cast<double>(from[k]) / to[k]));
    factors.push_back(factor);
  }
  return factors;
}

absl::Span<const float> Scales(const RunContext& r, int input, int64_t count) {
  return absl::MakeConstSpan(r.input<float>(input), static_cast<size_t>(count));
}

template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> MakeDequantize(const Slices& s, bool vector, int threads) {
  return MakeKernel([=](RunContext& r) -> absl::Status {
    TENON_RETURN_IF_ERROR(ExpectPositive(Scales(r, 1, vector ? s.count : 1), "scales"));
    const Quantization q(r, 1, vector);
    MapSlices(s, r.input<T>(0), r.output<float>(0), threads, [&](int64_t k) {
      return [scale = q.scales[k], zero = q.zeros[k]](T x) {
        return static_cast<float>(WrapSub(ReadQuantized(x), zero)) * scale;
      };
    });
    return absl::OkStatus();
  });
}

template <typename X, typename Y>
absl::StatusOr<std::unique_ptr<Kernel>> MakeRequantize(PrepareContext& p) {
  const int64_t in_axis = p.attrs().Int("input_quantization_axis", -1);
  const int64_t out_axis = p.attrs().Int("output_quantization_axis", -1);
  const Slices s = SlicesOf(p.input_shape(0), std::max(in_axis, out_axis));
  TENON_ASSIGN_OR_RETURN(const IntegerRange range, IntegerRange::Of(p.attrs(), "output_"));
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& r) -> absl::Status {
    const bool from_vector = in_axis >= 0, to_vector = out_axis >= 0;
    TENON_RETURN_IF_ERROR(ExpectPositive(Scales(r, 1, from_vector ? s.count : 1), "input_scales"));
    TENON_RETURN_IF_ERROR(ExpectPositive(Scales(r, 3, to_vector ? s.count : 1), "output_scales"));
    const Quantization from(r, 1, from_vector), to(r, 3, to_vector);
    TENON_ASSIGN_OR_RETURN(const std::vector<FixedPointFactor> factors,
                           Factors(from.scales, to.scales, s.count));
    MapSlices(s, r.input<X>(0), r.output<Y>(0), threads, [&](int64_t k) {
      return [range, factor = factors[static_cast<size_t>(k)], zero = from.zeros[k],
              new_zero = to.zeros[k]](X x) {
        return range.Clamp(WrapAdd(factor(WrapSub(ReadQuantized(x), zero)), new_zero));
      };
    });
    return absl::OkStatus();
  });
}

// An operand of an addition, and how the slices that have a scale of their own lie in it.
struct Operand {
  Slices slices;
  bool from_vector = false, to_vector = false;
  int64_t count = 0, scales = 1;
  std::vector<int64_t> strides;  // by dimension of the result; 0 where it is broadcast
};

Operand MakeOperand(const PrepareContext& p, int input, int64_t axis, int64_t out_axis) {
  const Shape &shape = p.input_shape(input), &out = p.output_shape(0);
  // One scale of the output is as good as a scalar.
  if (axis < 0 && out_axis >= 0 && out.dim(static_cast<int>(out_axis)) == 1) out_axis = -1;
  Operand operand;
  operand.from_vector = axis >= 0;
  operand.to_vector = out_axis >= 0;
  operand.slices = SlicesOf(shape, axis >= 0 ? axis : out_axis);
  operand.count = shape.num_elements();
  operand.scales = axis >= 0 ? shape.dim(static_cast<int>(axis)) : 1;
  const std::vector<int64_t> dense = DenseStrides(shape);
  operand.strides.assign(static_cast<size_t>(out.rank()), 0);
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) != 1) {
      operand.strides[static_cast<size_t>(out.rank() - shape.rank() + i)] =
          dense[static_cast<size_t>(i)];
    }
  }
  return operand;
}

// The operand's integers at the output's scale, around 0.
absl::StatusOr<std::vector<int32_t>> AtOutputScale(const Operand& operand, const RunContext& r,
                                                   int input, int scales, int threads) {
  const Quantization from(r, scales, operand.from_vector);
  const PerSlice<float> to(r, 6, operand.to_vector);
  TENON_ASSIGN_OR_RETURN(const std::vector<FixedPointFactor> factors,
                         Factors(from.scales, to, operand.slices.count));
  std::vector<int32_t> y(static_cast<size_t>(operand.count));
  MapSlices(operand.slices, r.input<int32_t>(input), y.data(), threads, [&](int64_t k) {
    return [factor = factors[static_cast<size_t>(k)], zero = from.zeros[k]](int32_t x) {
      return ReadQuantized(factor(WrapSub(ReadQuantized(x), zero)));
    };
  });
  return y;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> UniformQuantizeKernel(PrepareContext& p) {
  const int64_t axis = p.attrs().Int("quantization_axis", -1);
  const Slices s = SlicesOf(p.input_shape(0), axis);
  TENON_ASSIGN_OR_RETURN(const IntegerRange range, IntegerRange::Of(p.attrs(), ""));
  const int threads = p.services().threads;
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = NotQuantized(p.output_dtype(0));
  VisitQuantized(p.output_dtype(0), [&]<typename T>() {
    kernel = MakeKernel([=](RunContext& r) {
      const Quantization q(r, 1, axis >= 0);
      if constexpr (kQuantizesInVectors<T>) {
        if (s.inner == 1 && s.count > 1) {
          QuantizeColumns(s, q, range, r.input<float>(0), r.output<T>(0), threads);
          return absl::OkStatus();
        }
      }
      MapSlices(s, r.input<float>(0), r.output<T>(0), threads, [&](int64_t k) {
        return UniformQuantizer{{1.0f / q.scales[k], q.zeros[k], range.low, range.high}};
      });
      return absl::OkStatus();
    });
  });
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformDequantizeKernel(PrepareContext& p) {
  const int64_t axis = p.attrs().Int("quantization_axis", -1);
  const Slices s = SlicesOf(p.input_shape(0), axis);
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = NotQuantized(p.input_dtype(0));
  VisitQuantized(p.input_dtype(0), [&]<typename T>() {
    kernel = MakeDequantize<T>(s, axis >= 0, p.services().threads);
  });
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformRequantizeKernel(PrepareContext& p) {
  const DType from = p.input_dtype(0), to = p.output_dtype(0);
  if (to != DType::kQint8) return NotQuantized(to);
  if (from == DType::kQint8) return MakeRequantize<int8_t, int8_t>(p);
  if (from == DType::kQint32) return MakeRequantize<int32_t, int8_t>(p);
  return NotQuantized(from);
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformClipKernel(PrepareContext& p) {
  const int64_t axis = p.attrs().Int("quantization_axis", -1);
  const Slices s = SlicesOf(p.input_shape(0), axis);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& r) {
    const PerSlice<int32_t> min(r, 1, axis >= 0), max(r, 2, axis >= 0);
    MapSlices(s, r.input<int32_t>(0), r.output<int32_t>(0), threads, [&](int64_t k) {
      return [low = min[k], high = max[k]](int32_t x) { return std::min(std::max(x, low), high); };
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformAddKernel(PrepareContext& p) {
  const int64_t out_axis = p.attrs().Int("output_quantization_axis", -1);
  const int64_t lhs_axis = p.attrs().Int("lhs_quantization_axis", -1);
  const int64_t rhs_axis = p.attrs().Int("rhs_quantization_axis", -1);
  TENON_ASSIGN_OR_RETURN(const IntegerRange range, IntegerRange::Of(p.attrs(), "output_"));
  const Operand lhs = MakeOperand(p, 0, lhs_axis, out_axis);
  const Operand rhs = MakeOperand(p, 1, rhs_axis, out_axis);
  const Shape out = p.output_shape(0);
  const int64_t out_scales = out_axis >= 0 ? out.dim(static_cast<int>(out_axis)) : 1;
  const Slices s = SlicesOf(out, out_axis);
  const int64_t total = out.num_elements();
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& r) -> absl::Status {
    TENON_RETURN_IF_ERROR(ExpectPositive(Scales(r, 2, lhs.scales), "lhs_scales"));
    TENON_RETURN_IF_ERROR(ExpectPositive(Scales(r, 4, rhs.scales), "rhs_scales"));
    TENON_RETURN_IF_ERROR(ExpectPositive(Scales(r, 6, out_scales), "output_scales"));
    if (total == 0) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const std::vector<int32_t> a, AtOutputScale(lhs, r, 0, 2, threads));
    TENON_ASSIGN_OR_RETURN(const std::vector<int32_t> b, AtOutputScale(rhs, r, 1, 4, threads));
    const PerSlice<int32_t> zeros(r, 7, out_axis >= 0);
    int32_t* const y = r.output<int32_t>(0);
    ParallelFor(threads, total, ParallelGrain(10), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t from_a = 0, from_b = 0, left = i;
        for (int d = out.rank(); d-- > 0;) {
          const int64_t at = left % out.dim(d);
          left /= out.dim(d);
          from_a += at * lhs.strides[static_cast<size_t>(d)];
          from_b += at * rhs.strides[static_cast<size_t>(d)];
        }
        const int32_t sum = WrapAdd(a[static_cast<size_t>(from_a)], b[static_cast<size_t>(from_b)]);
        y[i] = range.Clamp(WrapAdd(sum, zeros[i / s.inner % s.count]));
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon

#include "kernels/quantized/binary.h"

#include <algorithm>
#include <cmath>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

absl::Status CheckOrdered(FloatRange range, const char* name) {
  if (range.max > range.min) return absl::OkStatus();
  return InvalidArgument("max_", name, " must be above min_", name, ", they are ", range.max,
                         " and ", range.min);
}

// The positions of two broadcast operands' elements.
class Broadcast {
 public:
  Broadcast(const Shape& x, const Shape& y, const Shape& out) : out_(out) {
    x_ = Strides(x);
    y_ = Strides(y);
  }
  template <typename F>
  void ForEach(F&& f) const {
    const int64_t n = out_.num_elements();
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = i, x = 0, y = 0;
      for (int d = out_.rank(); d-- > 0;) {
        const int64_t at = rest % out_[d];
        rest /= out_[d];
        x += at * x_[static_cast<size_t>(d)];
        y += at * y_[static_cast<size_t>(d)];
      }
      f(i, x, y);
    }
  }

 private:
  Shape::Dims Strides(const Shape& s) const {
    Shape::Dims strides(static_cast<size_t>(out_.rank()), 0);
    int64_t stride = 1;
    for (int d = s.rank(); d-- > 0;) {
      if (s[d] != 1) strides[static_cast<size_t>(d + out_.rank() - s.rank())] = stride;
      stride *= s[d];
    }
    return strides;
  }
  const Shape out_;
  Shape::Dims x_, y_;
};

// Converts uint8 with one range to int32 with another scale: a line through the images of 0 and 1.
class Widen {
 public:
  Widen(FloatRange from, FloatRange to)
      : zero_(QuantizeUnclamped<int32_t>(DequantizeValue<uint8_t>(0, from), to)),
        step_(static_cast<int32_t>(
            AddWrapped(QuantizeUnclamped<int32_t>(DequantizeValue<uint8_t>(1, from), to),
                       static_cast<int64_t>(0u - static_cast<uint64_t>(zero_))))) {}
  int32_t operator()(uint8_t q) const {
    const int64_t v = AddWrapped(zero_, int64_t{q} * step_);
    return static_cast<int32_t>(std::clamp(v, kLowest<int32_t>, kHighest<int32_t>));
  }

 private:
  const int64_t zero_;
  const int32_t step_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedAddKernel(PrepareContext& p) {
  const Broadcast broadcast(p.input_shape(0), p.input_shape(1), p.output_shape(0));
  const bool x_scalar = p.input_shape(0).num_elements() == 1;
  const bool y_scalar = !x_scalar && p.input_shape(1).num_elements() == 1;
  return MakeKernel([=](RunContext& r) -> absl::Status {
    const FloatRange x_range = ScalarRange(r, 2), y_range = ScalarRange(r, 4);
    TENON_RETURN_IF_ERROR(CheckOrdered(x_range, "x"));
    TENON_RETURN_IF_ERROR(CheckOrdered(y_range, "y"));
    // Symmetric, with room for the sum.
    const float limit = std::max(std::fabs(std::min(x_range.min, y_range.min)),
                                 std::fabs(std::max(x_range.max, y_range.max))) *
                        (1 << 14);
    const FloatRange range{-limit, limit};
    const Widen widen_x(x_range, range), widen_y(y_range, range);
    const uint8_t* x = r.input<uint8_t>(0);
    const uint8_t* y = r.input<uint8_t>(1);
    int32_t* z = r.output<int32_t>(0);
    auto exact = [&](uint8_t q, FloatRange from) {
      return QuantizeValue<int32_t>(DequantizeValue(q, from), range);
    };
    broadcast.ForEach([&](int64_t i, int64_t a, int64_t b) {
      // A single scalar is rounded separately.
      z[i] = WrapAdd(x_scalar ? exact(x[a], x_range) : widen_x(x[a]),
                     y_scalar ? exact(y[b], y_range) : widen_y(y[b]));
    });
    SetRange(r, 1, range);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMulKernel(PrepareContext& p) {
  const Broadcast broadcast(p.input_shape(0), p.input_shape(1), p.output_shape(0));
  return MakeKernel([broadcast](RunContext& r) -> absl::Status {
    const FloatRange x_range = ScalarRange(r, 2), y_range = ScalarRange(r, 4);
    TENON_RETURN_IF_ERROR(CheckOrdered(x_range, "x"));
    TENON_RETURN_IF_ERROR(CheckOrdered(y_range, "y"));
    const auto x_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, x_range));
    const auto y_zero = static_cast<int32_t>(QuantizeUnclamped<uint8_t>(0.0f, y_range));
    const uint8_t* x = r.input<uint8_t>(0);
    const uint8_t* y = r.input<uint8_t>(1);
    broadcast.ForEach([&](int64_t i, int64_t a, int64_t b) {
      r.output<int32_t>(0)[i] =
          WrapMul(WrapSub(int32_t{x[a]}, x_zero), WrapSub(int32_t{y[b]}, y_zero));
    });
    SetRange(r, 1, ProductRange<uint8_t, uint8_t>(x_range, y_range));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedBiasAddKernel(PrepareContext& p) {
  const Slices s = SlicesOf(p.input_shape(0), p.input_shape(0).rank() - 1);
  const DType dtype = p.input_dtype(0);
  if (p.input_dtype(1) != dtype) return InvalidArgument("input and bias must be of one type");
  return MakeKernel([s, dtype](RunContext& r) -> absl::Status {
    const FloatRange in = ScalarRange(r, 2), bias = ScalarRange(r, 4);
    const float limit = std::max(std::max(in.max, -in.min), std::max(bias.max, -bias.min)) *
                        static_cast<float>(1 << 17);
    const FloatRange range{-limit, limit};
    const bool known = VisitQuantized(dtype, [&]<typename T>() {
      const Dequantizer<T> real_input(in), real_bias(bias);
      const Quantizer<int32_t> quantize(range);
      const auto zero = QuantizeValue<int32_t>(0.0f, range);
      for (int64_t i = 0; i < s.outer * s.count; ++i) {
        const int32_t b = WrapAdd(quantize(real_bias(r.input<T>(1)[i % s.count])), zero);
        r.output<int32_t>(0)[i] = WrapAdd(quantize(real_input(r.input<T>(0)[i])), b);
      }
    });
    SetRange(r, 1, range);
    return known ? absl::OkStatus() : NotQuantized(dtype);
  });
}

}  // namespace tenon

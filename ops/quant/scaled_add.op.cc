// _ScaledAdd: the sum of two tensors of 8-bit integers as 8-bit integers, each of mode SCALED with
// a range of its own: y = round(relu(a * a's step + b * b's step + offset) / y's step), saturated.
// With `zero` that integer stands for the result's 0 (its part of `offset` is the caller's): relu
// bounds the sum there.
#include <algorithm>
#include <cmath>

#include "env/status.h"
#include "kernels/elementwise/quantize_simd.h"
#include "kernels/interface/parallel.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status AddShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3, 4, 5, 6, 7}));
  absl::StatusOr<Shape> merged = MergeShapes(c.input(0), c.input(1));
  if (!merged.ok()) return Annotate(merged.status(), "a and b");
  c.set_output(0, *std::move(merged));
  return absl::OkStatus();
}

EightBits BitsOf(DType dtype) {
  return dtype == DType::kQint8 ? EightBits::kSigned : EightBits::kUnsigned;
}

// Of the range in inputs i and i + 1.
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

template <bool kVector>
absl::StatusOr<std::unique_ptr<Kernel>> Add(PrepareContext& p) {
  const DType a = p.input_dtype(0), b = p.input_dtype(1), y = p.output_dtype(0);
  TENON_ASSIGN_OR_RETURN(const bool relu, p.attrs().Bool("relu"));
  const float offset = p.attrs().Float("offset", 0);
  const int lowest = y == DType::kQint8 ? -128 : 0;
  const auto zero = static_cast<float>(p.attrs().Int("zero", 0));
  if (!(zero >= static_cast<float>(lowest) && zero <= static_cast<float>(lowest + 255))) {
    return InvalidArgument("zero must be an integer of ", Name(y), ", is ", zero);
  }
  const AddIntegersFn vector = kVector ? FindAddIntegers(BitsOf(a), BitsOf(b), BitsOf(y)) : nullptr;
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
      kVector ? "vector" : "reference");
}

const OpRegistration add({
    .name = "_ScaledAdd",
    .inputs = "a: Ta, b: Tb, min_a: float, max_a: float, min_b: float, max_b: float, "
              "min_y: float, max_y: float",
    .outputs = "y: T",
    .attrs = "Ta: type; Tb: type; T: type; relu: bool = false; offset: float = 0.0; "
             "zero: int = 0",
    .types = "Ta: qint8 quint8; Tb: qint8 quint8; T: qint8 quint8",
    .shape = AddShape,
    .reference = Add<false>,
    .accelerated = Add<true>,
    .native = "_MklNativeScaledAdd",
    .native_types = "qint8 quint8",
    .internal = true,
});

}  // namespace
}  // namespace tenon

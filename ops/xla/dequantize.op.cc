// XlaDequantize: bytes, four packed in each uint32 with the highest one first, as bfloat16.
#include <array>

#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kBytes = 4;  // in a uint32

// The last dimension becomes four times as large; then, if wanted, all dimensions are reversed.
absl::Status UnpackedShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (in.rank() == 0) return InvalidArgument("input must have a dimension, got a scalar");
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  if (dims.back() > 0 && __builtin_mul_overflow(dims.back(), kBytes, &dims.back())) {
    return InvalidArgument("input is too large: ", in.ToString());
  }
  TENON_ASSIGN_OR_RETURN(const bool transpose, c.attrs().Bool("transpose_output"));
  if (transpose) std::reverse(dims.begin(), dims.end());
  c.set_output(0, Shape(std::move(dims)));
  return c.outputs()[0].IsComplete() ? c.outputs()[0].CheckedElements().status() : absl::OkStatus();
}

// min + (max - min) / 255 * byte. XLA rounds each step to bfloat16.
std::array<bfloat16, 256> ValuesOfBytes(float min_range, float max_range) {
  const bfloat16 min(min_range), max(max_range);
  const bfloat16 scale = (max - min) / bfloat16(255.0f);
  std::array<bfloat16, 256> values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = bfloat16(static_cast<float>(i)) * scale + min;
  }
  return values;
}

// Where row r, of all but the last dimension, is in a tensor with the reversed dimensions.
int64_t ReversedRow(const Shape& shape, int64_t r) {
  int64_t place = 0;
  int64_t stride = Product(shape, 0, shape.rank() - 1);
  for (int i = shape.rank() - 2; i >= 0; --i) {
    stride /= shape.dim(i);
    place += r % shape.dim(i) * stride;
    r /= shape.dim(i);
  }
  return place;
}

absl::StatusOr<std::unique_ptr<Kernel>> UnpackBytes(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::string mode, p.attrs().String("mode"));
  if (mode != "MIN_COMBINED") return InvalidArgument("mode must be MIN_COMBINED, got '", mode, "'");
  TENON_ASSIGN_OR_RETURN(const float min_range, p.attrs().Float("min_range"));
  TENON_ASSIGN_OR_RETURN(const float max_range, p.attrs().Float("max_range"));
  TENON_ASSIGN_OR_RETURN(const bool transpose, p.attrs().Bool("transpose_output"));
  const std::array<bfloat16, 256> values = ValuesOfBytes(min_range, max_range);
  const Shape shape = p.input_shape(0);
  const int64_t n = shape.num_elements();
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    const uint32_t* const x = run.input<uint32_t>(0);
    bfloat16* const out = run.output<bfloat16>(0);
    const int64_t columns = shape.dim(shape.rank() - 1), rows = columns > 0 ? n / columns : 0;
    const int64_t step = transpose ? rows : 1;
    ParallelFor(threads, n, ParallelGrain(transpose ? 20 : 2), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / columns, first = i % columns * kBytes * step;
        bfloat16* to = out + first + (transpose ? ReversedRow(shape, row) : row * columns * kBytes);
        for (int shift = 24; shift >= 0; shift -= 8, to += step) *to = values[x[i] >> shift & 0xFF];
      }
    });
    return absl::OkStatus();
  });
}

const OpRegistration xla_dequantize({
    .name = "XlaDequantize",
    .inputs = "input: uint32",
    .outputs = "output: bfloat16",
    .attrs = "min_range: float; max_range: float; mode: string; transpose_output: bool",
    .shape = UnpackedShape,
    .reference = UnpackBytes,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon

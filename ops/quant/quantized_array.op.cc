// QuantizedReshape, QuantizedConcat, QuantizedConcatV2: elements moved; where concatenated tensors
// have different ranges, brought to one that holds them all.
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/copy.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

// The shape that the op without ranges has, given some of the inputs.
absl::Status ShapeOfPlainOp(ShapeContext& c, absl::string_view op,
                            const std::vector<TensorSpec>& inputs) {
  const OpLookup plain = FindOp(op);
  if (!plain) return Internal("no op ", op);
  ShapeContext inner(c.node(), inputs, 1);
  TENON_RETURN_IF_ERROR(plain.info->row.shape(inner));
  c.set_output(0, inner.outputs()[0]);
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return absl::OkStatus();
}
TensorSpec InputSpec(const ShapeContext& c, int i) { return {c.dtype(i), c.input(i), c.value(i)}; }

absl::Status ReshapeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3}));
  return ShapeOfPlainOp(c, "Reshape", {InputSpec(c, 0), InputSpec(c, 1)});
}

absl::StatusOr<std::unique_ptr<Kernel>> Reshape(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, Reshape, {1});
  const DType dtype = p.input_dtype(0);
  const int64_t n = p.output_shape(0).num_elements();
  return MakeKernel([dtype, n](RunContext& r) {
    CopyElements(dtype, r.input(0), r.output(0), n);
    SetRange(r, 1, ScalarRange(r, 2));
    return absl::OkStatus();
  });
}

// Where the axis and the first value stand; the ranges follow: all minima, then all maxima.
struct Places {
  int axis, values, count;
  int ranges() const { return count + 1; }
};
enum class AxisAt { kFirst, kBehindValues };
template <AxisAt kAxis>
Places PlacesOf(int inputs) {
  const int count = (inputs - 1) / 3;
  if (kAxis == AxisAt::kFirst) return {0, 1, count};
  return {count, 0, count};
}

template <AxisAt kAxis>
absl::Status ConcatShape(ShapeContext& c) {
  const Places at = PlacesOf<kAxis>(c.num_inputs());
  if (at.count < 1) return InvalidArgument("nothing to concatenate");
  for (int i = at.ranges(); i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  std::vector<TensorSpec> inputs;
  for (int i = 0; i < at.ranges(); ++i) inputs.push_back(InputSpec(c, i));
  return ShapeOfPlainOp(c, kAxis == AxisAt::kFirst ? "Concat" : "ConcatV2", inputs);
}

// All values of an 8-bit type brought to another range: a byte's result at its own position.
template <typename T>
std::array<T, 256> ConversionTable(const Dequantizer<T>& dequantize, const Quantizer<T>& quantize) {
  std::array<T, 256> table;
  for (int i = 0; i < 256; ++i) {
    table[static_cast<size_t>(i)] = quantize(dequantize(static_cast<T>(i)));
  }
  return table;
}

struct Part {
  int input;
  int64_t chunk;
};

template <typename T>
void ConcatParts(RunContext& r, const std::vector<Part>& parts, int64_t outer, int64_t row,
                 int first_range) {
  const int count = static_cast<int>(parts.size());
  auto range = [&](int i) {
    return FloatRange{r.input<float>(first_range + i)[0],
                      r.input<float>(first_range + count + i)[0]};
  };
  FloatRange all = range(0);
  for (int i = 1; i < count; ++i) {
    all = {std::min(all.min, range(i).min), std::max(all.max, range(i).max)};
  }
  if (std::is_signed_v<T>) {
    const float largest = std::max(std::fabs(all.min), std::fabs(all.max));
    all = {-largest, largest};
  }
  const Quantizer<T> quantize(all);
  T* y = r.output<T>(0);
  for (int i = 0; i < count; ++i) {
    const auto [input, chunk] = parts[static_cast<size_t>(i)];
    const T* x = r.input<T>(input);
    const FloatRange own = range(i);
    const Dequantizer<T> dequantize(own);
    const bool same = own.min == all.min && own.max == all.max;
    std::array<T, 256> table;
    if constexpr (sizeof(T) == 1) {
      if (!same) table = ConversionTable<T>(dequantize, quantize);
    }
    for (int64_t o = 0; o < outer; ++o) {
      const T* from = x + o * chunk;
      T* to = y + o * row;
      if (same) {
        std::copy_n(from, chunk, to);
      } else if constexpr (sizeof(T) == 1) {
        for (int64_t k = 0; k < chunk; ++k) to[k] = table[static_cast<uint8_t>(from[k])];
      } else {
        for (int64_t k = 0; k < chunk; ++k) to[k] = quantize(dequantize(from[k]));
      }
    }
    y += chunk;
  }
  SetRange(r, 1, all);
}

template <AxisAt kAxis>
absl::StatusOr<std::unique_ptr<Kernel>> Concat(PrepareContext& p) {
  const Places at = PlacesOf<kAxis>(p.num_inputs());
  const Tensor* value = p.value(at.axis);
  if (value == nullptr) return PrepareLate(p, Concat<kAxis>, {at.axis});
  p.InputNotRead(at.axis);
  const int rank = p.output_shape(0).rank();
  TENON_ASSIGN_OR_RETURN(const int64_t wanted, ScalarInteger(*value, "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(wanted, rank));
  std::vector<Part> parts;
  for (int i = 0; i < at.count; ++i) {
    parts.push_back({at.values + i, Product(p.input_shape(at.values + i), axis, rank)});
  }
  const int64_t outer = Product(p.output_shape(0), 0, axis);
  const int64_t row = Product(p.output_shape(0), axis, rank);
  const DType dtype = p.output_dtype(0);
  return MakeKernel([=, ranges = at.ranges()](RunContext& r) -> absl::Status {
    const bool known =
        VisitQuantized(dtype, [&]<typename T>() { ConcatParts<T>(r, parts, outer, row, ranges); });
    return known ? absl::OkStatus() : NotQuantized(dtype);
  });
}

const OpRegistration reshape({
    .name = "QuantizedReshape",
    .inputs = "tensor: T, shape: Tshape, input_min: float, input_max: float",
    .outputs = "output: T, output_min: float, output_max: float",
    .attrs = "T: type; Tshape: type = int32",
    .types = "Tshape: int32 int64",
    .shape = ReshapeShape,
    .reference = Reshape,
});
const OpRegistration concat({
    .name = "QuantizedConcat",
    .inputs = "concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float",
    .outputs = "output: T, output_min: float, output_max: float",
    .attrs = "N: int; T: type",
    .types = "T: qint8 quint8 qint16 quint16 qint32",
    .shape = ConcatShape<AxisAt::kFirst>,
    .reference = Concat<AxisAt::kFirst>,
});
const OpRegistration concat_v2({
    .name = "QuantizedConcatV2",
    .inputs = "values: N * T, axis: Tidx, input_mins: N * float, input_maxes: N * float",
    .outputs = "output: T, output_min: float, output_max: float",
    .attrs = "N: int; T: type; Tidx: type = int32",
    .types = "T: qint8 quint8 qint16 quint16 qint32; Tidx: int32 int64",
    .shape = ConcatShape<AxisAt::kBehindValues>,
    .reference = Concat<AxisAt::kBehindValues>,
});

}  // namespace
}  // namespace tenon

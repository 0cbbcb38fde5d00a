#include "kernels/quantized/array.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/copy.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

// All values of an 8-bit type converted to another range: a table indexed by the byte.
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

absl::StatusOr<std::unique_ptr<Kernel>> Concat(PrepareContext& p, const ConcatPlaces& at) {
  p.InputNotRead(at.axis);
  const int rank = p.output_shape(0).rank();
  TENON_ASSIGN_OR_RETURN(const int64_t wanted, ScalarInteger(*p.value(at.axis), "axis"));
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

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedReshapeKernel(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, QuantizedReshapeKernel, {1});
  const DType dtype = p.input_dtype(0);
  const int64_t n = p.output_shape(0).num_elements();
  return MakeKernel([dtype, n](RunContext& r) {
    CopyElements(dtype, r.input(0), r.output(0), n);
    SetRange(r, 1, ScalarRange(r, 2));
    return absl::OkStatus();
  });
}

template <ConcatAxisAt kAxis>
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConcatKernel(PrepareContext& p) {
  const ConcatPlaces at = ConcatPlacesOf(kAxis, p.num_inputs());
  if (p.value(at.axis) == nullptr) return PrepareLate(p, QuantizedConcatKernel<kAxis>, {at.axis});
  return Concat(p, at);
}

template absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConcatKernel<ConcatAxisAt::kFirst>(
    PrepareContext& p);
template absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConcatKernel<ConcatAxisAt::kBehindValues>(
    PrepareContext& p);

}  // namespace tenon

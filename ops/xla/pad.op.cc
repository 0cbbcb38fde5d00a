// XlaPad: a border around a tensor and gaps between its elements, both of one value. Negative
// borders remove elements.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kMost = int64_t{1} << 60;  // so that positions do not overflow

// One dimension: element i of the input goes to low + i * step, if that exists.
struct Gap {
  int64_t low, high, step;
};

absl::StatusOr<std::vector<Gap>> GapsOf(const Tensor& low, const Tensor& high,
                                        const Tensor& interior, int rank) {
  const Shape vector({rank});
  if (low.shape() != vector || high.shape() != vector || interior.shape() != vector) {
    return InvalidArgument("paddings must be vectors of ", rank, " elements, but have shapes ",
                           low.shape().ToString(), ", ", high.shape().ToString(), " and ",
                           interior.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lows, IntegersOf(low));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> highs, IntegersOf(high));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> interiors, IntegersOf(interior));
  std::vector<Gap> gaps;
  for (size_t i = 0; i < lows.size(); ++i) {
    if (interiors[i] < 0) return InvalidArgument("padding_interior[", i, "] is ", interiors[i]);
    for (int64_t v : {lows[i], highs[i], interiors[i]}) {
      if (v < -kMost || v > kMost) return InvalidArgument("a padding of ", v);
    }
    gaps.push_back({lows[i], highs[i], interiors[i] + 1});
  }
  return gaps;
}

absl::StatusOr<int64_t> PaddedSize(int64_t size, const Gap& gap) {
  if (size < 0) return -1;
  int64_t padded = 0;
  if (__builtin_mul_overflow(std::max<int64_t>(size - 1, 0), gap.step, &padded) ||
      __builtin_add_overflow(padded, std::min<int64_t>(size, 1), &padded) ||
      __builtin_add_overflow(padded, gap.low, &padded) ||
      __builtin_add_overflow(padded, gap.high, &padded)) {
    return InvalidArgument("paddings that are too large");
  }
  if (padded < 0) {
    return InvalidArgument("paddings ", gap.low, ", ", gap.high, " take more than a size of ",
                           size);
  }
  return padded;
}

// Inputs: input, padding_value, padding_low, padding_high, padding_interior.
absl::Status XlaPadShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  for (int i = 2; i < 5; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  Shape out = Shape::UnknownOfRank(in.rank());
  if (c.value(2) != nullptr && c.value(3) != nullptr && c.value(4) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<Gap> gaps,
                           GapsOf(*c.value(2), *c.value(3), *c.value(4), in.rank()));
    for (int i = 0; i < in.rank(); ++i) {
      TENON_ASSIGN_OR_RETURN(const int64_t size,
                             PaddedSize(in.dim(i), gaps[static_cast<size_t>(i)]));
      out.set_dim(i, size);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> XlaPad(PrepareContext& p) {
  if (p.value(2) == nullptr || p.value(3) == nullptr || p.value(4) == nullptr) {
    return PrepareLate(p, XlaPad, {2, 3, 4});
  }
  for (int i = 2; i < 5; ++i) p.InputNotRead(i);
  const Shape &in = p.input_shape(0), &out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Gap> gaps,
                         GapsOf(*p.value(2), *p.value(3), *p.value(4), in.rank()));
  // The elements of the input that stay.
  std::vector<int64_t> from = DenseStrides(in), to = DenseStrides(out);
  Shape kept;
  int64_t src = 0, dst = 0;
  for (int i = 0; i < in.rank(); ++i) {
    const size_t d = static_cast<size_t>(i);
    const Gap& gap = gaps[d];
    const int64_t first = gap.low >= 0 ? 0 : (-gap.low + gap.step - 1) / gap.step;
    const int64_t end = out.dim(i) <= gap.low ? 0 : (out.dim(i) - gap.low - 1) / gap.step + 1;
    kept.push_back(std::max<int64_t>(std::min(in.dim(i), end) - first, 0));
    src += first * from[d];
    dst += (gap.low + first * gap.step) * to[d];
    to[d] *= gap.step;
  }
  const bool nothing = kept.num_elements() == 0;  // and then positions have no meaning
  const StridedCopy copy(kept.dims(), from, to, nothing ? 0 : src, nothing ? 0 : dst);
  const int64_t n = out.num_elements();
  const bool fill = n > kept.num_elements();
  const DType dtype = p.input_dtype(0);
  return MakeKernel([copy, n, fill, nothing, dtype](RunContext& run) {
    if (fill) {
      VisitStorage(dtype,
                   [&]<typename T>() { std::fill_n(run.output<T>(0), n, *run.input<T>(1)); });
    }
    if (!nothing) copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

const OpRegistration xla_pad({
    .name = "XlaPad",
    .inputs = "input: T, padding_value: T, padding_low: Tindices, padding_high: Tindices, "
              "padding_interior: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
             "complex64 complex128 qint8 quint8 qint16 quint16 qint32; Tindices: int32 int64",
    .shape = XlaPadShape,
    .reference = XlaPad,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
});

}  // namespace
}  // namespace tenon

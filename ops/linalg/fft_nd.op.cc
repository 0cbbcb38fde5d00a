// FFTND, IFFTND, RFFTND, IRFFTND: Fourier transforms over given axes, as NumPy's fftn and its kin:
// each is cut, or padded with zeros, to its length.
#include <vector>

#include "kernels/fft/fft.h"
#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

enum class FftNd { kComplex, kReal, kRealInverse };

struct AxesAndLengths {
  std::vector<int> axes;
  std::vector<int64_t> lengths;

  static absl::StatusOr<AxesAndLengths> Of(const Tensor& lengths, const Tensor& axes, int rank) {
    if (axes.shape().rank() != 1) {
      return InvalidArgument("axes must be a vector, but have shape ", axes.shape().ToString());
    }
    AxesAndLengths of;
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(axes));
    TENON_RETURN_IF_ERROR(AxisMask(values, rank).status());
    for (int64_t axis : values) {
      TENON_ASSIGN_OR_RETURN(const int normal, NormalizeAxis(axis, rank));
      of.axes.push_back(normal);
    }
    TENON_ASSIGN_OR_RETURN(of.lengths, FftLengths(lengths, static_cast<int>(of.axes.size())));
    return of;
  }
};

template <FftNd kind>
absl::Status FftNdShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  const int rank = c.input(0).rank();
  if (rank == 0) return InvalidArgument("input must have a dimension");
  if (c.value(1) == nullptr || c.value(2) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(rank));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const AxesAndLengths of,
                         AxesAndLengths::Of(*c.value(1), *c.value(2), rank));
  if (kind != FftNd::kComplex && of.axes.empty()) return InvalidArgument("there are no axes");
  Shape out = c.input(0);
  for (size_t i = 0; i < of.axes.size(); ++i) {
    const bool half = kind == FftNd::kReal && i + 1 == of.axes.size();
    out.set_dim(of.axes[i], half && of.lengths[i] > 0 ? of.lengths[i] / 2 + 1 : of.lengths[i]);
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <FftNd kind>
absl::Status RealFftNdShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckFftTypes(c.attrs()));
  return FftNdShape<kind>(c);
}

template <FftNd kind, FftDirection direction>
absl::StatusOr<std::unique_ptr<Kernel>> FftNdKernel(PrepareContext& p) {
  const Tensor *lengths = p.value(1), *axes = p.value(2);
  if (lengths == nullptr || axes == nullptr) {
    return PrepareLate(p, FftNdKernel<kind, direction>, {1, 2});
  }
  p.InputNotRead(1);
  p.InputNotRead(2);
  TENON_ASSIGN_OR_RETURN(const AxesAndLengths of,
                         AxesAndLengths::Of(*lengths, *axes, p.input_shape(0).rank()));
  if (kind == FftNd::kReal) return RealFftOver(p, of.axes, of.lengths);
  if (kind == FftNd::kRealInverse) return InverseRealFftOver(p, of.axes);
  return FftOver(p, of.axes, direction);
}

const OpRegistration fft_nd_op({
    .name = "FFTND",
    .inputs = "input: Tcomplex, fft_length: int32, axes: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftNdShape<FftNd::kComplex>,
    .reference = FftNdKernel<FftNd::kComplex, FftDirection::kForward>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration ifft_nd_op({
    .name = "IFFTND",
    .inputs = "input: Tcomplex, fft_length: int32, axes: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftNdShape<FftNd::kComplex>,
    .reference = FftNdKernel<FftNd::kComplex, FftDirection::kInverse>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration rfft_nd_op({
    .name = "RFFTND",
    .inputs = "input: Treal, fft_length: int32, axes: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftNdShape<FftNd::kReal>,
    .reference = FftNdKernel<FftNd::kReal, FftDirection::kForward>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration irfft_nd_op({
    .name = "IRFFTND",
    .inputs = "input: Tcomplex, fft_length: int32, axes: int32",
    .outputs = "output: Treal",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftNdShape<FftNd::kRealInverse>,
    .reference = FftNdKernel<FftNd::kRealInverse, FftDirection::kInverse>,
    .error_bound = ErrorBound::kFourier,
});

}  // namespace
}  // namespace tenon

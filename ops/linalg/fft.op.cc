// FFT, IFFT, FFT2D, IFFT2D, FFT3D, IFFT3D over the last dimensions; RFFT, IRFFT and their 2D and 3D
// forms between real signals and the non-negative half of the spectrum. BatchFFT and its kin are
// the same under older names.
#include "kernels/fft/fft.h"

#include "ops/op.h"

namespace tenon {
namespace {

template <int dims>
absl::Status FftShape(ShapeContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() < dims) {
    return InvalidArgument("input must have at least ", dims, " dimensions, but has shape ",
                           c.input(0).ToString());
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

template <int dims, FftDirection direction>
absl::Status RealFftShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckFftTypes(c.attrs()));
  TENON_RETURN_IF_ERROR(FftShape<dims>(c));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape out = c.input(0);
  const int first = out.rank() - dims;
  if (c.value(1) == nullptr) {
    for (int d = 0; d < dims; ++d) out.set_dim(first + d, -1);
    c.set_output(0, std::move(out));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, FftLengths(*c.value(1), dims));
  for (int d = 0; d < dims; ++d) {
    const int64_t length = lengths[static_cast<size_t>(d)];
    const bool half = d == dims - 1;
    const int64_t spectrum = half && length > 0 ? length / 2 + 1 : length;
    const int64_t needed = direction == FftDirection::kForward ? length : spectrum;
    const int64_t has = c.input(0).dim(first + d);
    if (has >= 0 && has < needed && has != 0) {
      return InvalidArgument("dimension ", first + d, " has ", has, " elements, but ", needed,
                             " are needed");
    }
    out.set_dim(first + d, direction == FftDirection::kForward ? spectrum : length);
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration fft_op({
    .name = "FFT",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<1>,
    .reference = Fft<1, FftDirection::kForward>,
    .accelerated = FftVector<1, FftDirection::kForward>,
    .native = "_MklNativeFFT",
    .native_types = "complex64 complex128",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration ifft_op({
    .name = "IFFT",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<1>,
    .reference = Fft<1, FftDirection::kInverse>,
    .accelerated = FftVector<1, FftDirection::kInverse>,
    .native = "_MklNativeIFFT",
    .native_types = "complex64 complex128",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration fft2_d_op({
    .name = "FFT2D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<2>,
    .reference = Fft<2, FftDirection::kForward>,
    .accelerated = FftVector<2, FftDirection::kForward>,
    .native = "_MklNativeFFT2D",
    .native_types = "complex64 complex128",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration ifft2_d_op({
    .name = "IFFT2D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<2>,
    .reference = Fft<2, FftDirection::kInverse>,
    .accelerated = FftVector<2, FftDirection::kInverse>,
    .native = "_MklNativeIFFT2D",
    .native_types = "complex64 complex128",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration fft3_d_op({
    .name = "FFT3D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<3>,
    .reference = Fft<3, FftDirection::kForward>,
    .accelerated = FftVector<3, FftDirection::kForward>,
    .native = "_MklNativeFFT3D",
    .native_types = "complex64 complex128",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration ifft3_d_op({
    .name = "IFFT3D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<3>,
    .reference = Fft<3, FftDirection::kInverse>,
    .accelerated = FftVector<3, FftDirection::kInverse>,
    .native = "_MklNativeIFFT3D",
    .native_types = "complex64 complex128",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration rfft_op({
    .name = "RFFT",
    .inputs = "input: Treal, fft_length: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<1, FftDirection::kForward>,
    .reference = RealFft<1>,
    .accelerated = RealFftVector<1>,
    .native = "_MklNativeRFFT",
    .native_types = "float double",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration rfft2_d_op({
    .name = "RFFT2D",
    .inputs = "input: Treal, fft_length: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<2, FftDirection::kForward>,
    .reference = RealFft<2>,
    .accelerated = RealFftVector<2>,
    .native = "_MklNativeRFFT2D",
    .native_types = "float double",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration rfft3_d_op({
    .name = "RFFT3D",
    .inputs = "input: Treal, fft_length: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<3, FftDirection::kForward>,
    .reference = RealFft<3>,
    .accelerated = RealFftVector<3>,
    .native = "_MklNativeRFFT3D",
    .native_types = "float double",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration irfft_op({
    .name = "IRFFT",
    .inputs = "input: Tcomplex, fft_length: int32",
    .outputs = "output: Treal",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<1, FftDirection::kInverse>,
    .reference = InverseRealFft<1>,
    .accelerated = InverseRealFftVector<1>,
    .native = "_MklNativeIRFFT",
    .native_types = "float double",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration irfft2_d_op({
    .name = "IRFFT2D",
    .inputs = "input: Tcomplex, fft_length: int32",
    .outputs = "output: Treal",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<2, FftDirection::kInverse>,
    .reference = InverseRealFft<2>,
    .accelerated = InverseRealFftVector<2>,
    .native = "_MklNativeIRFFT2D",
    .native_types = "float double",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration irfft3_d_op({
    .name = "IRFFT3D",
    .inputs = "input: Tcomplex, fft_length: int32",
    .outputs = "output: Treal",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<3, FftDirection::kInverse>,
    .reference = InverseRealFft<3>,
    .accelerated = InverseRealFftVector<3>,
    .native = "_MklNativeIRFFT3D",
    .native_types = "float double",
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration batch_fft_op({
    .name = "BatchFFT",
    .inputs = "input: complex64",
    .outputs = "output: complex64",
    .shape = FftShape<1>,
    .reference = Fft<1, FftDirection::kForward>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration batch_ifft_op({
    .name = "BatchIFFT",
    .inputs = "input: complex64",
    .outputs = "output: complex64",
    .shape = FftShape<1>,
    .reference = Fft<1, FftDirection::kInverse>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration batch_fft2_op({
    .name = "BatchFFT2D",
    .inputs = "input: complex64",
    .outputs = "output: complex64",
    .shape = FftShape<2>,
    .reference = Fft<2, FftDirection::kForward>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration batch_ifft2_op({
    .name = "BatchIFFT2D",
    .inputs = "input: complex64",
    .outputs = "output: complex64",
    .shape = FftShape<2>,
    .reference = Fft<2, FftDirection::kInverse>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration batch_fft3_op({
    .name = "BatchFFT3D",
    .inputs = "input: complex64",
    .outputs = "output: complex64",
    .shape = FftShape<3>,
    .reference = Fft<3, FftDirection::kForward>,
    .error_bound = ErrorBound::kFourier,
});

const OpRegistration batch_ifft3_op({
    .name = "BatchIFFT3D",
    .inputs = "input: complex64",
    .outputs = "output: complex64",
    .shape = FftShape<3>,
    .reference = Fft<3, FftDirection::kInverse>,
    .error_bound = ErrorBound::kFourier,
});

}  // namespace
}  // namespace tenon

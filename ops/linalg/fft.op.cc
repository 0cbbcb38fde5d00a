// FFT, IFFT, FFT2D, IFFT2D, FFT3D, IFFT3D over the last dimensions, and RFFT, IRFFT and their kin
// between real signals and the non-negative half of the spectrum. Computed in double.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/linalg/line_fft.h"
#include "ops/op.h"

namespace tenon {
namespace {

using Complex = std::complex<double>;
enum class Direction { kForward, kInverse };

// In place along dimension `axis` of a tensor of that shape. Scales by 1/n on the way back.
void TransformAxis(std::vector<Complex>& x, const Shape& shape, int axis, Direction direction) {
  const int64_t n = shape.dim(axis), inner = Product(shape, axis + 1, shape.rank());
  if (n <= 1) return;
  LineFft fft(n);
  std::vector<Complex> line(static_cast<size_t>(n));
  for (int64_t o = 0; o < Product(shape, 0, axis); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Complex* at = x.data() + o * n * inner + i;
      for (int64_t k = 0; k < n; ++k) line[static_cast<size_t>(k)] = at[k * inner];
      if (direction == Direction::kForward) {
        fft.Forward(line);
      } else {
        fft.Inverse(line);
      }
      for (int64_t k = 0; k < n; ++k) at[k * inner] = line[static_cast<size_t>(k)];
    }
  }
}

template <int dims>
absl::Status FftShape(ShapeContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() < dims) {
    return InvalidArgument("input must have at least ", dims, " dimensions, but has shape ",
                           c.input(0).ToString());
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

template <int dims, Direction direction>
absl::StatusOr<std::unique_ptr<Kernel>> Fft(PrepareContext& p) {
  const Shape shape = p.input_shape(0);
  const int64_t n = shape.num_elements();
  return DispatchType(Complexes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([shape, n](RunContext& run) {
      std::vector<Complex> x(run.input<T>(0), run.input<T>(0) + n);
      for (int d = 1; d <= dims; ++d) TransformAxis(x, shape, shape.rank() - d, direction);
      std::transform(x.begin(), x.end(), run.output<T>(0),
                     [](const Complex& v) { return static_cast<T>(v); });
      return absl::OkStatus();
    });
  });
}

// fft_length: the real signal's size in the last dimensions.
absl::StatusOr<std::vector<int64_t>> Lengths(const Tensor& t, int dims) {
  if (t.shape() != Shape({dims})) {
    return InvalidArgument("fft_length must have ", dims, " elements, but has shape ",
                           t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, IntegersOf(t));
  for (int64_t n : lengths) {
    if (n < 0) return InvalidArgument("fft_length must not be negative, but has ", n);
  }
  return lengths;
}

absl::Status CheckComplexType(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const DType real, c.attrs().Type("Treal"));
  TENON_ASSIGN_OR_RETURN(const DType complex, c.attrs().Type("Tcomplex"));
  if ((real == DType::kDouble) != (complex == DType::kComplex128)) {
    return InvalidArgument("Treal=", Name(real), " with Tcomplex=", Name(complex));
  }
  return absl::OkStatus();
}

template <int dims, Direction direction>
absl::Status RealFftShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckComplexType(c));
  TENON_RETURN_IF_ERROR(FftShape<dims>(c));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape out = c.input(0);
  const int first = out.rank() - dims;
  if (c.value(1) == nullptr) {
    for (int d = 0; d < dims; ++d) out.set_dim(first + d, -1);
    c.set_output(0, std::move(out));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, Lengths(*c.value(1), dims));
  for (int d = 0; d < dims; ++d) {
    const int64_t length = lengths[static_cast<size_t>(d)];
    const bool half = d == dims - 1;
    const int64_t spectrum = half && length > 0 ? length / 2 + 1 : length;
    const int64_t needed = direction == Direction::kForward ? length : spectrum;
    const int64_t has = c.input(0).dim(first + d);
    if (has >= 0 && has < needed && has != 0) {
      return InvalidArgument("dimension ", first + d, " has ", has, " elements, but ", needed,
                             " are needed");
    }
    out.set_dim(first + d, direction == Direction::kForward ? spectrum : length);
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The leading block of `to`'s last dims dimensions, zeros where `from` is smaller.
template <int dims, typename T, typename U>
void CopyBlock(const T* from, const Shape& from_shape, U* to, const Shape& to_shape) {
  const int first = to_shape.rank() - dims;
  int64_t index[dims] = {};
  const int64_t block = Product(to_shape, first, to_shape.rank());
  const int64_t from_block = Product(from_shape, first, from_shape.rank());
  for (int64_t b = 0; b < Product(to_shape, 0, first); ++b, from += from_block) {
    std::fill_n(index, dims, 0);
    for (int64_t i = 0; i < block; ++i) {
      int64_t at = 0;
      bool inside = true;
      for (int d = 0; d < dims; ++d) {
        inside = inside && index[d] < from_shape.dim(first + d);
        at = at * from_shape.dim(first + d) + index[d];
      }
      *to++ = inside ? static_cast<U>(from[at]) : U(0);
      for (int d = dims - 1; d >= 0 && ++index[d] == to_shape.dim(first + d); --d) index[d] = 0;
    }
  }
}

template <int dims>
absl::StatusOr<std::unique_ptr<Kernel>> RealForward(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, RealForward<dims>, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, Lengths(*p.value(1), dims));
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  Shape signal = in;
  for (int d = 0; d < dims; ++d) {
    signal.set_dim(in.rank() - dims + d, lengths[static_cast<size_t>(d)]);
  }
  return DispatchType(TypeList<float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(static_cast<size_t>(signal.num_elements()));
      CopyBlock<dims>(run.input<T>(0), in, x.data(), signal);
      for (int d = 1; d <= dims; ++d) {
        TransformAxis(x, signal, signal.rank() - d, Direction::kForward);
      }
      CopyBlock<dims>(x.data(), signal, run.output<std::complex<T>>(0), out);
      return absl::OkStatus();
    });
  });
}

template <int dims>
absl::StatusOr<std::unique_ptr<Kernel>> RealInverse(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, RealInverse<dims>, {1});
  p.InputNotRead(1);
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  const int last = out.rank() - 1;
  Shape half = out;  // the part of the spectrum that is read
  if (out.dim(last) > 0) half.set_dim(last, out.dim(last) / 2 + 1);
  return DispatchType(TypeList<float, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(static_cast<size_t>(half.num_elements()));
      CopyBlock<dims>(run.input<std::complex<T>>(0), in, x.data(), half);
      for (int d = 2; d <= dims; ++d) TransformAxis(x, half, half.rank() - d, Direction::kInverse);
      // Along the last dimension the other half is the conjugate.
      const int64_t n = out.dim(last), kept = half.dim(last);
      std::vector<Complex> whole(static_cast<size_t>(out.num_elements()));
      for (int64_t r = 0; n > 0 && r < Product(out, 0, last); ++r) {
        for (int64_t k = 0; k < n; ++k) {
          const Complex v = x[static_cast<size_t>(r * kept + (k < kept ? k : n - k))];
          whole[static_cast<size_t>(r * n + k)] = k < kept ? v : std::conj(v);
        }
        // Their imaginary parts have no counterpart.
        Complex& zero = whole[static_cast<size_t>(r * n)];
        zero = zero.real();
        if (n % 2 == 0) {
          Complex& middle = whole[static_cast<size_t>(r * n + n / 2)];
          middle = middle.real();
        }
      }
      TransformAxis(whole, out, last, Direction::kInverse);
      std::transform(whole.begin(), whole.end(), run.output<T>(0),
                     [](const Complex& v) { return static_cast<T>(v.real()); });
      return absl::OkStatus();
    });
  });
}

const OpRegistration fft_op({
    .name = "FFT",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<1>,
    .reference = Fft<1, Direction::kForward>,
});

const OpRegistration ifft_op({
    .name = "IFFT",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<1>,
    .reference = Fft<1, Direction::kInverse>,
});

const OpRegistration fft2_d_op({
    .name = "FFT2D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<2>,
    .reference = Fft<2, Direction::kForward>,
});

const OpRegistration ifft2_d_op({
    .name = "IFFT2D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<2>,
    .reference = Fft<2, Direction::kInverse>,
});

const OpRegistration fft3_d_op({
    .name = "FFT3D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<3>,
    .reference = Fft<3, Direction::kForward>,
});

const OpRegistration ifft3_d_op({
    .name = "IFFT3D",
    .inputs = "input: Tcomplex",
    .outputs = "output: Tcomplex",
    .attrs = "Tcomplex: type = complex64",
    .types = "Tcomplex: complex64 complex128",
    .shape = FftShape<3>,
    .reference = Fft<3, Direction::kInverse>,
});

const OpRegistration rfft_op({
    .name = "RFFT",
    .inputs = "input: Treal, fft_length: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<1, Direction::kForward>,
    .reference = RealForward<1>,
});

const OpRegistration rfft2_d_op({
    .name = "RFFT2D",
    .inputs = "input: Treal, fft_length: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<2, Direction::kForward>,
    .reference = RealForward<2>,
});

const OpRegistration rfft3_d_op({
    .name = "RFFT3D",
    .inputs = "input: Treal, fft_length: int32",
    .outputs = "output: Tcomplex",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<3, Direction::kForward>,
    .reference = RealForward<3>,
});

const OpRegistration irfft_op({
    .name = "IRFFT",
    .inputs = "input: Tcomplex, fft_length: int32",
    .outputs = "output: Treal",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<1, Direction::kInverse>,
    .reference = RealInverse<1>,
});

const OpRegistration irfft2_d_op({
    .name = "IRFFT2D",
    .inputs = "input: Tcomplex, fft_length: int32",
    .outputs = "output: Treal",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<2, Direction::kInverse>,
    .reference = RealInverse<2>,
});

const OpRegistration irfft3_d_op({
    .name = "IRFFT3D",
    .inputs = "input: Tcomplex, fft_length: int32",
    .outputs = "output: Treal",
    .attrs = "Treal: type = float; Tcomplex: type = complex64",
    .types = "Treal: float double; Tcomplex: complex64 complex128",
    .shape = RealFftShape<3, Direction::kInverse>,
    .reference = RealInverse<3>,
});

}  // namespace
}  // namespace tenon

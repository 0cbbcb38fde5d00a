#include "kernels/fft/fft.h"

#include <algorithm>

#include "kernels/fft/line_fft.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using Complex = std::complex<double>;

// In place along dimension `axis` of a tensor with that shape. The inverse scales by 1/n.
void TransformAxis(std::vector<Complex>& x, const Shape& shape, int axis, FftDirection direction) {
  const int64_t n = shape.dim(axis), inner = Product(shape, axis + 1, shape.rank());
  if (n <= 1) return;
  LineFft fft(n);
  std::vector<Complex> line(static_cast<size_t>(n));
  for (int64_t o = 0; o < Product(shape, 0, axis); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Complex* at = x.data() + o * n * inner + i;
      for (int64_t k = 0; k < n; ++k) line[static_cast<size_t>(k)] = at[k * inner];
      if (direction == FftDirection::kForward) {
        fft.Forward(line);
      } else {
        fft.Inverse(line);
      }
      for (int64_t k = 0; k < n; ++k) at[k * inner] = line[static_cast<size_t>(k)];
    }
  }
}

// The leading block of `to`'s dimensions from `first` on, with zeros where `from` is smaller.
template <typename T, typename U>
void CopyBlock(int first, const T* from, const Shape& from_shape, U* to, const Shape& to_shape) {
  if (from_shape == to_shape) {
    std::transform(from, from + to_shape.num_elements(), to,
                   [](const T& v) { return static_cast<U>(v); });
    return;
  }
  const int dims = to_shape.rank() - first;
  std::vector<int64_t> counters(static_cast<size_t>(dims));
  int64_t* const index = counters.data();
  const int64_t block = Product(to_shape, first, to_shape.rank());
  const int64_t from_block = Product(from_shape, first, from_shape.rank());
  for (int64_t b = 0; b < Product(to_shape, 0, first); ++b, from += from_block) {
    std::fill(counters.begin(), counters.end(), 0);
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

std::vector<int> LastAxes(const Shape& shape, int dims) {
  std::vector<int> axes;
  for (int d = dims; d > 0; --d) axes.push_back(shape.rank() - d);
  return axes;
}

// What is before the first of the axes is never padded or cut.
int FirstOf(const std::vector<int>& axes, const Shape& shape) {
  return axes.empty() ? shape.rank() : *std::min_element(axes.begin(), axes.end());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FftOver(PrepareContext& p, const std::vector<int>& axes,
                                                FftDirection direction) {
  const Shape in = p.input_shape(0), shape = p.output_shape(0);
  const int first = FirstOf(axes, shape);
  return DispatchType(Complexes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(static_cast<size_t>(shape.num_elements()));
      CopyBlock(first, run.input<T>(0), in, x.data(), shape);
      for (size_t d = axes.size(); d-- > 0;) TransformAxis(x, shape, axes[d], direction);
      std::transform(x.begin(), x.end(), run.output<T>(0),
                     [](const Complex& v) { return static_cast<T>(v); });
      return absl::OkStatus();
    });
  });
}

absl::Status CheckFftTypes(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const DType real, attrs.Type("Treal"));
  TENON_ASSIGN_OR_RETURN(const DType complex, attrs.Type("Tcomplex"));
  if ((real == DType::kDouble) != (complex == DType::kComplex128)) {
    return InvalidArgument("Treal=", Name(real), " with Tcomplex=", Name(complex));
  }
  return absl::OkStatus();
}

// fft_length: the real signal's size in the last dimensions.
absl::StatusOr<std::vector<int64_t>> FftLengths(const Tensor& t, int dims) {
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

absl::StatusOr<std::unique_ptr<Kernel>> RealFftOver(PrepareContext& p, const std::vector<int>& axes,
                                                    const std::vector<int64_t>& lengths) {
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  Shape signal = in;
  for (size_t d = 0; d < axes.size(); ++d) signal.set_dim(axes[d], lengths[d]);
  const int first = FirstOf(axes, in);
  return DispatchType(TypeList<float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(static_cast<size_t>(signal.num_elements()));
      CopyBlock(first, run.input<T>(0), in, x.data(), signal);
      for (size_t d = axes.size(); d-- > 0;) {
        TransformAxis(x, signal, axes[d], FftDirection::kForward);
      }
      CopyBlock(first, x.data(), signal, run.output<std::complex<T>>(0), out);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFftOver(PrepareContext& p,
                                                           const std::vector<int>& axes) {
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  const int last = axes.back(), first = FirstOf(axes, out);
  Shape half = out;  // the part of the spectrum that is read
  if (out.dim(last) > 0) half.set_dim(last, out.dim(last) / 2 + 1);
  return DispatchType(TypeList<float, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(static_cast<size_t>(half.num_elements()));
      CopyBlock(first, run.input<std::complex<T>>(0), in, x.data(), half);
      for (size_t d = axes.size() - 1; d-- > 0;) {
        TransformAxis(x, half, axes[d], FftDirection::kInverse);
      }
      // Along the last axis, the other half is the complex conjugate.
      const int64_t n = out.dim(last), kept = half.dim(last);
      const int64_t inner = Product(out, last + 1, out.rank());
      std::vector<Complex> whole(static_cast<size_t>(out.num_elements()));
      for (int64_t r = 0; n > 0 && r < Product(out, 0, last) * inner; ++r) {
        const Complex* const line = x.data() + r / inner * kept * inner + r % inner;
        Complex* const to = whole.data() + r / inner * n * inner + r % inner;
        for (int64_t k = 0; k < n; ++k) {
          to[k * inner] = k < kept ? line[k * inner] : std::conj(line[(n - k) * inner]);
        }
        // Their imaginary parts have no counterpart.
        to[0] = to[0].real();
        if (n % 2 == 0) to[n / 2 * inner] = to[n / 2 * inner].real();
      }
      TransformAxis(whole, out, last, FftDirection::kInverse);
      std::transform(whole.begin(), whole.end(), run.output<T>(0),
                     [](const Complex& v) { return static_cast<T>(v.real()); });
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Fft(PrepareContext& p, int dims, FftDirection direction) {
  return FftOver(p, LastAxes(p.input_shape(0), dims), direction);
}

absl::StatusOr<std::unique_ptr<Kernel>> RealFft(PrepareContext& p, int dims) {
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, FftLengths(*p.value(1), dims));
  return RealFftOver(p, LastAxes(p.input_shape(0), dims), lengths);
}

absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFft(PrepareContext& p, int dims) {
  p.InputNotRead(1);
  return InverseRealFftOver(p, LastAxes(p.input_shape(0), dims));
}

}  // namespace tenon

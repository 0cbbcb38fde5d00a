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

// The leading block of `to`'s last `dims` dimensions, with zeros where `from` is smaller.
template <typename T, typename U>
void CopyBlock(int dims, const T* from, const Shape& from_shape, U* to, const Shape& to_shape) {
  const int first = to_shape.rank() - dims;
  int64_t index[3] = {};
  const int64_t block = Product(to_shape, first, to_shape.rank());
  const int64_t from_block = Product(from_shape, first, from_shape.rank());
  for (int64_t b = 0; b < Product(to_shape, 0, first); ++b, from += from_block) {
    std::fill(index, index + 3, 0);
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

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Fft(PrepareContext& p, int dims, FftDirection direction) {
  const Shape shape = p.input_shape(0);
  const int64_t n = shape.num_elements();
  return DispatchType(Complexes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(run.input<T>(0), run.input<T>(0) + n);
      for (int d = 1; d <= dims; ++d) TransformAxis(x, shape, shape.rank() - d, direction);
      std::transform(x.begin(), x.end(), run.output<T>(0),
                     [](const Complex& v) { return static_cast<T>(v); });
      return absl::OkStatus();
    });
  });
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

absl::StatusOr<std::unique_ptr<Kernel>> RealFft(PrepareContext& p, int dims) {
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, FftLengths(*p.value(1), dims));
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  Shape signal = in;
  for (int d = 0; d < dims; ++d) {
    signal.set_dim(in.rank() - dims + d, lengths[static_cast<size_t>(d)]);
  }
  return DispatchType(TypeList<float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(static_cast<size_t>(signal.num_elements()));
      CopyBlock(dims, run.input<T>(0), in, x.data(), signal);
      for (int d = 1; d <= dims; ++d) {
        TransformAxis(x, signal, signal.rank() - d, FftDirection::kForward);
      }
      CopyBlock(dims, x.data(), signal, run.output<std::complex<T>>(0), out);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFft(PrepareContext& p, int dims) {
  p.InputNotRead(1);
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  const int last = out.rank() - 1;
  Shape half = out;  // the part of the spectrum that is read
  if (out.dim(last) > 0) half.set_dim(last, out.dim(last) / 2 + 1);
  return DispatchType(TypeList<float, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<Complex> x(static_cast<size_t>(half.num_elements()));
      CopyBlock(dims, run.input<std::complex<T>>(0), in, x.data(), half);
      for (int d = 2; d <= dims; ++d)
        TransformAxis(x, half, half.rank() - d, FftDirection::kInverse);
      // Along the last dimension, the other half is the complex conjugate.
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
      TransformAxis(whole, out, last, FftDirection::kInverse);
      std::transform(whole.begin(), whole.end(), run.output<T>(0),
                     [](const Complex& v) { return static_cast<T>(v.real()); });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon

// The discrete Fourier transform of one line of complex numbers, in double precision.
//
//   LineFft fft(n);
//   fft.Forward(line);   // in place; Inverse scales by 1/n
#ifndef TENON_KERNELS_FFT_LINE_FFT_H_
#define TENON_KERNELS_FFT_LINE_FFT_H_

#include <complex>
#include <cstdint>
#include <unsupported/Eigen/FFT>
#include <vector>

namespace tenon {

class LineFft {
 public:
  using Complex = std::complex<double>;

  explicit LineFft(int64_t n);
  void Forward(std::vector<Complex>& line);
  void Inverse(std::vector<Complex>& line);

 private:
  void Chirp(std::vector<Complex>& line);

  const int64_t n_;
  Eigen::FFT<double> fft_;
  std::vector<Complex> out_;
  // If n has a large prime factor: Bluestein's algorithm. With w(k) = exp(-i pi k^2 / n), the
  // transform of x is w times the convolution of x w with 1/w, computed by transforms whose size is
  // a power of 2. Otherwise empty.
  std::vector<Complex> chirp_;
  std::vector<Complex> kernel_;  // the transform of 1/w
};

}  // namespace tenon

#endif  // TENON_KERNELS_FFT_LINE_FFT_H_

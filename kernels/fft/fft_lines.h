// Discrete Fourier transforms of several lines of floats or doubles at once: each vector lane holds
// one line, so that every butterfly is vector code without shuffles, whatever the radix.
#ifndef TENON_KERNELS_FFT_FFT_LINES_H_
#define TENON_KERNELS_FFT_FFT_LINES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

// The tables of transforms of one length, in Stockham's order: stage after stage reads one buffer
// and writes another, and the result is in its natural order.
template <typename T>
struct FftTables {
  struct Stage {
    size_t radix = 0;
    size_t span = 0;    // butterflies of different twiddle factors
    size_t stride = 0;  // butterflies that share them
    // For each of `span`, for each of radix - 1 factors: real and imaginary part.
    std::vector<T> twiddles;
    // For radices without code of their own: exp(-2 pi i k / radix).
    std::vector<T> roots;
  };
  size_t points = 0;
  std::vector<Stage> stages;
  // exp(-pi i k / points) for k = 0 … points, of real transforms of 2 * points.
  std::vector<T> half_turns;
};

// FftTables::half_turns.
template <typename T>
std::vector<T> HalfTurns(int64_t points);
// Whether n is a product of factors for which there are stages.
bool HasFftStages(int64_t n);
// Without stages if the length has none.
template <typename T>
FftTables<T> MakeFftTables(int64_t points, bool real);

// Bluestein's algorithm, for lengths n with large prime factors. With w(k) = exp(-i pi k^2 / n),
// the transform of x is w times the convolution of x w with 1/w, computed by two transforms of
// `padded` points. All are pairs of real and imaginary parts.
template <typename T>
struct FftChirp {
  int64_t padded = 0;
  std::vector<T> chirp;    // w
  std::vector<T> inverse;  // 1/w
  std::vector<T> kernel;   // the transform of 1/w, divided by the padded length
};
// FftChirp::padded: at least 2 n - 1, and of what is, that which takes least time.
int64_t PaddedPoints(int64_t n);
// Results are multiplied by `scale`.
template <typename T>
FftChirp<T> MakeFftChirp(int64_t n, double scale = 1);

// Buffers hold points x {real, imaginary} x `lanes` numbers: rows of one number of each line.
template <typename T>
struct FftLines {
  size_t lanes;
  // Transforms `x` forward; uses `y`. Returns the one of them that has the result.
  T* (*transform)(const FftTables<T>& tables, T* x, T* y);
  // From the transform of z[k] = x[2k] + i x[2k+1] to the points + 1 values of x's own spectrum.
  void (*split_real)(const FftTables<T>& tables, const T* z, T* spectrum);
  // From points + 1 values of a spectrum to what, transformed with real and imaginary parts
  // swapped, gives the real signal times 2 * points.
  void (*join_real)(const FftTables<T>& tables, const T* spectrum, T* z);
  // Numbers [begin, end), begin > 0, of the same for one line of pairs, n = points, by vectors:
  // return the first number that is left. The joined numbers are not swapped.
  size_t (*split_line)(const T* half_turns, size_t n, size_t begin, size_t end, const T* z,
                       T* spectrum);
  size_t (*join_line)(const T* half_turns, size_t n, size_t begin, size_t end, const T* spectrum,
                      T* z);
  // Multiplies n complex numbers of each line by factors; with `swap`, swaps real and imaginary
  // parts afterwards.
  void (*multiply)(const T* factors, size_t n, bool swap, T* x);
  // The same for one line of pairs, from one place to another or the same: returns the number of
  // those done, all but the last few.
  size_t (*multiply_line)(const T* factors, size_t n, bool swap, const T* from, T* to);
  // The same with a factor for each number of each line, in rows like those of x. Factors without
  // an imaginary part are 1.
  void (*twist)(const T* factors, size_t n, T* x);

  // Row i ^ flip, i < n, is element i of each line. flip: 0 or 1 (then n is even).
  void (*load)(const T* const* lines, size_t n, size_t flip, T* x);
  // The inverse for the first `count` lines, multiplied by `scale`.
  void (*store)(const T* x, size_t n, size_t flip, T scale, size_t count, T* const* lines);
  // The same for lines that are neighbors: complex number k of the first is at 2 k `step`.
  void (*load_neighbors)(const T* first, size_t step, size_t numbers, size_t flip, T* x);
  void (*store_neighbors)(const T* x, size_t step, size_t numbers, size_t flip, T scale, T* first);
};
template <typename T>
FftLines<T> FindFftLines();

}  // namespace tenon

#endif  // TENON_KERNELS_FFT_FFT_LINES_H_

#include "kernels/fft/long_lines.h"

#include <algorithm>
#include <complex>
#include <utility>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// Below, there is little to gain.
constexpr int64_t kLeastPoints = 256;
// Above, so many lines at a time fall out of the second-level cache.
constexpr int64_t kMostPointsInLanes = int64_t{1} << 12;
// The factors of longer lines would take too much memory.
constexpr int64_t kMostPointsOfLongLines = int64_t{1} << 23;

// Numbers computed by the passes over matrices of `rows` rows, with those of empty lanes.
int64_t NumbersComputed(int64_t lines, int64_t rows, int64_t columns, int64_t lanes) {
  return (rows * CeilDiv(lines * columns, lanes) + columns * CeilDiv(lines * rows, lanes)) * lanes;
}

// The rows of the matrix that costs least; 0 if there is none.
int64_t RowsFor(int64_t lines, int64_t points, int64_t lanes) {
  int64_t best = 0, least = 0;
  for (int64_t rows = 2; rows * rows <= points; ++rows) {
    if (points % rows != 0 || !HasFftStages(rows) || !HasFftStages(points / rows)) continue;
    const int64_t numbers = NumbersComputed(lines, rows, points / rows, lanes);
    if (best == 0 || numbers <= least) {
      best = rows;
      least = numbers;
    }
  }
  return best;
}

int64_t BufferNumbers(int64_t lines, int64_t points) {
  constexpr int64_t kAligned = 64;
  return CeilDiv(2 * lines * points, kAligned) * kAligned;
}

bool IsReal(LineForm form) { return form == LineForm::kReal || form == LineForm::kRealInverse; }

}  // namespace

template <typename T>
absl::StatusOr<LongLines<T>> LongLines<T>::Make(LineForm form, int64_t lines, int64_t n,
                                                int threads) {
  const bool real = IsReal(form);
  if (real && n % 2 != 0) return Unimplemented("real signals of odd length");
  const int64_t points = real ? n / 2 : n;
  const auto lanes = static_cast<int64_t>(FindFftLines<T>().lanes);
  if (points < kLeastPoints || points > kMostPointsOfLongLines) {
    return Unimplemented("the lines are too short or too long");
  }
  const int64_t rows = RowsFor(lines, points, lanes);
  const int64_t in_lanes = CeilDiv(lines, lanes) * lanes * points;
  if (rows == 0 || (points <= kMostPointsInLanes &&
                    NumbersComputed(lines, rows, points / rows, lanes) > in_lanes)) {
    return Unimplemented("the points do not make a matrix that fills the lanes");
  }
  const bool inverse = form == LineForm::kInverse || form == LineForm::kRealInverse;
  const LineForm pass = inverse ? LineForm::kInverse : LineForm::kForward;
  const Shape shape({lines, rows, points / rows});
  TENON_ASSIGN_OR_RETURN(LinePass<T> along_columns,
                         LinePass<T>::Make(pass, rows, 1, shape, shape, threads));
  TENON_ASSIGN_OR_RETURN(LinePass<T> along_rows,
                         LinePass<T>::Make(pass, points / rows, 2, shape, shape, threads));
  along_columns.TwistColumns();
  along_rows.TransposeOutput();
  LongLines result(std::move(along_columns), std::move(along_rows));
  result.form_ = form;
  result.lines_ = lines;
  result.points_ = points;
  if (real) result.half_turns_ = HalfTurns<T>(points);
  result.loops_ = FindFftLines<T>();
  result.threads_ = threads;
  return result;
}

template <typename T>
int64_t LongLines<T>::ScratchNumbers() const {
  const int64_t buffer = BufferNumbers(lines_, points_);
  return (IsReal(form_) ? 2 : 1) * buffer +
         std::max(columns_.ScratchNumbers(), rows_.ScratchNumbers());
}

template <typename T>
void LongLines<T>::Run(const T* in, T* out, T* scratch) const {
  const int64_t buffer = BufferNumbers(lines_, points_);
  T* const between = std::exchange(scratch, scratch + buffer);
  T* const z = scratch;
  if (IsReal(form_)) scratch += buffer;
  if (form_ == LineForm::kRealInverse) Join(in, z);
  columns_.Run(form_ == LineForm::kRealInverse ? z : in, between, scratch);
  rows_.Run(between, form_ == LineForm::kReal ? z : out, scratch);
  if (form_ == LineForm::kReal) Split(z, out);
}

// Calls f(line, begin, end) for parts of `lines` lines of n numbers. The parts do not depend on the
// number of threads.
template <typename T>
template <typename F>
void LongLines<T>::ForParts(int64_t n, F f) const {
  constexpr int64_t kPart = 1024;
  const int64_t parts = CeilDiv(n, kPart);
  ParallelFor(threads_, lines_ * parts, ParallelGrain(kPart), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % parts * kPart;
      f(i / parts, first, std::min(first + kPart, n));
    }
  });
}

// With E and O the spectra of the even and the odd elements, z's is E + i O.
template <typename T>
void LongLines<T>::Split(const T* all_z, T* spectra) const {
  const int64_t n = points_;
  ForParts(n + 1, [&](int64_t line, int64_t begin, int64_t end) {
    const T* const z = all_z + 2 * line * n;
    T* const spectrum = spectra + 2 * line * (n + 1);
    const auto number = [&](int64_t k) {
      const T *const a = z + 2 * (k == n ? 0 : k), *const b = z + 2 * (k == 0 ? 0 : n - k);
      const T even_re = a[0] + b[0], even_im = a[1] - b[1];
      const T odd_re = a[1] + b[1], odd_im = b[0] - a[0];
      const T* const turn = half_turns_.data() + 2 * k;
      const T re = turn[0], im = turn[1];
      spectrum[2 * k] = T(0.5) * (even_re + (odd_re * re - odd_im * im));
      spectrum[2 * k + 1] = T(0.5) * (even_im + (odd_re * im + odd_im * re));
    };
    number(begin);
    int64_t k = VectorPart(loops_.split_line, begin + 1, std::min(end, n), z, spectrum);
    for (; k < end; ++k) number(k);
  });
}

template <typename T>
void LongLines<T>::Join(const T* spectra, T* all_z) const {
  const int64_t n = points_;
  ForParts(n, [&](int64_t line, int64_t begin, int64_t end) {
    const T* const spectrum = spectra + 2 * line * (n + 1);
    T* const z = all_z + 2 * line * n;
    const auto number = [&](int64_t k) {
      const T *const a = spectrum + 2 * k, *const b = spectrum + 2 * (n - k);
      // The spectrum of a real signal is real at both ends; what else is there does not count.
      const T a_im = k == 0 ? T(0) : a[1], b_im = k == 0 ? T(0) : b[1];
      const T even_re = a[0] + b[0], even_im = a_im - b_im;
      const T odd_re = a[0] - b[0], odd_im = a_im + b_im;
      // Turned back, times i.
      const T* const turn = half_turns_.data() + 2 * k;
      const T re = turn[0], im = turn[1];
      z[2 * k] = T(0.5) * (even_re + (odd_re * im - odd_im * re));
      z[2 * k + 1] = T(0.5) * (even_im + (odd_re * re + odd_im * im));
    };
    number(begin);
    int64_t k = VectorPart(loops_.join_line, begin + 1, end, spectrum, z);
    for (; k < end; ++k) number(k);
  });
}

template class LongLines<float>;
template class LongLines<double>;

}  // namespace tenon

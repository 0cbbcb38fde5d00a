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
// The same for those of a LinePass with a chirp. (16 lines of 20,011 points: 2.6 ms, 3.9 as long
// lines; 4 lines: 2.3 and 0.8; Zen 4.)
constexpr int64_t kMostChirpedInLanes = int64_t{1} << 15;
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

// to[k] = from[k] * factors[k], of n complex numbers; see FftLines.
template <typename T>
void MultiplyLine(const FftLines<T>& loops, const T* factors, int64_t n, bool swap, const T* from,
                  T* to) {
  const size_t count = static_cast<size_t>(n);
  for (size_t k = loops.multiply_line(factors, count, swap, from, to); k < count; ++k) {
    const T *const a = from + 2 * k, *const b = factors + 2 * k;
    const T re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    to[2 * k] = swap ? im : re;
    to[2 * k + 1] = swap ? re : im;
  }
}

bool IsReal(LineForm form) { return form == LineForm::kReal || form == LineForm::kRealInverse; }

}  // namespace

template <typename T>
absl::StatusOr<LongLines<T>> LongLines<T>::Make(LineForm form, int64_t lines, int64_t n,
                                                int threads) {
  const bool halved = IsReal(form) && n % 2 == 0;
  const int64_t points = halved ? n / 2 : n;
  const bool chirped = !HasFftStages(points);
  if (IsReal(form) && !halved && !chirped) return Unimplemented("real signals of odd length");
  if (points > kMostPointsOfLongLines) return Unimplemented("the lines are too long");
  const int64_t length = chirped ? PaddedPoints(points) : points;
  if (length < kLeastPoints) return Unimplemented("the lines are too short");
  const auto lanes = static_cast<int64_t>(FindFftLines<T>().lanes);
  const int64_t rows = RowsFor(lines, length, lanes);
  const int64_t in_lanes = CeilDiv(lines, lanes) * lanes * length;
  const int64_t most_in_lanes = chirped ? kMostChirpedInLanes : kMostPointsInLanes;
  if (rows == 0 ||
      (points <= most_in_lanes && NumbersComputed(lines, rows, length / rows, lanes) > in_lanes)) {
    return Unimplemented("the points do not make a matrix that fills the lanes");
  }
  const bool inverse = form == LineForm::kInverse || form == LineForm::kRealInverse;
  const LineForm direction = inverse ? LineForm::kInverse : LineForm::kForward;
  const LineForm pass = chirped ? LineForm::kForward : direction;
  const Shape shape({lines, rows, length / rows});
  TENON_ASSIGN_OR_RETURN(LinePass<T> along_columns,
                         LinePass<T>::Make(pass, rows, 1, shape, shape, threads));
  TENON_ASSIGN_OR_RETURN(LinePass<T> along_rows,
                         LinePass<T>::Make(pass, length / rows, 2, shape, shape, threads));
  along_columns.TwistColumns();
  along_rows.TransposeOutput();
  LongLines result(std::move(along_columns), std::move(along_rows));
  result.form_ = form;
  result.complex_form_ = halved ? direction : form;
  result.lines_ = lines;
  result.points_ = points;
  if (halved) result.half_turns_ = HalfTurns<T>(points);
  if (chirped)
    result.chirp_ = MakeFftChirp<T>(points, inverse ? 1.0 / static_cast<double>(points) : 1);
  result.loops_ = FindFftLines<T>();
  result.threads_ = threads;
  return result;
}

template <typename T>
int64_t LongLines<T>::ScratchNumbers() const {
  const int64_t transform = BufferNumbers(lines_, chirped() ? chirp_.padded : points_);
  return (chirped() ? 2 : 1) * transform + (halved() ? BufferNumbers(lines_, points_) : 0) +
         std::max(columns_.ScratchNumbers(), rows_.ScratchNumbers());
}

template <typename T>
void LongLines<T>::Run(const T* in, T* out, T* scratch) const {
  if (!halved()) return Transform(in, out, scratch);
  T* const z = std::exchange(scratch, scratch + BufferNumbers(lines_, points_));
  if (form_ == LineForm::kRealInverse) {
    Join(in, z);
    Transform(z, out, scratch);
  } else {
    Transform(in, z, scratch);
    Split(z, out);
  }
}

template <typename T>
void LongLines<T>::Transform(const T* in, T* out, T* scratch) const {
  if (chirped()) return TransformChirped(in, out, scratch);
  T* const between = std::exchange(scratch, scratch + BufferNumbers(lines_, points_));
  columns_.Run(in, between, scratch);
  rows_.Run(between, out, scratch);
}

// As LinePass::Transform.
template <typename T>
void LongLines<T>::TransformChirped(const T* in, T* out, T* scratch) const {
  const int64_t padded = chirp_.padded, n = points_, half = n / 2 + 1;
  const int64_t numbers_in = complex_form_ == LineForm::kRealInverse ? 2 * half
                             : complex_form_ == LineForm::kReal      ? n
                                                                     : 2 * n;
  const int64_t results = complex_form_ == LineForm::kReal ? half : n;
  const int64_t numbers_out = complex_form_ == LineForm::kRealInverse ? n : 2 * results;
  T* const x = std::exchange(scratch, scratch + BufferNumbers(lines_, padded));
  T* const y = std::exchange(scratch, scratch + BufferNumbers(lines_, padded));
  ForParts(padded, [&](int64_t line, int64_t begin, int64_t end) {
    T* const to = x + 2 * line * padded;
    const int64_t filled = std::clamp(n, begin, end);
    LoadChirped(in + line * numbers_in, begin, filled, to);
    std::fill(to + 2 * filled, to + 2 * end, T(0));
  });
  columns_.Run(x, x, scratch);
  rows_.Run(x, y, scratch);
  ForParts(padded, [&](int64_t line, int64_t begin, int64_t end) {
    T* const to = y + 2 * (line * padded + begin);
    MultiplyLine(loops_, chirp_.kernel.data() + 2 * begin, end - begin, /*swap=*/true, to, to);
  });
  columns_.Run(y, y, scratch);
  rows_.Run(y, x, scratch);
  ForParts(results, [&](int64_t line, int64_t begin, int64_t end) {
    StoreChirped(x + 2 * line * padded, begin, end, out + line * numbers_out);
  });
}

template <typename T>
void LongLines<T>::LoadChirped(const T* line, int64_t begin, int64_t end, T* padded) const {
  const T *const w = chirp_.chirp.data(), *const inverse = chirp_.inverse.data();
  switch (complex_form_) {
    case LineForm::kForward:
      return MultiplyLine(loops_, w + 2 * begin, end - begin, /*swap=*/false, line + 2 * begin,
                          padded + 2 * begin);
    case LineForm::kInverse:
      // What is swapped, times w, is the swapped product with 1/w.
      return MultiplyLine(loops_, inverse + 2 * begin, end - begin, /*swap=*/true, line + 2 * begin,
                          padded + 2 * begin);
    case LineForm::kReal:
      for (int64_t k = begin; k < end; ++k) {
        padded[2 * k] = line[k] * w[2 * k];
        padded[2 * k + 1] = line[k] * w[2 * k + 1];
      }
      return;
    case LineForm::kRealInverse:
      // The other half of the spectrum is the conjugate of the first, whose first number is real.
      for (int64_t k = begin; k < end; ++k) {
        const bool other = 2 * k > points_;
        const T* const v = line + 2 * (other ? points_ - k : k);
        const T re = v[0], im = k == 0 ? T(0) : other ? -v[1] : v[1];
        padded[2 * k] = re * inverse[2 * k + 1] + im * inverse[2 * k];
        padded[2 * k + 1] = re * inverse[2 * k] - im * inverse[2 * k + 1];
      }
  }
}

template <typename T>
void LongLines<T>::StoreChirped(const T* padded, int64_t begin, int64_t end, T* line) const {
  const T* const inverse = chirp_.inverse.data();
  if (complex_form_ == LineForm::kRealInverse) {
    for (int64_t k = begin; k < end; ++k) {
      line[k] = padded[2 * k] * inverse[2 * k] - padded[2 * k + 1] * inverse[2 * k + 1];
    }
    return;
  }
  MultiplyLine(loops_, inverse + 2 * begin, end - begin,
               /*swap=*/complex_form_ != LineForm::kInverse, padded + 2 * begin, line + 2 * begin);
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

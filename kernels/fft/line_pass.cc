#include "kernels/fft/line_pass.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

constexpr size_t kMostLanes = 64;
// Above, a group's buffers fall out of the caches.
constexpr int64_t kMostPoints = 1 << 16;
// A group costs the same for one line: long ones must fill a part of the lanes.
constexpr int64_t kMostPointsOfOneLine = 1 << 13;

}  // namespace

template <typename T>
int64_t LinePass<T>::Side::Offset(const std::vector<int64_t>& counts, int64_t line) const {
  int64_t offset = 0;
  for (size_t d = counts.size(); d-- > 0;) {
    offset += line % counts[d] * strides[d];
    line /= counts[d];
  }
  return offset;
}

template <typename T>
absl::StatusOr<LinePass<T>> LinePass<T>::Make(LineForm form, int64_t n, int axis,
                                              const Shape& input, const Shape& output,
                                              int threads) {
  LinePass pass;
  pass.form_ = form;
  pass.n_ = n;
  const bool real = form == LineForm::kReal || form == LineForm::kRealInverse;
  pass.halved_ = real && n % 2 == 0;
  const int64_t points = pass.halved_ ? n / 2 : n;
  for (int d = 0; d < output.rank(); ++d) {
    const int64_t from = Product(input, d + 1, input.rank());
    const int64_t to = Product(output, d + 1, output.rank());
    if (d == axis) {
      pass.in_.step = from;
      pass.out_.step = to;
      continue;
    }
    if (input.dim(d) < output.dim(d)) return Unimplemented("the input is padded");
    pass.counts_.push_back(output.dim(d));
    pass.in_.strides.push_back(from);
    pass.out_.strides.push_back(to);
    pass.num_lines_ *= output.dim(d);
  }
  const bool reads_half = form == LineForm::kRealInverse;
  if (input.dim(axis) < (reads_half ? n / 2 + 1 : n)) return Unimplemented("the input is padded");
  if (points < 1) return Unimplemented("there are no points");
  pass.lines_ = FindFftLines<T>();
  const auto lanes = static_cast<int64_t>(pass.lines_.lanes);
  if (points > kMostPoints || (points > kMostPointsOfOneLine && 8 * pass.num_lines_ < lanes)) {
    return Unimplemented("the lines are too long for their number");
  }
  pass.tables_ = MakeFftTables<T>(points, pass.halved_);
  if (pass.tables_.stages.empty() && points > 1) {
    pass.chirp_ = MakeFftChirp<T>(points);
    pass.padded_ = MakeFftTables<T>(pass.chirp_.padded, /*real=*/false);
  }
  pass.threads_ = threads;
  const auto length = static_cast<double>(std::max(points, 2 * pass.chirp_.padded));
  pass.grain_ = ParallelGrain(length * (std::log2(length + 1) * 0.6 + 6));
  return pass;
}

template <typename T>
void LinePass<T>::TwistColumns() {
  const auto lanes = static_cast<int64_t>(lines_.lanes);
  const int64_t columns = counts_[1], turn = n_ * columns;
  const int64_t groups = CeilDiv(columns % lanes == 0 ? columns : num_lines_, lanes);
  twist_groups_ = groups;
  twist_ = hwy::AllocateAligned<T>(static_cast<size_t>(groups * n_ * 2 * lanes));
  ParallelFor(threads_, groups * n_, ParallelGrain(30.0 * static_cast<double>(lanes)),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  T* const to = twist_.get() + i * 2 * lanes;
                  for (int64_t l = 0; l < lanes; ++l) {
                    const int64_t line = std::min(i / n_ * lanes + l, num_lines_ - 1);
                    const double angle = -2 * std::numbers::pi *
                                         static_cast<double>(i % n_ * (line % columns)) /
                                         static_cast<double>(turn);
                    to[l] = static_cast<T>(std::cos(angle));
                    to[lanes + l] = static_cast<T>(std::sin(angle));
                  }
                }
              });
}

template <typename T>
void LinePass<T>::TransposeOutput() {
  out_.step = counts_[1];
  out_.strides[1] = 1;
}

template <typename T>
int64_t LinePass<T>::ScratchNumbers() const {
  const auto lanes = static_cast<int64_t>(lines_.lanes);
  const int64_t groups = CeilDiv(num_lines_, lanes);
  return ParallelRanges(threads_, groups, grain_) * 4 * lanes * Numbers();
}

template <typename T>
void LinePass<T>::Run(const T* in, T* out, T* scratch) const {
  const auto lanes = static_cast<int64_t>(lines_.lanes);
  const int64_t groups = CeilDiv(num_lines_, lanes), buffer = 2 * lanes * Numbers();
  ParallelForRanges(threads_, groups, grain_, [&](int range, int64_t begin, int64_t end) {
    T* const x = scratch + range * 2 * buffer;
    for (int64_t g = begin; g < end; ++g) Group(g * lanes, in, out, x, x + buffer);
  });
}

template <typename T>
void LinePass<T>::Group(int64_t first, const T* in, T* out, T* x, T* y) const {
  const auto lanes = static_cast<int64_t>(lines_.lanes);
  const int64_t count = std::min(lanes, num_lines_ - first);
  int64_t from[kMostLanes], to[kMostLanes];
  for (int64_t l = 0; l < lanes; ++l) {
    const int64_t line = first + std::min(l, count - 1);  // lanes without a line repeat the last
    from[l] = in_.Offset(counts_, line);
    to[l] = out_.Offset(counts_, line);
  }
  Load(in, from, x);
  if (ToReal() && halved_) {
    lines_.join_real(tables_, x, y);
    std::swap(x, y);
  }
  T* result = Transform(x, y);
  if (twist_ != nullptr) {
    const int64_t group = first / lanes % twist_groups_;
    lines_.twist(twist_.get() + 2 * group * lanes * n_, tables_.points, result);
  }
  if (FromReal() && halved_) {
    T* const spectrum = result == x ? y : x;
    lines_.split_real(tables_, result, spectrum);
    result = spectrum;
  }
  Store(result, to, static_cast<size_t>(count), out);
}

template <typename T>
T* LinePass<T>::Transform(T* x, T* y) const {
  if (chirp_.chirp.empty()) return lines_.transform(tables_, x, y);
  const size_t n = tables_.points, padded = padded_.points;
  lines_.multiply(chirp_.chirp.data(), n, /*swap=*/false, x);
  std::fill_n(x + 2 * n * lines_.lanes, 2 * (padded - n) * lines_.lanes, T(0));
  T* result = lines_.transform(padded_, x, y);
  lines_.multiply(chirp_.kernel.data(), padded, /*swap=*/true, result);
  // The inverse, with real and imaginary parts swapped: a product of what is swapped with 1/w is
  // the swapped product with w.
  result = lines_.transform(padded_, result, result == x ? y : x);
  lines_.multiply(chirp_.inverse.data(), n, /*swap=*/true, result);
  return result;
}

template <typename T>
bool LinePass<T>::Neighbors(const int64_t* offsets) const {
  for (size_t l = 1; l < lines_.lanes; ++l) {
    if (offsets[l] != offsets[l - 1] + 1) return false;
  }
  return true;
}

// An inverse transform is a forward one with real and imaginary parts swapped, before and after.
template <typename T>
void LinePass<T>::Load(const T* in, const int64_t* offsets, T* x) const {
  const size_t lanes = lines_.lanes;
  const T* lines[kMostLanes];
  for (size_t l = 0; l < lanes; ++l) lines[l] = in + (FromReal() ? 1 : 2) * offsets[l];
  if (FromReal()) {
    if (halved_ && in_.step == 1) return lines_.load(lines, static_cast<size_t>(n_), 0, x);
    for (int64_t k = 0; k < n_; ++k) {
      // Even and odd elements of a halved signal are real and imaginary parts.
      T* const to = x + static_cast<size_t>(halved_ ? k : 2 * k) * lanes;
      for (size_t l = 0; l < lanes; ++l) to[l] = lines[l][k * in_.step];
      if (!halved_) std::fill_n(to + lanes, lanes, T(0));
    }
    return;
  }
  const bool swapped = form_ == LineForm::kInverse || (ToReal() && !halved_);
  const size_t flip = swapped ? 1 : 0;
  const int64_t half = n_ / 2 + 1, numbers = ToReal() ? half : n_;
  if (in_.step == 1) {
    lines_.load(lines, static_cast<size_t>(2 * numbers), flip, x);
  } else if (Neighbors(offsets)) {
    lines_.load_neighbors(lines[0], static_cast<size_t>(in_.step), static_cast<size_t>(numbers),
                          flip, x);
  } else {
    for (int64_t k = 0; k < numbers; ++k) {
      T* const to = x + 2 * static_cast<size_t>(k) * lanes;
      for (size_t l = 0; l < lanes; ++l) {
        const T* const value = lines[l] + 2 * k * in_.step;
        to[flip * lanes + l] = value[0];
        to[(1 - flip) * lanes + l] = value[1];
      }
    }
  }
  // The imaginary part of the first number does not count.
  if (ToReal()) std::fill_n(x + (1 - flip) * lanes, lanes, T(0));
  // The other half of the spectrum of a real signal of odd length is its conjugate.
  for (int64_t k = numbers; ToReal() && !halved_ && k < n_; ++k) {
    const T* const from = x + 2 * static_cast<size_t>(n_ - k) * lanes;
    T* const to = x + 2 * static_cast<size_t>(k) * lanes;
    for (size_t l = 0; l < lanes; ++l) {
      to[l] = -from[l];
      to[lanes + l] = from[lanes + l];
    }
  }
}

template <typename T>
void LinePass<T>::Store(const T* x, const int64_t* offsets, size_t count, T* out) const {
  const size_t lanes = lines_.lanes;
  const T scale = form_ == LineForm::kInverse || ToReal() ? T(1) / static_cast<T>(n_) : T(1);
  T* lines[kMostLanes];
  for (size_t l = 0; l < lanes; ++l) lines[l] = out + (ToReal() ? 1 : 2) * offsets[l];
  if (ToReal()) {
    if (halved_ && out_.step == 1) {
      return lines_.store(x, static_cast<size_t>(n_), 1, scale, count, lines);
    }
    for (int64_t k = 0; k < n_; ++k) {
      const size_t number = static_cast<size_t>(halved_ ? k / 2 : k);
      const bool odd = halved_ && k % 2 != 0;
      const T* const from = x + (2 * number + (odd ? 0 : 1)) * lanes;
      for (size_t l = 0; l < count; ++l) lines[l][k * out_.step] = from[l] * scale;
    }
    return;
  }
  const size_t flip = form_ == LineForm::kInverse ? 1 : 0;
  const int64_t numbers = FromReal() ? n_ / 2 + 1 : n_;
  if (out_.step == 1) {
    return lines_.store(x, static_cast<size_t>(2 * numbers), flip, scale, count, lines);
  }
  if (count == lanes && Neighbors(offsets)) {
    return lines_.store_neighbors(x, static_cast<size_t>(out_.step), static_cast<size_t>(numbers),
                                  flip, scale, lines[0]);
  }
  for (int64_t k = 0; k < numbers; ++k) {
    const T* const from = x + 2 * static_cast<size_t>(k) * lanes;
    for (size_t l = 0; l < count; ++l) {
      T* const value = lines[l] + 2 * k * out_.step;
      value[0] = from[flip * lanes + l] * scale;
      value[1] = from[(1 - flip) * lanes + l] * scale;
    }
  }
}

template class LinePass<float>;
template class LinePass<double>;

}  // namespace tenon

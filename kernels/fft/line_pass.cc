#include "kernels/fft/line_pass.h"

#include <algorithm>
#include <cmath>

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

int64_t LinePass::Side::Offset(const std::vector<int64_t>& counts, int64_t line) const {
  int64_t offset = 0;
  for (size_t d = counts.size(); d-- > 0;) {
    offset += line % counts[d] * strides[d];
    line /= counts[d];
  }
  return offset;
}

absl::StatusOr<LinePass> LinePass::Make(Form form, int64_t n, int axis, const Shape& input,
                                        const Shape& output, int threads) {
  LinePass pass;
  pass.form_ = form;
  pass.n_ = n;
  const bool real = form == Form::kReal || form == Form::kRealInverse;
  pass.halved_ = real && n % 2 == 0;
  const int64_t points = pass.halved_ ? n / 2 : n;
  if (!HasFftStages(points)) return Unimplemented("the length has a prime factor above 13");
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
  const bool reads_half = form == Form::kRealInverse;
  if (input.dim(axis) < (reads_half ? n / 2 + 1 : n)) return Unimplemented("the input is padded");
  pass.lines_ = FindFftLines();
  const auto lanes = static_cast<int64_t>(pass.lines_.lanes);
  if (points > kMostPoints || (points > kMostPointsOfOneLine && 8 * pass.num_lines_ < lanes)) {
    return Unimplemented("the lines are too long for their number");
  }
  pass.tables_ = MakeFftTables(points, pass.halved_);
  pass.threads_ = threads;
  const double length = static_cast<double>(points);
  pass.grain_ = ParallelGrain(length * (std::log2(length + 1) * 0.6 + 6));
  return pass;
}

int64_t LinePass::ScratchFloats() const {
  const auto lanes = static_cast<int64_t>(lines_.lanes);
  const int64_t groups = (num_lines_ + lanes - 1) / lanes;
  return ParallelRanges(threads_, groups, grain_) * 4 * lanes * Numbers();
}

void LinePass::Run(const float* in, float* out, float* scratch) const {
  const auto lanes = static_cast<int64_t>(lines_.lanes);
  const int64_t groups = (num_lines_ + lanes - 1) / lanes, buffer = 2 * lanes * Numbers();
  ParallelForRanges(threads_, groups, grain_, [&](int range, int64_t begin, int64_t end) {
    float* const x = scratch + range * 2 * buffer;
    for (int64_t g = begin; g < end; ++g) Group(g * lanes, in, out, x, x + buffer);
  });
}

void LinePass::Group(int64_t first, const float* in, float* out, float* x, float* y) const {
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
  float* result = lines_.transform(tables_, x, y);
  if (FromReal() && halved_) {
    float* const spectrum = result == x ? y : x;
    lines_.split_real(tables_, result, spectrum);
    result = spectrum;
  }
  Store(result, to, static_cast<size_t>(count), out);
}

// An inverse transform is a forward one with real and imaginary parts swapped, before and after.
void LinePass::Load(const float* in, const int64_t* offsets, float* x) const {
  const size_t lanes = lines_.lanes;
  if (FromReal()) {
    for (int64_t k = 0; k < n_; ++k) {
      // Even and odd elements of a halved signal are real and imaginary parts.
      float* const to = x + static_cast<size_t>(halved_ ? k : 2 * k) * lanes;
      for (size_t l = 0; l < lanes; ++l) to[l] = in[offsets[l] + k * in_.step];
      if (!halved_) std::fill_n(to + lanes, lanes, 0.0f);
    }
    return;
  }
  const bool swapped = form_ == Form::kInverse || (ToReal() && !halved_);
  const int64_t half = n_ / 2 + 1, numbers = ToReal() ? half : n_;
  for (int64_t k = 0; k < numbers; ++k) {
    float* const to = x + 2 * static_cast<size_t>(k) * lanes;
    float* const re = swapped ? to + lanes : to;
    float* const im = swapped ? to : to + lanes;
    for (size_t l = 0; l < lanes; ++l) {
      const float* const value = in + 2 * (offsets[l] + k * in_.step);
      re[l] = value[0];
      im[l] = value[1];
    }
    if (ToReal() && k == 0) std::fill_n(im, lanes, 0.0f);
  }
  // The other half of the spectrum of a real signal of odd length is its conjugate.
  for (int64_t k = numbers; ToReal() && !halved_ && k < n_; ++k) {
    const float* const from = x + 2 * static_cast<size_t>(n_ - k) * lanes;
    float* const to = x + 2 * static_cast<size_t>(k) * lanes;
    for (size_t l = 0; l < lanes; ++l) {
      to[l] = -from[l];
      to[lanes + l] = from[lanes + l];
    }
  }
}

void LinePass::Store(const float* x, const int64_t* offsets, size_t lines, float* out) const {
  const size_t lanes = lines_.lanes;
  const float scale = 1.0f / static_cast<float>(n_);
  if (ToReal()) {
    for (int64_t k = 0; k < n_; ++k) {
      const size_t number = static_cast<size_t>(halved_ ? k / 2 : k);
      const bool odd = halved_ && k % 2 != 0;
      const float* const from = x + (2 * number + (odd ? 0 : 1)) * lanes;
      for (size_t l = 0; l < lines; ++l) out[offsets[l] + k * out_.step] = from[l] * scale;
    }
    return;
  }
  const bool swapped = form_ == Form::kInverse;
  const int64_t numbers = FromReal() ? n_ / 2 + 1 : n_;
  for (int64_t k = 0; k < numbers; ++k) {
    const float* const from = x + 2 * static_cast<size_t>(k) * lanes;
    for (size_t l = 0; l < lines; ++l) {
      float* const value = out + 2 * (offsets[l] + k * out_.step);
      value[0] = swapped ? from[lanes + l] * scale : from[l];
      value[1] = swapped ? from[l] * scale : from[lanes + l];
    }
  }
}

}  // namespace tenon

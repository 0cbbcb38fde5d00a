// A task is a line of the result for the channels of a few vectors. Its outputs are computed in
// pieces, so that words and sums stay in the first-level cache.
#include "kernels/convolution/depthwise_lines.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

constexpr size_t kPiece = 32;                     // outputs
constexpr size_t kVectors = 4;                    // of channels
constexpr size_t kMostColumns = size_t{1} << 14;  // of the image, which a piece reads

// Words [vectors][width][words][lanes] of DepthwiseSums::filter, filled up with zeros, and sums.
class DepthwiseLayout final : public PackedLayout {
 public:
  explicit DepthwiseLayout(const DepthwiseFilter& filter)
      : f_(filter),
        tap_bytes_(sizeof(int32_t) / f_.word_taps),
        key_(absl::StrCat("words of depthwise filters of ", f_.element_bytes(), " bytes ",
                          f_.height, "x", f_.width, "x", f_.channels, "/", f_.lanes, ",",
                          f_.word_taps)) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override {
    const size_t sums = f_.form == NarrowForm::kBfloat16 ? 0 : f_.vectors() * f_.lanes;
    return (f_.sums_at() + sums) * sizeof(int32_t);
  }
  absl::Status Pack(const void* plain, void* packed) const override {
    std::memset(packed, 0, bytes());
    auto* const words = static_cast<int32_t*>(packed);
    const bool integers = f_.form != NarrowForm::kBfloat16;
    ForEach(
        [&, from = static_cast<const char*>(plain)](size_t at, size_t word, size_t tap, size_t c) {
          char* const to = reinterpret_cast<char*>(words + word) + tap * tap_bytes_;
          if (!integers) {
            std::memcpy(to, from + 2 * at, 2);
            return;
          }
          const int16_t wide = static_cast<int8_t>(from[at]);
          std::memcpy(to, &wide, tap_bytes_);  // little-endian
          int32_t& sum = words[f_.sums_at() + c];
          sum = WrapAdd(sum, int32_t{wide});
        });
    return absl::OkStatus();
  }
  absl::Status Unpack(const void* packed, void* plain) const override {
    const auto* const words = static_cast<const int32_t*>(packed);
    const size_t bytes = f_.element_bytes();
    ForEach([&, to = static_cast<char*>(plain)](size_t at, size_t word, size_t tap, size_t) {
      std::memcpy(to + bytes * at, reinterpret_cast<const char*>(words + word) + tap * tap_bytes_,
                  bytes);
    });
    return absl::OkStatus();
  }

 private:
  // fn(element of the plain filter, its word, its tap there, its channel).
  template <typename F>
  void ForEach(F fn) const {
    size_t at = 0;
    for (size_t y = 0; y < f_.height; ++y) {
      for (size_t x = 0; x < f_.width; ++x) {
        for (size_t c = 0; c < f_.channels; ++c, ++at) {
          const size_t vector = c / f_.lanes;
          const size_t word = vector * f_.vector_words() +
                              (x * f_.words() + y / f_.word_taps) * f_.lanes + c % f_.lanes;
          fn(at, word, y % f_.word_taps, c);
        }
      }
    }
  }

  const DepthwiseFilter f_;
  const size_t tap_bytes_;
  const std::string key_;
};

}  // namespace

absl::StatusOr<DepthwiseLines> DepthwiseLines::Make(PrepareContext& p, const ConvGeometry& g,
                                                    NarrowForm form) {
  if (!g.depthwise || g.out_per_group() != 1 || !g.attrs.channels_last || g.attrs.spatial != 2) {
    return Unimplemented("a convolution of another form");
  }
  if (p.constant(1) == nullptr) return Unimplemented("a filter that is not constant");
  if (p.input_shape(0).num_elements() == 0 || p.input_shape(1).num_elements() == 0 ||
      p.output_shape(0).num_elements() == 0) {
    return Unimplemented("empty");
  }
  DepthwiseLines lines;
  lines.g_ = g;
  lines.filter_.width = static_cast<size_t>(g.window[1]);
  if (lines.PieceColumns() > kMostColumns) return Unimplemented("windows that are too wide");
  lines.loops_ = FindDepthwiseLoops(form);
  if (lines.loops_ == nullptr) return Unimplemented("no loops for this CPU");
  DepthwiseFilter& f = lines.filter_;
  f.height = static_cast<size_t>(g.window[0]);
  f.channels = static_cast<size_t>(g.in_channels);
  f.form = form;
  f.lanes = lines.loops_->lanes;
  f.word_taps = lines.loops_->word_taps;
  TENON_ASSIGN_OR_RETURN(lines.weights_,
                         PackConstant(*p.constant(1), std::make_shared<DepthwiseLayout>(f)));
  p.InputNotRead(1);
  lines.start_.assign(f.vectors() * f.lanes, 0);
  return lines;
}

void DepthwiseLines::SetZero(uint8_t flip, uint8_t zero) {
  flip_ = flip;
  zero_ = zero;
  const int32_t* const sums = words() + filter_.sums_at();
  for (size_t c = 0; c < start_.size(); ++c) start_[c] = WrapMul(-int32_t{zero}, sums[c]);
  padding_.fill(static_cast<char>(zero ^ flip));
}

size_t DepthwiseLines::PlanRanges(int threads, double ns) {
  threads_ = threads;
  const DepthwiseFilter& f = filter_;
  words_bytes_ = RoundUp(PieceColumns() * f.words() * f.lanes * sizeof(int32_t), kCacheLine);
  range_bytes_ = words_bytes_ + kPiece * kVectors * f.lanes * sizeof(int32_t);
  // A word takes about half a nanosecond for each vector.
  const double of_vector = ns + 0.5 * static_cast<double>(f.width * f.words());
  grain_ = ParallelGrain(static_cast<double>(std::min(f.vectors(), kVectors)) *
                         static_cast<double>(g_.out[1]) * of_vector);
  return range_bytes_ * static_cast<size_t>(ParallelRanges(threads_, tasks(), grain_));
}

void DepthwiseLines::Run(const void* images, void* scratch,
                         absl::FunctionRef<void(const NarrowSums&)> fn) const {
  const auto width = static_cast<size_t>(g_.out[1]);
  ParallelForRanges(threads_, tasks(), grain_, [&](int range, int64_t begin, int64_t end) {
    char* const own = static_cast<char*>(scratch) + static_cast<size_t>(range) * range_bytes_;
    for (int64_t task = begin; task < end; ++task) {
      const size_t vector = static_cast<size_t>(task % parts()) * kVectors;
      for (size_t x = 0; x < width; x += kPiece) {
        RunPiece(static_cast<const char*>(images), task / parts(), x, std::min(kPiece, width - x),
                 vector, std::min(kVectors, filter_.vectors() - vector), own, fn);
      }
    }
  });
}

int64_t DepthwiseLines::parts() const {
  return static_cast<int64_t>((filter_.vectors() + kVectors - 1) / kVectors);
}

// That `outputs` adjacent windows read.
size_t DepthwiseLines::Columns(size_t outputs) const {
  return (outputs - 1) * static_cast<size_t>(g_.attrs.strides[1]) +
         (filter_.width - 1) * static_cast<size_t>(g_.attrs.dilations[1]) + 1;
}

size_t DepthwiseLines::PieceColumns() const {
  return Columns(std::min(kPiece, static_cast<size_t>(g_.out[1])));
}

void DepthwiseLines::RunPiece(const char* images, int64_t line, size_t x, size_t outputs,
                              size_t vector, size_t vectors, char* scratch,
                              absl::FunctionRef<void(const NarrowSums&)> fn) const {
  const DepthwiseFilter& f = filter_;
  auto* const columns = reinterpret_cast<int32_t*>(scratch);
  auto* const sums = reinterpret_cast<int32_t*>(scratch + words_bytes_);
  DepthwiseSums s;
  s.words = columns;
  s.column_words = s.window_words = f.words();
  s.window = f.width;
  s.stride = static_cast<size_t>(g_.attrs.strides[1]);
  s.dilation = static_cast<size_t>(g_.attrs.dilations[1]);
  s.outputs = outputs;
  s.sums_row = vectors * f.lanes;
  Source from = SourceOf(images, line, static_cast<int64_t>(x), outputs, columns);
  from.columns.rows = from.rows.data();
  from.columns.steps = from.steps.data();
  from.Skip(vector * f.lanes * f.element_bytes());
  for (size_t v = 0; v < vectors; ++v, from.Skip(f.lanes * f.element_bytes())) {
    from.columns.channels = std::min(f.lanes, f.channels - (vector + v) * f.lanes);
    if (from.columns.columns > 0) loops_->interleave(from.columns);
    s.filter = words() + (vector + v) * f.vector_words();
    s.start = start_.data() + (vector + v) * f.lanes;
    s.sums = sums + v * f.lanes;
    loops_->sum(s);
  }
  const size_t channel = vector * f.lanes;
  fn({sums, s.sums_row, static_cast<size_t>(line * g_.out[1]) + x, outputs, channel,
      std::min(s.sums_row, f.channels - channel)});
}

// Also fills the words of columns outside the image, which all channels share.
DepthwiseLines::Source DepthwiseLines::SourceOf(const char* images, int64_t line, int64_t x,
                                                size_t outputs, int32_t* to) const {
  const int64_t y = line % g_.out[0];
  const int64_t left = x * g_.attrs.strides[1] - g_.pads_begin[1];
  const auto n = static_cast<int64_t>(Columns(outputs));
  const int64_t begin = std::clamp<int64_t>(-left, 0, n);
  const int64_t end = std::clamp<int64_t>(g_.in[1] - left, begin, n);
  const size_t column = filter_.words() * filter_.lanes;
  Pad(to, static_cast<size_t>(begin) * column);
  Pad(to + static_cast<size_t>(end) * column, static_cast<size_t>(n - end) * column);
  const auto pixel = static_cast<int64_t>(filter_.channels * filter_.element_bytes());  // bytes
  const char* const image = images + line / g_.out[0] * g_.in[0] * g_.in[1] * pixel;
  Source source;
  source.columns.taps = filter_.height;
  source.columns.columns = static_cast<size_t>(end - begin);
  source.columns.flip = flip_;
  source.columns.words = to + static_cast<size_t>(begin) * column;
  source.columns.column_words = filter_.words();
  for (int64_t k = 0; k < g_.window[0]; ++k) {
    const int64_t iy = y * g_.attrs.strides[0] - g_.pads_begin[0] + k * g_.attrs.dilations[0];
    const bool inside = iy >= 0 && iy < g_.in[0];
    source.rows.push_back(inside ? image + (iy * g_.in[1] + left + begin) * pixel
                                 : padding_.data());
    source.steps.push_back(inside ? static_cast<size_t>(pixel) : 0);
  }
  return source;
}

void DepthwiseLines::Pad(int32_t* words, size_t n) const {
  const uint32_t ones = filter_.word_taps == 4 ? 0x01010101u : 0x00010001u;
  std::fill_n(words, n, static_cast<int32_t>(zero_ * ones));
}

}  // namespace tenon

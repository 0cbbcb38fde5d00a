// A task is a line of the result for the channels of a few vectors. Its outputs are computed in
// pieces, so that words and sums stay in the first-level cache.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/round_up.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/integer_conv.h"
#include "kernels/quantized/integer_depthwise_simd.h"
#include "kernels/quantized/integer_product.h"
#include "kernels/quantized/vector_epilogue.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

constexpr size_t kPiece = 32;   // outputs
constexpr size_t kVectors = 4;  // of channels
constexpr size_t kMostLanes = 64;

// A filter [height, width, channels].
struct DepthwiseFilter {
  size_t height = 0, width = 0, channels = 0;
  size_t lanes = 0, word_taps = 0;

  size_t vectors() const { return (channels + lanes - 1) / lanes; }
  size_t words() const { return (height + word_taps - 1) / word_taps; }  // of a column
  size_t vector_words() const { return width * words() * lanes; }
  // Where the sums of all filters begin, in int32: [vectors][lanes].
  size_t sums_at() const { return vectors() * vector_words(); }
};

// Words [vectors][width][words][lanes] of DepthwiseSums::filter, filled up with zeros, and sums.
class DepthwiseLayout final : public PackedLayout {
 public:
  explicit DepthwiseLayout(const DepthwiseFilter& filter)
      : f_(filter),
        key_(absl::StrCat("words of depthwise integers ", f_.height, "x", f_.width, "x",
                          f_.channels, "/", f_.lanes, ",", f_.word_taps)) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override {
    return (f_.sums_at() + f_.vectors() * f_.lanes) * sizeof(int32_t);
  }
  absl::Status Pack(const void* plain, void* packed) const override {
    std::memset(packed, 0, bytes());
    auto* const words = static_cast<int32_t*>(packed);
    int32_t* const sums = words + f_.sums_at();
    ForEach([&, from = static_cast<const int8_t*>(plain)](size_t at, size_t word, size_t tap,
                                                          size_t c) {
      auto* const to = reinterpret_cast<char*>(words + word);
      if (f_.word_taps == 4) {
        std::memcpy(to + tap, from + at, 1);
      } else {
        const int16_t wide = from[at];
        std::memcpy(to + tap * sizeof(wide), &wide, sizeof(wide));
      }
      sums[c] = WrapAdd(sums[c], int32_t{from[at]});
    });
    return absl::OkStatus();
  }
  absl::Status Unpack(const void* packed, void* plain) const override {
    const auto* const words = static_cast<const int32_t*>(packed);
    ForEach([&, to = static_cast<int8_t*>(plain)](size_t at, size_t word, size_t tap, size_t) {
      // The low byte of a tap.
      std::memcpy(to + at, reinterpret_cast<const char*>(words + word) + tap * (4 / f_.word_taps),
                  1);
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
  const std::string key_;
};

class IntegerDepthwiseKernel final : public Kernel {
 public:
  IntegerDepthwiseKernel(PrepareContext& p, const ConvGeometry& g, const QuantizedFusion& fusion,
                         const DepthwiseFilter& filter, const DepthwiseLoops& loops,
                         LeftNumbers numbers, std::shared_ptr<const PackedWeights> weights)
      : g_(g),
        f_(filter),
        loops_(loops),
        weights_(std::move(weights)),
        numbers_(numbers),
        epilogue_(p, fusion, false, {}),
        threads_(p.services().threads) {
    const int32_t* const sums = words() + f_.sums_at();
    start_.assign(sums, sums + f_.vectors() * f_.lanes);
    for (int32_t& s : start_) s = WrapMul(-int32_t{numbers_.zero}, s);
    padding_.fill(numbers_.zero ^ numbers_.flip);
    piece_columns_ = Columns(std::min(kPiece, static_cast<size_t>(g_.out[1])));
    words_bytes_ = RoundUp(piece_columns_ * f_.words() * f_.lanes * sizeof(int32_t), kCacheLine);
    range_bytes_ = words_bytes_ + kPiece * kVectors * f_.lanes * sizeof(int32_t);
    // A word takes about two instructions for each vector, and the rest some 20.
    const double of_vector = 2.0 * static_cast<double>(f_.width * f_.words()) + 20;
    grain_ = ParallelGrain(static_cast<double>(std::min(f_.vectors(), kVectors)) *
                           static_cast<double>(g_.out[1]) * of_vector / 5);
  }

  absl::Status Prepare(PrepareContext& p) {
    p.RequestScratch(range_bytes_ * static_cast<size_t>(ParallelRanges(threads_, tasks(), grain_)));
    return epilogue_.Prepare(p);
  }

  absl::Status Run(RunContext& r) const override {
    const auto values = epilogue_.Begin(r);
    ParallelForRanges(threads_, tasks(), grain_, [&](int range, int64_t begin, int64_t end) {
      char* const scratch =
          static_cast<char*>(r.scratch()) + static_cast<size_t>(range) * range_bytes_;
      for (int64_t task = begin; task < end; ++task) RunTask(r, *values, task, scratch);
    });
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat("integers:", VectorTargetName(), f_.word_taps == 4 ? "_vnni" : "");
  }
  double Flops() const override { return g_.flops(); }

 private:
  const int32_t* words() const { return static_cast<const int32_t*>(weights_->data()); }
  int64_t parts() const { return static_cast<int64_t>((f_.vectors() + kVectors - 1) / kVectors); }
  int64_t tasks() const { return g_.batch * g_.out[0] * parts(); }
  // That `outputs` adjacent windows read.
  size_t Columns(size_t outputs) const {
    return (outputs - 1) * static_cast<size_t>(g_.attrs.strides[1]) +
           (f_.width - 1) * static_cast<size_t>(g_.attrs.dilations[1]) + 1;
  }

  void RunTask(RunContext& r, const VectorEpilogue::Values& values, int64_t task,
               char* scratch) const {
    const auto width = static_cast<size_t>(g_.out[1]);
    const size_t vector = static_cast<size_t>(task % parts()) * kVectors;
    for (size_t x = 0; x < width; x += kPiece) {
      RunPiece(r, values, task / parts(), x, std::min(kPiece, width - x), vector,
               std::min(kVectors, f_.vectors() - vector), scratch);
    }
  }

  void RunPiece(RunContext& r, const VectorEpilogue::Values& values, int64_t line, size_t x,
                size_t outputs, size_t vector, size_t vectors, char* scratch) const {
    auto* const columns = reinterpret_cast<int32_t*>(scratch);
    auto* const sums = reinterpret_cast<int32_t*>(scratch + words_bytes_);
    DepthwiseSums s;
    s.words = columns;
    s.column_words = s.window_words = f_.words();
    s.window = f_.width;
    s.stride = static_cast<size_t>(g_.attrs.strides[1]);
    s.dilation = static_cast<size_t>(g_.attrs.dilations[1]);
    s.outputs = outputs;
    s.sums_row = vectors * f_.lanes;
    Source from = SourceOf(r.input<uint8_t>(0), line, static_cast<int64_t>(x), outputs, columns);
    from.Skip(vector * f_.lanes);
    for (size_t v = 0; v < vectors; ++v, from.Skip(f_.lanes)) {
      from.columns.channels = std::min(f_.lanes, f_.channels - (vector + v) * f_.lanes);
      from.columns.rows = from.rows.data();
      from.columns.steps = from.steps.data();
      if (from.columns.columns > 0) loops_.interleave(from.columns);
      s.filter = words() + (vector + v) * f_.vector_words();
      s.start = start_.data() + (vector + v) * f_.lanes;
      s.sums = sums + v * f_.lanes;
      loops_.sum(s);
    }
    const size_t channel = vector * f_.lanes;
    const size_t row = static_cast<size_t>(line * g_.out[1]) + x;
    epilogue_.Apply(
        r, values,
        {sums, s.sums_row, row, outputs, channel, std::min(s.sums_row, f_.channels - channel)});
  }

  // The columns of the image that the windows of a piece read.
  struct Source {
    DepthwiseColumns columns;
    absl::InlinedVector<const uint8_t*, 8> rows;
    absl::InlinedVector<size_t, 8> steps;  // 0: a row outside the image

    void Skip(size_t channels) {
      for (size_t k = 0; k < rows.size(); ++k) rows[k] += steps[k] == 0 ? 0 : channels;
    }
  };
  // Also fills the words of columns outside the image, which all channels share.
  Source SourceOf(const uint8_t* data, int64_t line, int64_t x, size_t outputs, int32_t* to) const {
    const int64_t image = line / g_.out[0], y = line % g_.out[0];
    const int64_t left = x * g_.attrs.strides[1] - g_.pads_begin[1];
    const auto n = static_cast<int64_t>(Columns(outputs));
    const int64_t begin = std::clamp<int64_t>(-left, 0, n);
    const int64_t end = std::clamp<int64_t>(g_.in[1] - left, begin, n);
    const size_t column = f_.words() * f_.lanes;
    Pad(to, static_cast<size_t>(begin) * column);
    Pad(to + static_cast<size_t>(end) * column, static_cast<size_t>(n - end) * column);
    Source source;
    source.columns.taps = f_.height;
    source.columns.columns = static_cast<size_t>(end - begin);
    source.columns.flip = numbers_.flip;
    source.columns.words = to + static_cast<size_t>(begin) * column;
    source.columns.column_words = f_.words();
    data += image * g_.in[0] * g_.in[1] * g_.in_channels;
    for (int64_t k = 0; k < g_.window[0]; ++k) {
      const int64_t iy = y * g_.attrs.strides[0] - g_.pads_begin[0] + k * g_.attrs.dilations[0];
      const bool inside = iy >= 0 && iy < g_.in[0];
      source.rows.push_back(inside ? data + (iy * g_.in[1] + left + begin) * g_.in_channels
                                   : padding_.data());
      source.steps.push_back(inside ? f_.channels : 0);
    }
    return source;
  }

  void Pad(int32_t* words, size_t n) const {
    const uint32_t zero = numbers_.zero;
    const uint32_t word = f_.word_taps == 4 ? zero * 0x01010101u : zero * 0x00010001u;
    std::fill_n(words, n, static_cast<int32_t>(word));
  }

  const ConvGeometry g_;
  const DepthwiseFilter f_;
  const DepthwiseLoops& loops_;
  const std::shared_ptr<const PackedWeights> weights_;
  const LeftNumbers numbers_;
  VectorEpilogue epilogue_;
  const int threads_;
  std::vector<int32_t> start_;                 // -zero times the sum of each filter
  std::array<uint8_t, kMostLanes> padding_{};  // a pixel outside the image
  size_t piece_columns_ = 0;
  size_t words_bytes_ = 0, range_bytes_ = 0;  // scratch memory of a range
  int64_t grain_ = 1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> IntegerDepthwiseConv(PrepareContext& p,
                                                             const ConvGeometry& g,
                                                             const QuantizedFusion& fusion) {
  if (!g.depthwise || g.out_per_group() != 1 || !g.attrs.channels_last || g.attrs.spatial != 2) {
    return Unimplemented("a convolution of another form");
  }
  Constant* const weights = p.constant(1);
  if (weights == nullptr || p.input_dtype(1) != DType::kQint8) {
    return Unimplemented("a filter that is no qint8 constant");
  }
  if (p.input_shape(0).num_elements() == 0 || p.input_shape(1).num_elements() == 0 ||
      p.output_shape(0).num_elements() == 0) {
    return Unimplemented("empty");
  }
  TENON_RETURN_IF_ERROR(VectorEpilogue::CanApply(p, fusion));
  TENON_ASSIGN_OR_RETURN(const LeftNumbers numbers, LeftNumbersOf(p, fusion));
  const DepthwiseLoops& loops = FindDepthwiseLoops(HasAvx512Vnni());
  const DepthwiseFilter filter{static_cast<size_t>(g.window[0]), static_cast<size_t>(g.window[1]),
                               static_cast<size_t>(g.in_channels), loops.lanes, loops.word_taps};
  TENON_ASSIGN_OR_RETURN(auto packed,
                         PackConstant(*weights, std::make_shared<DepthwiseLayout>(filter)));
  p.InputNotRead(1);
  auto kernel = std::make_unique<IntegerDepthwiseKernel>(p, g, fusion, filter, loops, numbers,
                                                         std::move(packed));
  TENON_RETURN_IF_ERROR(kernel->Prepare(p));
  return kernel;
}

}  // namespace tenon

#include "kernels/convolution/conv_bfloat16_tiles.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/convolution/conv_pointwise.h"
#include "kernels/convolution/im2col.h"
#include "kernels/matmul/bfloat16_kernel.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

size_t Size(int64_t n) { return static_cast<size_t>(n); }

// The rows of the product: lines of output pixels, `per_line` rows each. Of a window larger than a
// pixel, the rows of a line go on into the padding, and the next line follows; these results are
// dropped.
//
// Windows with strides read a copy of the image that has those input lines one after the other
// whose numbers have the same remainder by the vertical stride (a phase), so that the next output
// line reads the next line of the copy. A row begins `step_x` pixels after the one before.
//
// If the image is one line, it is divided into pieces, which count as lines: windows that reach no
// padding read them in place; otherwise each is copied.
struct TileLines {
  size_t images = 1, lines = 0, per_line = 0;  // of an image
  bool copied = false;                         // a task copies the pixels that it reads
  size_t pixel = 0;                            // elements between pixels
  size_t step_x = 1, phases = 1;
  size_t piece = 0;  // output pixels; 0: lines are those of the output
  size_t rows = 0;   // of an image, those that are dropped included
  // What windows reach beyond their rows: lines of a phase, and rows of a line.
  size_t more_lines = 0, more_rows = 0;

  // Elements from one line of the copy to the next one, and of a copy for so many output lines.
  size_t line_elements() const { return per_line * step_x * pixel; }
  size_t phase_elements(size_t of) const { return (of + more_lines) * line_elements(); }
  size_t elements(size_t of) const { return phases * phase_elements(of); }
};

// What rows of windows read.
Bfloat16Work WorkOf(const TileLines& l) {
  Bfloat16Work work;
  work.images = l.images;
  work.lines = l.lines;
  work.per_line = l.per_line;
  work.line_bytes = (l.elements(1) - l.elements(0)) * sizeof(uint16_t);
  work.more_bytes = l.elements(0) * sizeof(uint16_t);
  work.copied = l.copied;
  return work;
}

class WindowTilesKernel final : public Bfloat16TaskKernel {
 public:
  WindowTilesKernel(ConvGeometry g, TileLines lines, const Bfloat16Strips& strips,
                    std::shared_ptr<const PackedWeights> weights, const Bfloat16Chain& chain,
                    int threads)
      : Bfloat16TaskKernel(WorkOf(lines), strips, std::move(weights), chain, threads),
        g_(std::move(g)),
        lines_(lines) {
    FindTaps();
    if (lines_.copied) FindResults();
  }

  double Flops() const override { return g_.flops(); }
  size_t HeldBytes() const override { return out_rows_.size() * sizeof(int32_t); }

 private:
  // The copied pixels of a task.
  size_t TaskBytes() const override {
    if (!lines_.copied) return 0;
    return RoundUp(lines_.elements(part_.lines) * sizeof(uint16_t), kCacheLine);
  }

  void FindTaps() {
    for (int64_t i = 0; i < g_.window[0]; ++i) {
      const size_t y = Size(i * g_.attrs.dilations[0]);
      for (int64_t x = 0; x < g_.window[1]; ++x) {
        taps_.push_back(y % lines_.phases * lines_.phase_elements(part_.lines) +
                        y / lines_.phases * lines_.line_elements() +
                        Size(x * g_.attrs.dilations[1]) * lines_.pixel);
      }
    }
  }
  // The output pixel of each row.
  void FindResults() {
    const size_t width = Size(g_.out[1]), line = lines_.piece == 0 ? width : lines_.piece;
    const size_t all = Size(g_.out_positions());
    for (size_t i = 0; i < lines_.lines; ++i) {
      for (size_t x = 0; x < lines_.per_line; ++x) {
        const size_t row = i * line + x;
        out_rows_.push_back(x < line && row < all ? static_cast<int32_t>(row) : -1);
      }
    }
  }

  void Compute(RunContext& r, size_t task, char* scratch) const override {
    const size_t of_image = part_.line_parts * part_.strip_parts;
    const size_t image = task / of_image, line_part = task % of_image / part_.strip_parts;
    const size_t line = line_part * part_.lines;
    const size_t lines = std::min(part_.lines, lines_.lines - line);
    Bfloat16Product p = ProductOf(r, task);
    p.rows = std::min(lines * lines_.per_line, lines_.rows - line * lines_.per_line);
    p.a_row = lines_.step_x * lines_.pixel;
    p.taps = taps_.data();
    const uint16_t* const images = r.input<uint16_t>(0);
    const size_t before = image * Size(g_.out_positions());  // output pixels
    if (lines_.copied) {
      auto* const copy = reinterpret_cast<uint16_t*>(scratch);
      p.rows -= lines_.more_rows;
      CopyLines(images, image, line, lines, copy);
      p.a = copy;
      p.out_rows = out_rows_.data() + line * lines_.per_line;
      p.out += before * strips_.columns;
      if (p.finish.addend != nullptr) p.finish.addend += before * strips_.columns;
    } else {
      p.a = images + image * image_elements() + line * lines_.per_line * p.a_row;
      p.out_first = before + line * lines_.per_line;
    }
    MultiplyBfloat16Tiles(p);
  }

  size_t image_elements() const {
    size_t all = Size(g_.in_channels);
    for (int64_t n : g_.in) all *= Size(n);
    return all;
  }

  void CopyPixel(const uint16_t* from, uint16_t* to) const {
    const size_t channels = strips_.channels, whole = strips_.steps() * kBfloat16TileTerms;
    std::memcpy(to, from, channels * sizeof(uint16_t));
    std::memset(to + channels, 0, (whole - channels) * sizeof(uint16_t));
  }

  // The lines of an image that windows of the output lines [line, line + lines) reach, with the
  // padding.
  void CopyLines(const uint16_t* images, size_t image, size_t line, size_t lines,
                 uint16_t* to) const {
    const uint16_t* const from = images + image * image_elements();
    if (lines_.piece > 0) {
      for (size_t i = 0; i < lines; ++i) {
        const size_t x = (line + i) * lines_.piece * lines_.step_x;
        CopyLine(from, 0, static_cast<int64_t>(x) - g_.pads_begin[1], to + lines_.elements(i));
      }
      return;
    }
    const size_t reach = Size((g_.window[0] - 1) * g_.attrs.dilations[0]);
    for (size_t i = 0; i < (lines - 1) * lines_.phases + reach + 1; ++i) {
      const size_t phase = i % lines_.phases;
      if (phase > reach) continue;  // between windows
      CopyLine(from, static_cast<int64_t>(line * lines_.phases + i) - g_.pads_begin[0],
               -g_.pads_begin[1],
               to + phase * lines_.phase_elements(part_.lines) +
                   i / lines_.phases * lines_.line_elements());
    }
  }
  // The pixels of line y from x on, of which those outside of the image are zeros.
  void CopyLine(const uint16_t* image, int64_t y, int64_t x, uint16_t* to) const {
    const int64_t height = g_.in[0], width = g_.in[1];
    const auto per_line = static_cast<int64_t>(lines_.per_line * lines_.step_x);
    const size_t pixel = lines_.pixel, channels = strips_.channels;
    if (y < 0 || y >= height) {
      std::memset(to, 0, lines_.line_elements() * sizeof(uint16_t));
      return;
    }
    const uint16_t* const from = image + (y * width + x) * g_.in_channels;
    const int64_t begin = std::clamp<int64_t>(-x, 0, per_line);
    const int64_t end = std::clamp<int64_t>(width - x, begin, per_line);
    std::memset(to, 0, Size(begin) * pixel * sizeof(uint16_t));
    if (channels == pixel) {
      std::memcpy(to + Size(begin) * pixel, from + begin * g_.in_channels,
                  Size(end - begin) * pixel * sizeof(uint16_t));
    } else {
      for (int64_t i = begin; i < end; ++i) {
        CopyPixel(from + i * g_.in_channels, to + Size(i) * pixel);
      }
    }
    std::memset(to + Size(end) * pixel, 0, Size(per_line - end) * pixel * sizeof(uint16_t));
  }

  const ConvGeometry g_;
  const TileLines lines_;
  std::vector<size_t> taps_;
  std::vector<int32_t> out_rows_;  // of an image; empty: each row is stored
};

std::optional<TileLines> WindowLines(const ConvGeometry& g) {
  constexpr int64_t kMostStride = 8;
  if (g.attrs.spatial != 2 || Size(g.in_channels) < kBfloat16TileTerms / 2 ||
      g.attrs.strides[0] > kMostStride || g.attrs.strides[1] > kMostStride) {
    return std::nullopt;
  }
  const size_t whole = RoundUp(Size(g.in_channels), kBfloat16TileTerms);
  // Of a piece: rows that are dropped cost little, and pieces of a line stay in a cache.
  constexpr size_t kPiece = 128;
  const bool one_line = g.in[0] == 1 && g.out[0] == 1 && g.window[0] == 1 && g.pads_begin[0] == 0 &&
                        Size(g.out[1]) > kPiece;
  const size_t reach_x = Size((g.window[1] - 1) * g.attrs.dilations[1]);
  const size_t reach_y = Size((g.window[0] - 1) * g.attrs.dilations[0]);
  TileLines l;
  l.images = Size(g.batch);
  l.step_x = Size(g.attrs.strides[1]);
  l.pixel = whole;
  if (one_line) {
    l.piece = kPiece;
    l.lines = (Size(g.out[1]) + kPiece - 1) / kPiece;
    if (whole == Size(g.in_channels) && All(g.pads_begin, 0) && All(g.pads_end, 0)) {
      l.per_line = kPiece;
      l.rows = Size(g.out[1]);
      return l;
    }
  } else {
    l.lines = Size(g.out[0]);
    l.phases = Size(g.attrs.strides[0]);
  }
  const size_t rows = one_line ? kPiece : Size(g.out[1]);
  l.copied = true;
  l.more_lines = reach_y / l.phases;
  l.more_rows = (reach_x + l.step_x) / l.step_x - 1;
  l.per_line = rows + l.more_rows;
  l.rows = l.lines * l.per_line;
  // Windows that reach far beyond a line would mostly multiply what is dropped, and one line of
  // results may need more of the image than fits the cache.
  constexpr size_t kMostDropped = 8;
  if (l.more_rows > rows + kMostDropped || l.elements(1) * sizeof(uint16_t) > 2 * kMostRowBytes ||
      g.out_positions() > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return l;
}

// Of a convolution by single pixels.
absl::StatusOr<std::unique_ptr<Kernel>> PixelTilesKernel(PrepareContext& p, const ConvGeometry& g,
                                                         const FusedOps& fused) {
  Bfloat16Dense product;
  product.rows = Size(g.batch * g.out_positions());
  product.terms = Size(g.in_channels);
  product.columns = Size(g.out_channels);
  if (!ReadsEachPixelOnce(g)) {
    const std::vector<int64_t> of_image = WindowSources(g);
    int64_t image = g.in_channels;
    for (int64_t n : g.in) image *= n;
    for (int64_t i = 0; i < g.batch; ++i) {
      for (int64_t pixel : of_image) {
        product.places.push_back(Size(i * image + pixel * g.in_channels));
      }
    }
  }
  return Bfloat16DenseKernel(p, std::move(product), fused);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvBfloat16TilesKernel(PrepareContext& p,
                                                                const ConvGeometry& g,
                                                                const FusedOps& fused) {
  if (p.output_dtype(0) != DType::kBfloat16 || !AllowsTiles() || p.constant(1) == nullptr ||
      g.groups != 1 || g.depthwise || !g.attrs.channels_last) {
    return Unimplemented("no convolution of bfloat16 for tiles");
  }
  if (g.window_positions() == 1 && All(g.pads_begin, 0) && All(g.pads_end, 0)) {
    return PixelTilesKernel(p, g, fused);
  }
  const std::optional<Bfloat16Chain> chain = PlanBfloat16Chain(p, fused);
  if (!chain.has_value()) return Unimplemented("another chain");
  const std::optional<TileLines> lines = WindowLines(g);
  if (!lines.has_value()) return Unimplemented("windows that are not read by tiles");
  Bfloat16Strips strips;
  strips.taps = Size(g.window_positions());
  strips.channels = Size(g.in_channels);
  strips.columns = Size(g.out_channels);
  const int threads = p.services().threads;
  TENON_ASSIGN_OR_RETURN(auto weights, PackBfloat16Weights(p, strips, threads));
  auto kernel =
      std::make_unique<WindowTilesKernel>(g, *lines, strips, std::move(weights), *chain, threads);
  p.RequestScratch(kernel->scratch_bytes());
  return kernel;
}

}  // namespace tenon

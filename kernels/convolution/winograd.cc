#include "kernels/convolution/winograd.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "env/round_up.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// The bytes of transformed inputs in a block: half of a small second-level cache.
constexpr int64_t kBlockBytes = 256 << 10;
constexpr size_t kSmallFilterBytes = 2 << 20;
constexpr int64_t kLineFloats = 16;

}  // namespace

int64_t OddCacheLines(int64_t floats) {
  const int64_t lines = CeilDiv(floats, kLineFloats);
  return (lines | 1) * kLineFloats;
}

Winograd::Winograd(const WinogradShape& shape, WinogradTile tile, int threads)

    : shape_(shape),
      tile_(tile),
      loops_(FindWinogradLoops(tile, shape.element)),
      threads_(threads),
      bytes_(shape.element == WinogradElement::kFloat ? 4 : 2) {
  const int64_t lanes = static_cast<int64_t>(loops_.lanes);
  out_ = tile == WinogradTile::k4x4 ? 4 : 2;
  in_ = out_ + 2;
  positions_ = in_ * in_;
  rows_ = CeilDiv(shape.out_height, out_);
  columns_ = CeilDiv(shape.out_width, out_);
  tiles_ = shape.batch * rows_ * columns_;
  width_ = shape.out_channels > lanes ? 2 * lanes : lanes;
  panels_ = CeilDiv(shape.out_channels, width_);
  const int64_t channels = CeilDiv(shape.in_channels, lanes) * lanes;
  const int64_t most =
      std::max<int64_t>(kBlockBytes / (positions_ * channels * int64_t{sizeof(float)}), 24);
  blocks_ = CeilDiv(tiles_, most);
  // If threads take blocks, each reads the whole filter; if they take panels, the work may be
  // uneven.
  const bool uneven = panels_ % threads_ != 0 && panels_ < 4 * threads_;
  share_blocks_ = threads_ > 1 && tiles_ >= 4 * threads_ &&
                  (blocks_ >= 2 * threads_ || filter_bytes() <= kSmallFilterBytes || uneven);
  if (share_blocks_) blocks_ = CeilDiv(blocks_, threads_) * threads_;
  block_tiles_ = CeilDiv(tiles_, blocks_);
  input_stride_ = OddCacheLines(block_tiles_ * channels);
  product_stride_ = OddCacheLines(block_tiles_ * width_);
}

size_t Winograd::filter_bytes() const {
  return static_cast<size_t>(panels_ * positions_ * shape_.in_channels * width_) * sizeof(float);
}

std::string Winograd::Name() const {
  return absl::StrCat("winograd", out_, "x", out_, ":", VectorTargetName());
}

std::string Winograd::filter_key() const { return absl::StrCat("winograd", out_, "x", width_); }

void Winograd::TransformFilter(const float* filter, float* transformed) const {
  const int64_t channels = shape_.in_channels, outputs = shape_.out_channels;
  ParallelFor(threads_, panels_ * channels, ParallelGrain(50), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = i / channels, c = i % channels;
      WinogradFilter f;
      f.taps = filter + c * outputs + panel * width_;
      f.tap_stride = static_cast<size_t>(channels * outputs);
      f.outputs = static_cast<size_t>(std::min(width_, outputs - panel * width_));
      f.width = static_cast<size_t>(width_);
      f.out = transformed + (panel * positions_ * channels + c) * width_;
      f.position_stride = static_cast<size_t>(channels * width_);
      loops_.filter(f);
    }
  });
}

size_t Winograd::scratch_bytes() const {
  const int64_t inputs = positions_ * input_stride_ * (share_blocks_ ? threads_ : 1);
  const int64_t products = positions_ * product_stride_ * threads_;
  return static_cast<size_t>(inputs + products + OddCacheLines(shape_.in_channels)) * sizeof(float);
}

Winograd::Block Winograd::BlockAt(int64_t index) const {
  const int64_t begin = tiles_ * index / blocks_;
  return {begin, tiles_ * (index + 1) / blocks_ - begin};
}

void Winograd::TransformInput(const char* x, const float* zeros, int64_t tile, int64_t place,
                              int64_t block_tiles, float* inputs) const {
  const int64_t row = tile / columns_ % rows_, column = tile % columns_;
  const int64_t pixel = shape_.in_channels * bytes_;
  const char* image = x + tile / (rows_ * columns_) * shape_.in_height * shape_.in_width * pixel;
  const void* at[36];
  for (int64_t i = 0; i < in_; ++i) {
    const int64_t h = row * out_ + i - shape_.pad_top;
    for (int64_t j = 0; j < in_; ++j) {
      const int64_t w = column * out_ + j - shape_.pad_left;
      const bool inside = h >= 0 && h < shape_.in_height && w >= 0 && w < shape_.in_width;
      at[i * in_ + j] = zeros;
      if (inside) at[i * in_ + j] = image + (h * shape_.in_width + w) * pixel;
    }
  }
  const int64_t lanes = static_cast<int64_t>(loops_.lanes);
  WinogradInput in;
  in.at = at;
  in.channels = static_cast<size_t>(shape_.in_channels);
  in.out = inputs + place * lanes;
  in.position_stride = static_cast<size_t>(input_stride_);
  in.block_stride = static_cast<size_t>(block_tiles * lanes);
  loops_.input(in);
}

void Winograd::RunPanel(const float* filter, const Block& block, int64_t panel, const float* inputs,
                        const WinogradFinish& finish, float* products, char* y) const {
  const int64_t channels = shape_.in_channels, outputs = shape_.out_channels;
  WinogradProduct p;
  p.block_stride = static_cast<size_t>(block.tiles) * loops_.lanes;
  p.tiles = static_cast<size_t>(block.tiles);
  p.channels = static_cast<size_t>(channels);
  p.width = static_cast<size_t>(width_);
  for (int64_t i = 0; i < positions_; ++i) {
    const float* const a = inputs + i * input_stride_;
    p.a = &a;
    p.b = filter + (panel * positions_ + i) * channels * width_;
    p.out = products + i * product_stride_;
    loops_.product(p);
  }
  WinogradOutput o;
  o.position_stride = static_cast<size_t>(product_stride_);
  o.channels = static_cast<size_t>(std::min(width_, outputs - panel * width_));
  o.row_stride = static_cast<size_t>(shape_.out_width * outputs);
  o.column_stride = static_cast<size_t>(outputs);
  const auto elements = [this](const void* p, int64_t n) {
    return static_cast<const char*>(p) + n * bytes_;
  };
  if (finish.bias != nullptr) o.bias = elements(finish.bias, panel * width_);
  o.clamp_low = finish.clamp_low;
  o.clamp_high = finish.clamp_high;
  for (int64_t t = 0; t < block.tiles; ++t) {
    const int64_t tile = block.begin + t;
    const int64_t image = tile / (rows_ * columns_);
    const int64_t h = tile / columns_ % rows_ * out_, w = tile % columns_ * out_;
    const int64_t at =
        ((image * shape_.out_height + h) * shape_.out_width + w) * outputs + panel * width_;
    o.in = products + t * width_;
    o.out = y + at * bytes_;
    if (finish.addend != nullptr) o.addend = elements(finish.addend, at);
    o.rows = static_cast<size_t>(std::min(out_, shape_.out_height - h));
    o.columns = static_cast<size_t>(std::min(out_, shape_.out_width - w));
    loops_.output(o);
    RunWinogradSteps(finish, o, at, panel * width_, reinterpret_cast<float*>(y));
  }
}

void RunWinogradSteps(const WinogradFinish& finish, const WinogradOutput& o, int64_t at,
                      int64_t channel, float* y) {
  if (finish.steps.empty()) return;
  for (size_t i = 0; i < o.rows; ++i) {
    for (size_t j = 0; j < o.columns; ++j) {
      const int64_t here = at + static_cast<int64_t>(i * o.row_stride + j * o.column_stride);
      for (const TileStep& step : finish.steps) {
        const float* operand = step.operand;
        if (step.kind == TileStep::Operand::kPerChannel) operand += channel;
        if (step.kind == TileStep::Operand::kWhole) operand += here;
        step.fn(y + here, operand, nullptr, y + here, o.channels, step.parameter);
      }
    }
  }
}

void Winograd::Run(const void* image, const float* filter, const WinogradFinish& finish,
                   void* result, void* scratch) const {
  const char* const x = static_cast<const char*>(image);
  char* const y = static_cast<char*>(result);
  float* const zeros = static_cast<float*>(scratch);
  std::fill_n(zeros, shape_.in_channels, 0.0f);
  float* const products = zeros + OddCacheLines(shape_.in_channels);
  float* const inputs = products + positions_ * product_stride_ * threads_;
  if (share_blocks_) {
    ParallelTasks(threads_, blocks_, [&](int thread, int64_t b) {
      float* const own_products = products + thread * positions_ * product_stride_;
      float* const own_inputs = inputs + thread * positions_ * input_stride_;
      const Block block = BlockAt(b);
      for (int64_t t = 0; t < block.tiles; ++t) {
        TransformInput(x, zeros, block.begin + t, t, block.tiles, own_inputs);
      }
      for (int64_t panel = 0; panel < panels_; ++panel) {
        RunPanel(filter, block, panel, own_inputs, finish, own_products, y);
      }
    });
    return;
  }
  for (int64_t b = 0; b < blocks_; ++b) {
    const Block block = BlockAt(b);
    ParallelFor(threads_, block.tiles, 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        TransformInput(x, zeros, block.begin + t, t, block.tiles, inputs);
      }
    });
    ParallelTasks(threads_, panels_, [&](int thread, int64_t panel) {
      RunPanel(filter, block, panel, inputs, finish,
               products + thread * positions_ * product_stride_, y);
    });
  }
}

}  // namespace tenon

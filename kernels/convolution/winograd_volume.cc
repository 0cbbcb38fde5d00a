#include "kernels/convolution/winograd_volume.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "env/round_up.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// The bytes of a unit's transformed inputs: half of a small second-level cache.
constexpr int64_t kUnitBytes = 256 << 10;
// Fewer tiles than this do not fill the registers of a product.
constexpr int64_t kFewestTiles = 24;

}  // namespace

WinogradVolume::WinogradVolume(const WinogradVolumeShape& shape, WinogradTile tile, int threads)
    : shape_(shape),
      loops_(FindWinogradLoops(tile, shape.element)),
      threads_(threads),
      bytes_(shape.element == WinogradElement::kFloat ? 4 : 2),
      in_(tile == WinogradTile::k4x4 ? 6 : 4),
      out_(in_ - 2),
      positions_(in_ * in_) {
  const int64_t lanes = static_cast<int64_t>(loops_.lanes);
  width_ = shape.out_channels > lanes ? 2 * lanes : lanes;
  panels_ = CeilDiv(shape.out_channels, width_);
  ListTiles();
  Divide();
  const int64_t most = CeilDiv(static_cast<int64_t>(tiles_.size()), ranges_);
  input_stride_ = OddCacheLines(most * CeilDiv(shape.in_channels, lanes) * lanes);
  product_stride_ = OddCacheLines(most * width_);
}

void WinogradVolume::ListTiles() {
  const int64_t dh = shape_.dilation_height, dw = shape_.dilation_width;
  for (int64_t h = 0; h < std::min(dh, shape_.out[1]); ++h) {
    for (int64_t w = 0; w < std::min(dw, shape_.out[2]); ++w) {
      const int64_t rows = CeilDiv(shape_.out[1] - h, dh), columns = CeilDiv(shape_.out[2] - w, dw);
      for (int64_t i = 0; i < rows; i += out_) {
        for (int64_t j = 0; j < columns; j += out_) {
          const int64_t row = h + i * dh, column = w + j * dw;
          tiles_.push_back({row - shape_.pads_begin[1], column - shape_.pads_begin[2], row, column,
                            std::min(out_, rows - i), std::min(out_, columns - j)});
        }
      }
    }
  }
}

// Into units that fit the cache, and enough of them for the threads: of the depth if there is one,
// because each of its parts transforms a few planes again.
void WinogradVolume::Divide() {
  const int64_t lanes = static_cast<int64_t>(loops_.lanes);
  const int64_t channels = CeilDiv(shape_.in_channels, lanes) * lanes;
  const int64_t tile_bytes = positions_ * channels * shape_.window_depth * int64_t{sizeof(float)};
  const int64_t tiles = static_cast<int64_t>(tiles_.size());
  ranges_ = CeilDiv(tiles, std::max(kUnitBytes / tile_bytes, kFewestTiles));
  const int64_t wanted = threads_ > 1 ? 2 * threads_ : 1;
  if (shape_.batch * ranges_ >= wanted) return;
  const int64_t each = CeilDiv(wanted, shape_.batch * ranges_);
  if (shape_.out[0] >= each) {
    parts_ = each;
  } else {
    ranges_ = std::min(tiles, ranges_ * each);
  }
}

std::string WinogradVolume::Name() const {
  return absl::StrCat("winograd", out_, "x", out_, shape_.window_depth > 1 ? "_planes:" : ":",
                      VectorTargetName());
}

size_t WinogradVolume::filter_bytes() const {
  return static_cast<size_t>(panels_ * positions_ * shape_.window_depth * shape_.in_channels *
                             width_) *
         sizeof(float);
}

std::string WinogradVolume::filter_key() const {
  return absl::StrCat("winograd", out_, "x", width_, "x", shape_.window_depth);
}

void WinogradVolume::TransformFilter(const float* filter, float* transformed) const {
  const int64_t channels = shape_.in_channels, outputs = shape_.out_channels;
  const int64_t rows = shape_.window_depth * channels;  // of a position's matrix
  ParallelFor(threads_, panels_ * rows, ParallelGrain(50), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = i / rows, row = i % rows;
      const int64_t plane = row / channels, c = row % channels;
      WinogradFilter f;
      f.taps = filter + (plane * 9 * channels + c) * outputs + panel * width_;
      f.tap_stride = static_cast<size_t>(channels * outputs);
      f.outputs = static_cast<size_t>(std::min(width_, outputs - panel * width_));
      f.width = static_cast<size_t>(width_);
      f.out = transformed + (panel * positions_ * rows + row) * width_;
      f.position_stride = static_cast<size_t>(rows * width_);
      loops_.filter(f);
    }
  });
}

size_t WinogradVolume::scratch_bytes() const {
  const int64_t own = positions_ * (shape_.window_depth * input_stride_ + product_stride_);
  return static_cast<size_t>(own * threads_ + OddCacheLines(shape_.in_channels)) * sizeof(float);
}

WinogradVolume::Unit WinogradVolume::UnitAt(int64_t index) const {
  const int64_t tiles = static_cast<int64_t>(tiles_.size());
  const int64_t part = index % parts_, range = index / parts_ % ranges_;
  return {index / (parts_ * ranges_), tiles * range / ranges_, tiles * (range + 1) / ranges_,
          shape_.out[0] * part / parts_, shape_.out[0] * (part + 1) / parts_};
}

void WinogradVolume::TransformPlane(const char* plane, const float* zeros, const Unit& unit,
                                    float* inputs) const {
  const int64_t pixel = shape_.in_channels * bytes_;
  const int64_t lanes = static_cast<int64_t>(loops_.lanes);
  for (int64_t t = unit.begin; t < unit.end; ++t) {
    const Tile& tile = tiles_[static_cast<size_t>(t)];
    const void* at[36];
    for (int64_t i = 0; i < in_; ++i) {
      const int64_t h = tile.in_row + i * shape_.dilation_height;
      for (int64_t j = 0; j < in_; ++j) {
        const int64_t w = tile.in_column + j * shape_.dilation_width;
        const bool inside = h >= 0 && h < shape_.in[1] && w >= 0 && w < shape_.in[2];
        at[i * in_ + j] = zeros;
        if (inside) at[i * in_ + j] = plane + (h * shape_.in[2] + w) * pixel;
      }
    }
    WinogradInput in;
    in.at = at;
    in.channels = static_cast<size_t>(shape_.in_channels);
    in.out = inputs + (t - unit.begin) * lanes;
    in.position_stride = static_cast<size_t>(input_stride_);
    in.block_stride = static_cast<size_t>((unit.end - unit.begin) * lanes);
    loops_.input(in);
  }
}

void WinogradVolume::RunPanel(const float* filter, const Unit& unit, int64_t panel,
                              const Window& window, const WinogradFinish& finish, float* products,
                              char* y, int64_t plane) const {
  const int64_t channels = shape_.in_channels, outputs = shape_.out_channels;
  const int64_t tiles = unit.end - unit.begin;
  std::array<const float*, WinogradVolumeShape::kMostPlanes> at = window.at;
  WinogradProduct p;
  p.a = at.data();
  p.segments = window.planes;
  p.block_stride = static_cast<size_t>(tiles) * loops_.lanes;
  p.tiles = static_cast<size_t>(tiles);
  p.channels = static_cast<size_t>(channels);
  p.width = static_cast<size_t>(width_);
  for (int64_t i = 0; i < positions_; ++i) {
    const int64_t row = (panel * positions_ + i) * shape_.window_depth + window.first;
    p.b = filter + row * channels * width_;
    p.out = products + i * product_stride_;
    loops_.product(p);
    for (size_t s = 0; s < window.planes; ++s) at[s] += input_stride_;
  }
  WinogradOutput o;
  o.position_stride = static_cast<size_t>(product_stride_);
  o.channels = static_cast<size_t>(std::min(width_, outputs - panel * width_));
  o.row_stride = static_cast<size_t>(shape_.dilation_height * shape_.out[2] * outputs);
  o.column_stride = static_cast<size_t>(shape_.dilation_width * outputs);
  const auto elements = [this](const void* p, int64_t n) {
    return static_cast<const char*>(p) + n * bytes_;
  };
  if (finish.bias != nullptr) o.bias = elements(finish.bias, panel * width_);
  o.clamp_low = finish.clamp_low;
  o.clamp_high = finish.clamp_high;
  for (int64_t t = 0; t < tiles; ++t) {
    const Tile& tile = tiles_[static_cast<size_t>(unit.begin + t)];
    const int64_t pixel =
        ((unit.image * shape_.out[0] + plane) * shape_.out[1] + tile.out_row) * shape_.out[2] +
        tile.out_column;
    const int64_t here = pixel * outputs + panel * width_;
    o.in = products + t * width_;
    o.out = y + here * bytes_;
    if (finish.addend != nullptr) o.addend = elements(finish.addend, here);
    o.rows = static_cast<size_t>(tile.rows);
    o.columns = static_cast<size_t>(tile.columns);
    loops_.output(o);
    RunWinogradSteps(finish, o, here, panel * width_, reinterpret_cast<float*>(y));
  }
}

void WinogradVolume::RunUnit(const char* x, const float* filter, const WinogradFinish& finish,
                             char* y, const float* zeros, const Unit& unit, float* inputs,
                             float* products) const {
  const int64_t depth = shape_.window_depth;
  const int64_t plane_bytes = shape_.in[1] * shape_.in[2] * shape_.in_channels * bytes_;
  std::array<int64_t, WinogradVolumeShape::kMostPlanes> held;
  held.fill(-1);
  for (int64_t out = unit.first; out < unit.last; ++out) {
    const int64_t begin = out - shape_.pads_begin[0];
    Window window;
    window.first = std::min(std::max<int64_t>(0, -begin), depth);
    for (int64_t k = window.first; k < depth && begin + k < shape_.in[0]; ++k) {
      const int64_t plane = begin + k, slot = plane % depth;
      float* const at = inputs + slot * positions_ * input_stride_;
      if (held[static_cast<size_t>(slot)] != plane) {
        TransformPlane(x + (unit.image * shape_.in[0] + plane) * plane_bytes, zeros, unit, at);
        held[static_cast<size_t>(slot)] = plane;
      }
      window.at[window.planes++] = at;
    }
    for (int64_t panel = 0; panel < panels_; ++panel) {
      RunPanel(filter, unit, panel, window, finish, products, y, out);
    }
  }
}

void WinogradVolume::Run(const void* x, const float* filter, const WinogradFinish& finish, void* y,
                         void* scratch) const {
  float* const zeros = static_cast<float*>(scratch);
  std::fill_n(zeros, shape_.in_channels, 0.0f);
  float* const rest = zeros + OddCacheLines(shape_.in_channels);
  const int64_t own_inputs = positions_ * shape_.window_depth * input_stride_;
  const int64_t own = own_inputs + positions_ * product_stride_;
  ParallelForRanges(threads_, shape_.batch * ranges_ * parts_, 1,
                    [&](int range, int64_t begin, int64_t end) {
                      float* const inputs = rest + range * own;
                      for (int64_t i = begin; i < end; ++i) {
                        RunUnit(static_cast<const char*>(x), filter, finish, static_cast<char*>(y),
                                zeros, UnitAt(i), inputs, inputs + own_inputs);
                      }
                    });
}

}  // namespace tenon

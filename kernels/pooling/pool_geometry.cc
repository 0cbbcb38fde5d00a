#include "kernels/pooling/pool_geometry.h"

#include <algorithm>
#include <limits>

#include "env/status.h"

namespace tenon {
namespace {

int64_t Count(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

}  // namespace

int64_t PoolGeometry::in_positions() const { return Count(in); }
int64_t PoolGeometry::out_positions() const { return Count(out); }
int64_t PoolGeometry::window_positions() const {
  constexpr int64_t kMost = int64_t{1} << 32;  // windows need not fit in memory
  int64_t n = 1;
  for (int64_t k : attrs.window) n = k > kMost / n ? kMost : n * k;
  return n;
}

Shape PoolGeometry::out_shape() const {
  Shape::Dims dims(static_cast<size_t>(attrs.rank()));
  dims[0] = batch;
  dims[static_cast<size_t>(attrs.channel_axis())] = channels;
  for (int i = 0; i < attrs.spatial; ++i) {
    dims[static_cast<size_t>(attrs.spatial_axis(i))] = out[static_cast<size_t>(i)];
  }
  return Shape(absl::MakeConstSpan(dims));
}

absl::StatusOr<WindowAttrs> PoolAttrs(const AttrReader& attrs, int spatial, const Tensor* ksize,
                                      const Tensor* strides) {
  if (ksize == nullptr && strides == nullptr) return ReadWindowAttrs(attrs, spatial);
  Node node = attrs.node();
  TENON_ASSIGN_OR_RETURN(node.attrs["ksize"], IntegerValues(*ksize));
  TENON_ASSIGN_OR_RETURN(node.attrs["strides"], IntegerValues(*strides));
  return ReadWindowAttrs(AttrReader(node), spatial);
}

bool WindowIsInput(const AttrReader& attrs) { return attrs.node().attrs.count("ksize") == 0; }

absl::StatusOr<Shape> PoolShapeOfValue(const Tensor& value, int rank) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, IntegerValues(value));
  if (value.shape().rank() != 1 || static_cast<int>(dims.size()) != rank) {
    return InvalidArgument("orig_input_shape must have ", rank, " values, but has shape ",
                           value.shape().ToString());
  }
  const Shape shape((absl::MakeConstSpan(dims)));
  TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
  return shape;
}

absl::StatusOr<PoolGeometry> ResolvePool(const WindowAttrs& attrs, const Shape& input) {
  PoolGeometry g;
  g.attrs = attrs;
  if (static_cast<int>(attrs.window.size()) != attrs.spatial) {
    return InvalidArgument("ksize is missing");
  }
  g.batch = input[0];
  g.channels = input[attrs.channel_axis()];
  for (int i = 0; i < attrs.spatial; ++i) {
    const int64_t in = input[attrs.spatial_axis(i)];
    TENON_ASSIGN_OR_RETURN(const WindowSpan span,
                           ResolveWindow(attrs, i, in, attrs.window[static_cast<size_t>(i)]));
    g.in.push_back(in);
    g.out.push_back(span.output);
    g.pads_begin.push_back(span.pad_begin);
    g.pads_end.push_back(span.pad_end);
  }
  return g;
}

absl::Status CheckTaps(const PoolGeometry& g) {
  constexpr int64_t kMost = int64_t{1} << 24;
  int64_t positions = 1;
  for (size_t d = 0; d < g.in.size(); ++d) {
    positions *= std::max<int64_t>(g.in[d], 1);
    const int64_t overlap = std::min(g.attrs.window[d], g.in[d]);
    if (g.in[d] > kMost || g.out[d] > kMost || overlap * g.out[d] > kMost ||
        positions > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("windows of ", g.attrs.window[d], " over ", g.in[d],
                             " elements are too many");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PoolGeometry> ResolvePoolTaps(const WindowAttrs& attrs, const Shape& input) {
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, ResolvePool(attrs, input));
  TENON_RETURN_IF_ERROR(CheckTaps(g));
  return g;
}

ImageStrides StridesOf(const PoolGeometry& g, int64_t positions) {
  return ImageStrides(g.attrs.channels_last, g.channels, positions);
}

TapTable::TapTable(const PoolGeometry& g, Direction direction) {
  for (size_t d = 0; d < g.in.size(); ++d) {
    Dim dim;
    dim.window = g.attrs.window[d];
    const bool to_input = direction == Direction::kToInput;
    dim.other = to_input ? g.in[d] : g.out[d];
    const int64_t size = to_input ? g.out[d] : g.in[d];
    const auto first_of = [&](int64_t o) { return o * g.attrs.strides[d] - g.pads_begin[d]; };
    // The coordinates of output o's window that are inside the image.
    const auto inside = [&](int64_t o) {
      const int64_t begin = std::max<int64_t>(first_of(o), 0);
      const int64_t end = std::min(first_of(o) + dim.window, g.in[d]);
      return std::pair<int64_t, int64_t>(begin, std::max(begin, end));
    };
    const auto add = [&](int64_t i, int64_t o) {
      const auto [begin, end] = inside(o);
      dim.taps.push_back({to_input ? i : o, static_cast<int32_t>(i - first_of(o)),
                          1.0 / static_cast<double>(end - begin)});
    };
    for (int64_t at = 0; at < size; ++at) {
      dim.begin.push_back(dim.taps.size());
      if (to_input) {
        const auto [begin, end] = inside(at);
        for (int64_t i = begin; i < end; ++i) add(i, at);
        continue;
      }
      const int64_t stride = g.attrs.strides[d], padded = at + g.pads_begin[d];
      const int64_t first = padded < dim.window ? 0 : (padded - dim.window) / stride + 1;
      const int64_t last = std::min(padded / stride, g.out[d] - 1);
      for (int64_t o = first; o <= last; ++o) add(at, o);
    }
    dim.begin.push_back(dim.taps.size());
    if (d + 1 < g.in.size()) rows_ *= size;
    dims_.push_back(std::move(dim));
  }
}

TapTable::Taps TapTable::OuterTaps(int64_t row) const {
  absl::InlinedVector<int64_t, 3> at(dims_.size() - 1);
  for (size_t d = at.size(); d-- > 0;) {
    const int64_t size = static_cast<int64_t>(dims_[d].begin.size()) - 1;
    at[d] = row % size;
    row /= size;
  }
  Taps taps = {Tap{0, 0, 1.0}}, next;
  for (size_t d = 0; d < at.size(); ++d) {
    next.clear();
    for (const Tap& t : taps) Extend(t, dims_[d], at[d], next);
    std::swap(taps, next);
  }
  return taps;
}

}  // namespace tenon

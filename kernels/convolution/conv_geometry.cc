#include "kernels/convolution/conv_geometry.h"

#include <algorithm>
#include <limits>
#include <string>

#include "env/status.h"
#include "kernels/convolution/image_positions.h"

namespace tenon {
namespace {

// TensorFlow's limit; it keeps sums and products from overflowing.
constexpr int64_t kLargestAttribute = std::numeric_limits<int32_t>::max();

// The spatial entries of a list, in data_format's order; the other two must be 1.
absl::StatusOr<Dims> SpatialEntries(const WindowAttrs& a, absl::string_view name,
                                    const std::vector<int64_t>& list) {
  if (static_cast<int>(list.size()) != a.rank()) {
    return InvalidArgument(name, " must have ", a.rank(), " values, but has ", list.size());
  }
  for (int64_t v : list) {
    if (v < 1) return InvalidArgument(name, " must be positive");
    if (v > kLargestAttribute) return InvalidArgument(name, " of ", v, " are too large");
  }
  if (list[0] != 1 || list[static_cast<size_t>(a.channel_axis())] != 1) {
    return InvalidArgument(name, " over batch or channels are not supported");
  }
  Dims dims;
  for (int i = 0; i < a.spatial; ++i) {
    dims.push_back(list[static_cast<size_t>(a.spatial_axis(i))]);
  }
  return dims;
}

absl::Status ReadPadding(const AttrReader& attrs, WindowAttrs& a) {
  TENON_ASSIGN_OR_RETURN(std::string padding, attrs.String("padding"));
  // TensorFlow's _FusedConv3D may carry the paddings of a Pad that was fused into it.
  const char* list = "explicit_paddings";
  if (const auto pads = attrs.Ints("padding_list"); pads.ok() && !pads->empty()) {
    list = "padding_list";
    padding = "EXPLICIT";
  }
  if (padding != "EXPLICIT") {
    const auto pads = attrs.Ints(list);
    if (pads.ok() && !pads->empty()) {
      return InvalidArgument(list, " are given, but padding is '", padding, "'");
    }
  }
  a.explicit_begin.assign(static_cast<size_t>(a.spatial), 0);
  a.explicit_end = a.explicit_begin;
  if (padding == "SAME") {
    a.padding = WindowAttrs::Padding::kSame;
  } else if (padding == "VALID") {
    a.padding = WindowAttrs::Padding::kValid;
  } else if (padding == "EXPLICIT") {
    a.padding = WindowAttrs::Padding::kExplicit;
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, attrs.Ints(list));
    if (static_cast<int>(pads.size()) != 2 * a.rank()) {
      return InvalidArgument(list, " must have ", 2 * a.rank(), " values, but has ", pads.size());
    }
    auto pad = [&pads](int axis, int side) { return pads[static_cast<size_t>(2 * axis + side)]; };
    if (pad(0, 0) != 0 || pad(0, 1) != 0 || pad(a.channel_axis(), 0) != 0 ||
        pad(a.channel_axis(), 1) != 0) {
      return InvalidArgument(list, " over batch or channels are not supported");
    }
    for (int i = 0; i < a.spatial; ++i) {
      const size_t s = static_cast<size_t>(i);
      a.explicit_begin[s] = pad(a.spatial_axis(i), 0);
      a.explicit_end[s] = pad(a.spatial_axis(i), 1);
      if (a.explicit_begin[s] < 0 || a.explicit_end[s] < 0) {
        return InvalidArgument(list, " must not be negative");
      }
      if (std::max(a.explicit_begin[s], a.explicit_end[s]) > kLargestAttribute) {
        return InvalidArgument(list, " are too large");
      }
    }
  } else {
    return InvalidArgument("padding '", padding, "' is not SAME, VALID or EXPLICIT");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WindowAttrs> ReadWindowAttrs(const AttrReader& attrs, int spatial) {
  WindowAttrs a;
  a.spatial = spatial;
  const std::string format = attrs.String("data_format", spatial == 2 ? "NHWC" : "NDHWC");
  if (format == "NHWC" || format == "NDHWC") {
    a.channels_last = true;
  } else if (format == "NCHW" || format == "NCDHW") {
    a.channels_last = false;
  } else {
    return Unimplemented("data_format '", format, "'");
  }
  if (static_cast<int>(format.size()) != a.rank()) {
    return InvalidArgument("data_format '", format, "' does not match ", spatial,
                           " spatial dimensions");
  }
  if (const std::string filter = attrs.String("filter_format", "HWIO"); filter != "HWIO") {
    return InvalidArgument("filter_format '", filter, "' is not HWIO");
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, attrs.Ints("strides"));
  TENON_ASSIGN_OR_RETURN(a.strides, SpatialEntries(a, "strides", strides));
  a.dilations.assign(static_cast<size_t>(spatial), 1);
  if (absl::StatusOr<std::vector<int64_t>> dilations = attrs.Ints("dilations");
      dilations.ok() && !dilations->empty()) {
    TENON_ASSIGN_OR_RETURN(a.dilations, SpatialEntries(a, "dilations", *dilations));
  }
  if (absl::StatusOr<std::vector<int64_t>> ksize = attrs.Ints("ksize"); ksize.ok()) {
    TENON_ASSIGN_OR_RETURN(a.window, SpatialEntries(a, "ksize", *ksize));
  }
  TENON_RETURN_IF_ERROR(ReadPadding(attrs, a));
  return a;
}

absl::StatusOr<WindowSpan> ResolveWindow(const WindowAttrs& attrs, int dim, int64_t input,
                                         int64_t window) {
  const size_t d = static_cast<size_t>(dim);
  WindowSpan span;
  if (attrs.padding == WindowAttrs::Padding::kExplicit) {
    span.pad_begin = attrs.explicit_begin[d];
    span.pad_end = attrs.explicit_end[d];
  }
  const int64_t stride = attrs.strides[d];
  if (attrs.padding == WindowAttrs::Padding::kSame && input >= 0) {
    span.output = (input + stride - 1) / stride;
  }
  if (input < 0 || window < 0) return span;
  if (window == 0) return InvalidArgument("the filter has a spatial dimension of 0");
  const int64_t reach = (window - 1) * attrs.dilations[d] + 1;
  if (attrs.padding == WindowAttrs::Padding::kSame) {
    const int64_t pad = std::max<int64_t>((span.output - 1) * stride + reach - input, 0);
    span.pad_begin = pad / 2;
    span.pad_end = pad - pad / 2;
    return span;
  }
  // A window slightly larger than the image gives an empty output, as in TensorFlow's kernels.
  span.output = (input + span.pad_begin + span.pad_end - reach + stride) / stride;
  if (span.output < 0) {
    return InvalidArgument("the window (", reach, ") is larger than the padded input (",
                           input + span.pad_begin + span.pad_end, ")");
  }
  return span;
}

int64_t ConvGeometry::out_positions() const { return ProductOf(out); }
int64_t ConvGeometry::window_positions() const { return ProductOf(window); }
int64_t ConvGeometry::filter_elements() const {
  return window_positions() * out_channels * (depthwise ? 1 : in_per_group());
}
double ConvGeometry::flops() const {
  return 2.0 * static_cast<double>(batch) * static_cast<double>(out_channels) *
         static_cast<double>(out_positions()) * static_cast<double>(window_positions()) *
         static_cast<double>(in_per_group());
}

absl::StatusOr<Shape> ConvOutputShape(const WindowAttrs& a, ConvKind kind, const Shape& input,
                                      const Shape& filter) {
  if (input.has_rank() && input.rank() != a.rank()) {
    return InvalidArgument("input must have rank ", a.rank(), ", but is ", input.ToString());
  }
  if (filter.has_rank() && filter.rank() != a.rank()) {
    return InvalidArgument("filter must have rank ", a.rank(), ", but is ", filter.ToString());
  }
  auto in = [&](int axis) { return input.has_rank() ? input[axis] : -1; };
  auto of_filter = [&](int axis) { return filter.has_rank() ? filter[axis] : -1; };
  const int64_t channels = in(a.channel_axis());
  const int64_t filter_in = of_filter(a.spatial), filter_out = of_filter(a.spatial + 1);

  Shape::Dims out(static_cast<size_t>(a.rank()), -1);
  out[0] = in(0);
  int64_t& out_channels = out[static_cast<size_t>(a.channel_axis())];
  if (kind == ConvKind::kDepthwise) {
    if (channels >= 0 && filter_in >= 0 && channels != filter_in) {
      return InvalidArgument("input has ", channels, " channels, but the filter is for ",
                             filter_in);
    }
    const int64_t c = channels >= 0 ? channels : filter_in;
    out_channels = c >= 0 && filter_out >= 0 ? c * filter_out : -1;
  } else {
    out_channels = filter_out;
    if (channels >= 0 && filter_in >= 0 && channels != filter_in) {
      if (filter_in == 0 || channels % filter_in != 0) {
        return InvalidArgument("input has ", channels, " channels, which the filter's ", filter_in,
                               " do not divide");
      }
      const int64_t groups = channels / filter_in;
      if (filter_out >= 0 && (groups == 0 || filter_out % groups != 0)) {
        return InvalidArgument("the filter's ", filter_out, " outputs do not divide into ", groups,
                               " groups");
      }
    }
  }
  for (int i = 0; i < a.spatial; ++i) {
    TENON_ASSIGN_OR_RETURN(const WindowSpan span,
                           ResolveWindow(a, i, in(a.spatial_axis(i)), of_filter(i)));
    out[static_cast<size_t>(a.spatial_axis(i))] = span.output;
  }
  return Shape(absl::MakeConstSpan(out));
}

absl::StatusOr<ConvGeometry> ResolveConv(const AttrReader& attrs, int spatial, ConvKind kind,
                                         const Shape& input, const Shape& filter) {
  ConvGeometry g;
  TENON_ASSIGN_OR_RETURN(g.attrs, ReadWindowAttrs(attrs, spatial));
  TENON_ASSIGN_OR_RETURN(const Shape output, ConvOutputShape(g.attrs, kind, input, filter));
  g.depthwise = kind == ConvKind::kDepthwise;
  g.batch = input[0];
  g.in_channels = input[g.attrs.channel_axis()];
  g.out_channels = output[g.attrs.channel_axis()];
  const int64_t per_group = g.depthwise ? 1 : filter[spatial];
  g.groups = per_group > 0 ? std::max<int64_t>(g.in_channels / per_group, 1) : 1;
  for (int i = 0; i < spatial; ++i) {
    TENON_ASSIGN_OR_RETURN(const WindowSpan span,
                           ResolveWindow(g.attrs, i, input[g.attrs.spatial_axis(i)], filter[i]));
    g.in.push_back(input[g.attrs.spatial_axis(i)]);
    g.out.push_back(span.output);
    g.window.push_back(filter[i]);
    g.pads_begin.push_back(span.pad_begin);
    g.pads_end.push_back(span.pad_end);
  }
  return g;
}

ConvGeometry WholeAxesAsChannels(ConvGeometry g) {
  if (!g.attrs.channels_last || g.groups != 1 || g.depthwise) return g;
  for (size_t i = g.in.size(); i-- > 0;) {
    if (g.window[i] != g.in[i] || g.pads_begin[i] != 0 || g.pads_end[i] != 0 || g.out[i] != 1) {
      break;
    }
    g.in_channels *= g.in[i];
    g.in[i] = g.window[i] = g.attrs.strides[i] = g.attrs.dilations[i] = 1;
  }
  return g;
}

bool WindowsShareSets(const ConvGeometry& g) {
  constexpr int64_t kSetFloats = 1024;
  return g.attrs.strides[1] * g.in_channels % kSetFloats == 0;
}

TensorDesc ImageDesc(ElementType type, bool channels_last, int64_t batch, int64_t channels,
                     const Dims& spatial) {
  TensorDesc d;
  d.type = type;
  d.dims = {batch, channels};
  d.dims.insert(d.dims.end(), spatial.begin(), spatial.end());
  d.strides = DenseStrides(d.dims);
  if (channels_last) {
    int64_t stride = channels;
    d.strides[1] = 1;
    for (size_t i = d.dims.size(); i-- > 2;) {
      d.strides[i] = stride;
      stride *= d.dims[i];
    }
    d.strides[0] = stride;
  }
  return d;
}

}  // namespace tenon

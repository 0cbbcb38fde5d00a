#include "tests/sweep/draw.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/sweep/line.h"

namespace tenon::sweep {
namespace {

int64_t Channels(Dice& d) {
  return d.OneIn(4) ? d.Pick<int64_t>({20, 24, 31, 32, 33, 48, 63, 64, 65, 66, 96, 100, 128, 129})
                    : d.Int(1, 17);
}
// Kernels with little work stay on one thread; large batches give them enough for two.
int64_t Batch(Dice& d) { return d.OneIn(5) ? d.Int(4, 24) : d.Pick<int64_t>({1, 1, 2, 3}); }
int64_t Side(Dice& d) { return d.OneIn(10) ? d.Int(12, 35) : d.Int(1, 11); }

// How many elements a dilated filter spans.
int64_t Reach(int64_t taps, int64_t dilation) { return (taps - 1) * dilation + 1; }

// Shapes of a convolution, before channels are placed according to the format.
struct Window {
  std::string type;
  int64_t batch = 1, in = 1, out = 1, groups = 1;
  Ints image, filter, strides, dilations, result;
  std::string padding;
  Ints explicit_paddings;
  bool channels_first = false;

  int spatial() const { return static_cast<int>(image.size()); }
  Ints Place(const Ints& inner, int64_t channels) const {
    Ints dims{batch};
    if (channels_first) dims.push_back(channels);
    dims.insert(dims.end(), inner.begin(), inner.end());
    if (!channels_first) dims.push_back(channels);
    return dims;
  }
  // Sets `result` from the rest.
  void ComputeResult() {
    result.clear();
    for (size_t i = 0; i < image.size(); ++i) {
      const int64_t size = image[i], s = strides[i];
      if (padding == "SAME") {
        result.push_back((size + s - 1) / s);
        continue;
      }
      const size_t axis = i + (channels_first ? 2 : 1);
      const int64_t around = explicit_paddings.empty()
                                 ? 0
                                 : explicit_paddings[2 * axis] + explicit_paddings[2 * axis + 1];
      result.push_back((size + around - Reach(filter[i], dilations[i])) / s + 1);
    }
  }
  Ints PlaceOnes(const Ints& inner) const {
    Ints dims = Place(inner, 1);
    dims[0] = 1;
    return dims;
  }
  std::string Format() const {
    if (spatial() == 3) return channels_first ? "NCDHW" : "NDHWC";
    return channels_first ? "NCHW" : "NHWC";
  }
  std::string Attributes() const {
    std::string text = absl::StrCat(
        "T=", type, " strides=", List(PlaceOnes(strides)), " padding=\"", padding,
        "\" dilations=", List(PlaceOnes(dilations)), " data_format=\"", Format(), "\"");
    if (!explicit_paddings.empty()) {
      absl::StrAppend(&text, " explicit_paddings=", List(explicit_paddings));
    }
    return text;
  }
  Ints Filter() const {
    Ints dims = filter;
    dims.push_back(in / groups);
    dims.push_back(out);
    return dims;
  }
};

enum class Explicit { kAllowed, kNever };

Window DrawWindow(Dice& d, int spatial, Explicit allowed) {
  Window w;
  w.type = FloatType(d);
  w.batch = spatial == 3 ? d.Int(1, 3) : Batch(d);
  w.in = Channels(d);
  w.out = Channels(d);
  w.channels_first = d.OneIn(6);
  w.padding = d.Pick<const char*>({"SAME", "SAME", "VALID", "EXPLICIT"});
  if (w.padding == "EXPLICIT" && (allowed == Explicit::kNever || spatial != 2)) w.padding = "SAME";
  const bool one_by_one = d.OneIn(4), square = !d.OneIn(4);
  const int64_t stride = d.Int(1, 3), dilation = d.OneIn(4) ? d.Int(2, 3) : 1;
  const int64_t most = spatial == 3 ? 3 : 7;
  const int64_t width = d.OneIn(6) ? d.Int(1, most) : d.Pick<int64_t>({1, 2, 3, 3, 3});
  Ints paddings(static_cast<size_t>(2 * (spatial + 2)), 0);
  for (int i = 0; i < spatial; ++i) {
    const int64_t k = one_by_one ? 1 : square ? width : d.Int(1, std::min<int64_t>(most, 5));
    const int64_t s = square ? stride : d.Int(1, 3);
    const int64_t reach = Reach(k, dilation);
    int64_t size = spatial == 3 ? d.Int(1, 6) : Side(d);
    int64_t before = 0, after = 0;
    if (w.padding == "EXPLICIT") {  // some windows may lie entirely in the padding
      const int64_t deepest = d.OneIn(3) ? reach + 1 : 3;
      before = d.Int(0, deepest);
      after = d.Int(0, deepest);
    }
    if (w.padding != "SAME") size = std::max(size, reach - before - after);
    size = std::max<int64_t>(size, 1);
    const size_t axis = static_cast<size_t>(w.channels_first ? 2 + i : 1 + i);
    paddings[2 * axis] = before;
    paddings[2 * axis + 1] = after;
    w.image.push_back(size);
    w.filter.push_back(k);
    w.strides.push_back(s);
    w.dilations.push_back(dilation);
  }
  if (w.padding == "EXPLICIT") w.explicit_paddings = paddings;
  w.ComputeResult();
  return w;
}

void DrawGroups(Dice& d, Window& w) {
  if (!d.OneIn(4)) return;
  w.groups = d.Int(2, 4);
  w.in = w.groups * d.Int(1, 9);
  w.out = w.groups * d.Int(1, 9);
}

Window DrawConvolution(Dice& d, int spatial) {
  Window w = DrawWindow(d, spatial, Explicit::kAllowed);
  if (spatial == 2) DrawGroups(d, w);
  return w;
}

// "fused_ops=… num_args=…" and the extra inputs.
std::string DrawFusion(Dice& d, const std::string& type, int64_t channels, const Ints& result,
                       std::vector<std::string>& inputs) {
  std::vector<std::string> ops;
  int args = 0;
  auto add = [&](const char* op, const Ints& dims) {
    ops.push_back(op);
    inputs.push_back(In(type, dims));
    ++args;
  };
  if (!d.OneIn(5)) add("BiasAdd", {channels});
  if (d.OneIn(3)) add(d.OneIn(3) ? "Mul" : "Add", result);
  if (!d.OneIn(3)) {
    ops.push_back(
        d.Pick<const char*>({"Relu", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid",
                             "_Swish", "_HardSwish", "_Mish", "_GeluExact", "_GeluApproximate"}));
  }
  for (std::string& op : ops) op = absl::StrCat("\"", op, "\"");
  return absl::StrCat(" num_args=", args, " fused_ops=[", absl::StrJoin(ops, ","), "]");
}

std::string Const(Dice& d) { return d.OneIn(3) ? "" : "const"; }

std::string Forward(Dice& d, int spatial) {
  const Window w = DrawConvolution(d, spatial);
  std::vector<std::string> inputs{In(w.type, w.Place(w.image, w.in)),
                                  In(w.type, w.Filter(), Const(d))};
  const std::string op = absl::StrCat("Conv", spatial, "D");
  if (d.OneIn(3)) return Line(op, inputs, w.Attributes());
  const std::string fusion = DrawFusion(d, w.type, w.out, w.Place(w.result, w.out), inputs);
  return Line("_Fused" + op, inputs, w.Attributes() + fusion);
}

std::string InputGradient(Dice& d, const Window& w) {
  return Line(w.spatial() == 3 ? "Conv3DBackpropInputV2" : "Conv2DBackpropInput",
              {Sizes(w.Place(w.image, w.in)), In(w.type, w.Filter(), Const(d)),
               In(w.type, w.Place(w.result, w.out))},
              w.Attributes());
}

std::string FilterGradient(Dice& d, const Window& w) {
  const char* op = w.spatial() == 3 ? "Conv3DBackpropFilterV2"
                   : d.OneIn(3)     ? "_Conv2DBackpropFilterWithBias"
                                    : "Conv2DBackpropFilter";
  return Line(
      op,
      {In(w.type, w.Place(w.image, w.in)), Sizes(w.Filter()), In(w.type, w.Place(w.result, w.out))},
      w.Attributes());
}

std::string Conv2D(Dice& d) { return Forward(d, 2); }
std::string Conv3D(Dice& d) { return Forward(d, 3); }
std::string Conv2DInputGradient(Dice& d) { return InputGradient(d, DrawConvolution(d, 2)); }
std::string Conv3DInputGradient(Dice& d) { return InputGradient(d, DrawConvolution(d, 3)); }
std::string Conv2DFilterGradient(Dice& d) { return FilterGradient(d, DrawConvolution(d, 2)); }
std::string Conv3DFilterGradient(Dice& d) { return FilterGradient(d, DrawConvolution(d, 3)); }

// 1x1 filters with strides over few channels, for which oneDNN first reduces to unit stride.
std::string PointwiseGradient(Dice& d) {
  Window w;
  w.type = FloatType(d);
  w.batch = Batch(d);
  w.in = d.OneIn(2) ? d.Int(1, 17) : Channels(d);
  w.out = d.OneIn(2) ? d.Int(1, 17) : Channels(d);
  w.padding = d.Pick<const char*>({"SAME", "VALID"});
  for (int i = 0; i < 2; ++i) {
    const int64_t size = d.OneIn(4) ? d.Int(10, 20) : d.Int(1, 9), s = d.Int(1, 3);
    w.image.push_back(size);
    w.filter.push_back(1);
    w.strides.push_back(s);
    w.dilations.push_back(1);
  }
  if (!d.OneIn(4)) w.strides[1] = w.strides[0];
  w.ComputeResult();
  return d.OneIn(2) ? InputGradient(d, w) : FilterGradient(d, w);
}

std::string Depthwise(Dice& d) {
  Window w = DrawWindow(d, 2, Explicit::kAllowed);
  const int64_t multiplier = d.OneIn(4) ? d.Int(2, 3) : 1;
  w.strides[1] = w.strides[0];
  w.ComputeResult();
  Ints filter = w.filter;
  filter.push_back(w.in);
  filter.push_back(multiplier);
  w.out = w.in * multiplier;
  const std::string image = In(w.type, w.Place(w.image, w.in));
  const std::string result = In(w.type, w.Place(w.result, w.out));
  switch (d.Int(0, 3)) {
    case 0:
      return Line("DepthwiseConv2dNativeBackpropInput",
                  {Sizes(w.Place(w.image, w.in)), In(w.type, filter, Const(d)), result},
                  w.Attributes());
    case 1:
      return Line("DepthwiseConv2dNativeBackpropFilter", {image, Sizes(filter), result},
                  w.Attributes());
    case 2:
      return Line("DepthwiseConv2dNative", {image, In(w.type, filter, Const(d))}, w.Attributes());
    default: {
      std::vector<std::string> inputs{image, In(w.type, filter, Const(d))};
      const std::string fusion = DrawFusion(d, w.type, w.out, w.Place(w.result, w.out), inputs);
      return Line("_FusedDepthwiseConv2dNative", inputs, w.Attributes() + fusion);
    }
  }
}

// The chain of one of a block's convolutions; operands go to `args`.
std::string BlockChain(Dice& d, const std::string& stage, int64_t channels, const Ints& result,
                       std::vector<std::string>& args) {
  std::vector<std::string> own;
  const std::string fusion = DrawFusion(d, "f32", channels, result, own);
  args.insert(args.end(), own.begin(), own.end());
  return absl::StrReplaceAll(
      fusion, {{"num_args", "num_" + stage + "_args"}, {"fused_ops", stage + "_ops"}});
}

std::string InvertedResidual(Dice& d) {
  Window w = DrawWindow(d, 2, Explicit::kAllowed);
  w.channels_first = false;
  w.type = "f32";
  w.padding = d.Pick<const char*>({"SAME", "SAME", "VALID"});
  w.explicit_paddings.clear();
  const int64_t window = d.Pick<int64_t>({1, 3, 3, 5});
  if (!d.OneIn(3)) w.dilations[1] = 1;
  for (size_t i = 0; i < 2; ++i) {
    w.filter[i] = window;
    w.strides[i] = w.strides[0];
    w.image[i] = std::max(w.image[i], Reach(window, w.dilations[i]));
  }
  const int64_t channels = d.OneIn(4) ? Channels(d) : d.Pick<int64_t>({16, 24, 40, 72, 96});
  const bool projects = !d.OneIn(4);
  const int64_t before = w.in, after = w.out;
  w.in = w.out = channels;
  w.ComputeResult();
  Ints filter = w.filter;
  filter.insert(filter.end(), {channels, 1});
  std::vector<std::string> inputs{In("f32", w.Place(w.image, before)),
                                  In("f32", {1, 1, before, channels}, "const"),
                                  In("f32", filter, Const(d))};
  std::vector<std::string> args;
  std::string chains = BlockChain(d, "expand", channels, w.Place(w.image, channels), args);
  chains += BlockChain(d, "depthwise", channels, w.Place(w.result, channels), args);
  if (projects) {
    inputs.push_back(In("f32", {1, 1, channels, after}, "const"));
    chains += BlockChain(d, "project", after, w.Place(w.result, after), args);
  } else {
    chains += " num_project_args=0";
  }
  inputs.insert(inputs.end(), args.begin(), args.end());
  return Line("_FusedInvertedResidual", inputs,
              absl::StrCat(w.Attributes(), " num_project=", projects ? 1 : 0, chains));
}

int64_t Extent(Dice& d) {
  return d.OneIn(3) ? d.Pick<int64_t>({31, 32, 33, 48, 64, 65, 100, 127, 128, 130, 257})
                    : d.Int(1, 20);
}

std::string MatMul(Dice& d) {
  const std::string type = FloatType(d);
  const int64_t m = d.OneIn(4) ? 1 : Extent(d), k = Extent(d), n = Extent(d);
  const bool ta = d.OneIn(4), tb = d.OneIn(3);
  std::vector<std::string> inputs{In(type, ta ? Ints{k, m} : Ints{m, k}),
                                  In(type, tb ? Ints{n, k} : Ints{k, n}, Const(d))};
  const std::string attributes =
      absl::StrCat("T=", type, " transpose_a=", Bool(ta), " transpose_b=", Bool(tb));
  if (d.OneIn(2)) return Line("MatMul", inputs, attributes);
  const std::string fusion = DrawFusion(d, type, n, {m, n}, inputs);
  return Line("_FusedMatMul", inputs, attributes + fusion);
}

std::string BatchMatMul(Dice& d) {
  const std::string type = FloatType(d);
  const int64_t m = Extent(d), k = Extent(d), n = Extent(d), batch = d.Int(1, 3);
  const bool tx = d.OneIn(3), ty = d.OneIn(3);
  Ints x = tx ? Ints{k, m} : Ints{m, k}, y = ty ? Ints{n, k} : Ints{k, n};
  if (!d.OneIn(4)) x.insert(x.begin(), batch);
  if (!d.OneIn(4)) y.insert(y.begin(), d.OneIn(3) ? 1 : batch);
  if (d.OneIn(3)) x.insert(x.begin(), d.Int(1, 3));
  if (x.size() == 4 && y.size() == 2 && d.OneIn(2)) y.insert(y.begin(), x[1]);
  return Line("BatchMatMulV2", {In(type, x), In(type, y, Const(d))},
              absl::StrCat("T=", type, " adj_x=", Bool(tx), " adj_y=", Bool(ty)));
}

std::string Pool(Dice& d) {
  const int spatial = d.OneIn(4) ? 3 : 2;
  Window w = DrawWindow(d, spatial, Explicit::kNever);
  std::fill(w.dilations.begin(), w.dilations.end(), 1);  // a pooling window has none
  w.ComputeResult();
  const std::string attributes =
      absl::StrCat("T=", w.type, " ksize=", List(w.PlaceOnes(w.filter)),
                   " strides=", List(w.PlaceOnes(w.strides)), " padding=\"", w.padding,
                   "\" data_format=\"", w.Format(), "\"");
  const std::string image = In(w.type, w.Place(w.image, w.in));
  const std::string result = In(w.type, w.Place(w.result, w.in));
  const std::string suffix = spatial == 3 ? "3D" : "";
  switch (d.Int(0, 2)) {
    case 0:
      return Line("MaxPool" + suffix, {image}, attributes);
    case 1:
      return Line("AvgPool" + suffix, {image}, attributes);
    default:
      return Line("AvgPool" + suffix + "Grad", {Sizes(w.Place(w.image, w.in)), result}, attributes);
  }
}

Ints DrawShape(Dice& d, int64_t most) {
  Ints dims;
  const int64_t rank = d.Int(1, 4);
  for (int64_t i = 0; i < rank; ++i) dims.push_back(d.OneIn(6) ? d.Int(1, most) : d.Int(1, 9));
  return dims;
}

std::string Reduce(Dice& d) {
  const std::string type = FloatType(d);
  const Ints dims = DrawShape(d, 70);
  Ints axes;
  for (int64_t i = 0; i < std::ssize(dims); ++i) {
    if (d.OneIn(2)) axes.push_back(i);
  }
  const std::string op = d.Pick<const char*>({"Sum", "Mean", "Max", "Min", "Prod"});
  return Line(op,
              {In(type, dims, op == "Prod" ? "uniform(0.75,1.25)" : ""),
               absl::StrCat("i32[", axes.size(), "]=const:(", absl::StrJoin(axes, ","), ")")},
              absl::StrCat("T=", type, " Tidx=i32 keep_dims=", Bool(d.OneIn(2))));
}

std::string Softmax(Dice& d) {
  const std::string type = FloatType(d);
  return Line(d.Pick<const char*>({"Softmax", "LogSoftmax"}), {In(type, DrawShape(d, 300))},
              "T=" + type);
}

std::string Binary(Dice& d) {
  const std::string type = FloatType(d);
  Ints a = DrawShape(d, 70), b = a;
  for (int64_t& n : b) {
    if (d.OneIn(3)) n = 1;
  }
  if (d.OneIn(3)) b.erase(b.begin(), b.begin() + d.Int(0, std::ssize(b)));
  if (d.OneIn(2)) std::swap(a, b);
  return Line(d.Pick<const char*>(
                  {"AddV2", "Sub", "Mul", "Maximum", "Minimum", "RealDiv", "SquaredDifference"}),
              {In(type, a), In(type, b)}, "T=" + type);
}

std::string Unary(Dice& d) {
  const std::string type = FloatType(d);
  return Line(d.Pick<const char*>({"Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Tanh", "Sigmoid",
                                   "Exp", "Log", "Sqrt", "Rsqrt", "Square", "Abs", "Neg", "Erf",
                                   "Softplus", "Floor", "Round"}),
              {In(type, DrawShape(d, 70), "uniform(0.1,3)")}, "T=" + type);
}

std::string Normalize(Dice& d) {
  const std::string type = FloatType(d);
  const int64_t c = Channels(d);
  const Ints dims{d.Int(1, 3), Side(d), Side(d), c};
  const bool training = d.OneIn(2);
  const Ints statistics{training ? 0 : c};
  return absl::StrCat(
      Line("FusedBatchNormV3",
           {In(type, dims), In("f32", {c}, "uniform(0.5,1.5)"), In("f32", {c}),
            In("f32", statistics), In("f32", statistics, "uniform(0.5,1.5)")},
           absl::StrCat("T=", type, " U=f32 epsilon=0.001 is_training=", Bool(training))),
      " => ", training ? 5 : 1, " outputs");
}

// Ranges of the data, and of each filter of a contraction.
std::vector<std::string> Ranges(Dice& d, bool is_signed, int64_t channels) {
  const Ints each = d.OneIn(2) ? Ints{channels} : Ints{};
  return {In("f32", {}, is_signed ? "(-6)" : "(0)"), In("f32", {}, "(6)"),
          In("f32", each, "uniform(-2,-1)"), In("f32", each, "uniform(0.25,1)")};
}
void Append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::string QuantizedConv(Dice& d) {
  Window w = DrawWindow(d, 2, Explicit::kNever);
  w.channels_first = false;
  const bool is_signed = d.OneIn(2), depthwise = d.OneIn(3), relu = d.OneIn(2);
  const std::string type = is_signed ? "qi8" : "qu8", result = relu ? "qu8" : "qi8";
  const std::string values = is_signed ? "uniform(-128,127)" : "uniform(0,255)";
  Ints filter = w.Filter();
  if (depthwise) {
    w.strides[1] = w.strides[0];
    filter[3] = 1;
    w.out = w.in;
  }
  std::vector<std::string> inputs{In(type, w.Place(w.image, w.in), values),
                                  In("qi8", filter, "const:uniform(-127,127)"),
                                  In("f32", {w.out}, "uniform(-6,6)")};
  Append(inputs, Ranges(d, is_signed, w.out));
  Append(inputs, {In("f32", {}, relu ? "(0)" : "(-60)"), In("f32", {}, "(60)")});
  const int64_t zero = d.OneIn(2) ? 0 : is_signed ? d.Int(-128, 127) : d.Int(0, 255);
  return Line(depthwise ? "_FusedQuantizedDepthwiseConv2D" : "_FusedQuantizedConv2D", inputs,
              absl::StrCat("Tdevice_inputs=[", type,
                           ",qi8,f32] Thost_inputs=[f32,f32,f32,f32,f32,f32] "
                           "Tdevice_outputs=[",
                           result, "] Thost_outputs=[f32,f32] fused_ops=[\"BiasAdd\",",
                           relu ? "\"Relu\"," : "", "\"Requantize\"] Tinput=", type,
                           " Tfilter=qi8 Tbias=f32 Tsummand=qu8 out_type=", result,
                           " strides=", List(w.PlaceOnes(w.strides)), " padding=\"", w.padding,
                           "\" dilations=", List(w.PlaceOnes(w.dilations)), " data_zero=", zero));
}

std::string QuantizedMatMul(Dice& d) {
  const bool is_signed = d.OneIn(2), relu = d.OneIn(2);
  const std::string type = is_signed ? "qi8" : "qu8", result = relu ? "qu8" : "qi8";
  const int64_t m = Extent(d), k = Extent(d), n = Extent(d);
  std::vector<std::string> inputs{
      In(type, {m, k}, is_signed ? "uniform(-128,127)" : "uniform(0,255)"),
      In("qi8", {k, n}, "const:uniform(-127,127)"), In("f32", {n})};
  Append(inputs, {In("f32", {}, is_signed ? "(-6)" : "(0)"), In("f32", {}, "(6)"),
                  In("f32", {}, "(-1)"), In("f32", {}, "(1)")});
  Append(inputs, {In("f32", {}, relu ? "(0)" : "(-60)"), In("f32", {}, "(60)")});
  return Line(
      "_QuantizedMatMul", inputs,
      absl::StrCat("Tdevice_inputs=[", type,
                   ",qi8,f32] Thost_inputs=[f32,f32,f32,f32,f32,f32] Tdevice_outputs=[", result,
                   "] Thost_outputs=[f32,f32] fused_ops=[\"BiasAdd\",", relu ? "\"Relu\"," : "",
                   "\"Requantize\"] T1=", type, " T2=qi8 Tbias=f32 Tout=", result));
}

std::string QuantizedPool(Dice& d) {
  Window w = DrawWindow(d, 2, Explicit::kNever);
  w.channels_first = false;
  return Line(d.Pick<const char*>({"QuantizedMaxPool", "QuantizedAvgPool"}),
              {In("qu8", w.Place(w.image, w.in), "uniform(0,255)"), In("f32", {}, "(0)"),
               In("f32", {}, "(6)")},
              absl::StrCat("T=qu8 ksize=", List(w.PlaceOnes(w.filter)), " strides=",
                           List(w.PlaceOnes(w.strides)), " padding=\"", w.padding, "\""));
}

constexpr Family kFamilies[] = {
    {"conv2d", Conv2D},
    {"conv3d", Conv3D},
    {"conv2d_input_gradient", Conv2DInputGradient},
    {"conv2d_filter_gradient", Conv2DFilterGradient},
    {"conv3d_input_gradient", Conv3DInputGradient},
    {"conv3d_filter_gradient", Conv3DFilterGradient},
    {"pointwise_gradient", PointwiseGradient},
    {"depthwise", Depthwise},
    {"inverted_residual", InvertedResidual},
    {"matmul", MatMul},
    {"batch_matmul", BatchMatMul},
    {"pool", Pool},
    {"quantized_conv", QuantizedConv},
    {"quantized_matmul", QuantizedMatMul},
    {"quantized_pool", QuantizedPool},
    {"reduce", Reduce},
    {"softmax", Softmax},
    {"normalize", Normalize},
    {"binary", Binary},
    {"unary", Unary},
};

}  // namespace

absl::Span<const Family> Families() { return kFamilies; }

}  // namespace tenon::sweep

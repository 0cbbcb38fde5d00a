// Reductions over windows: pooling, running sums, and others.
#include <algorithm>

#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

using Dims = std::vector<int64_t>;

struct Window {
  Dims size, strides, base_dilation, dilation;
  Dims low, high;
};

absl::StatusOr<Window> WindowOf(const Op& op, int rank) {
  Window w;
  TENON_ASSIGN_OR_RETURN(w.size, IntegersOf(op, "window_dimensions"));
  TENON_ASSIGN_OR_RETURN(w.strides, IntegersOf(op, "window_strides"));
  TENON_ASSIGN_OR_RETURN(const Dims padding, IntegersOf(op, "padding"));
  const size_t n = static_cast<size_t>(rank);
  w.base_dilation.assign(n, 1);
  w.dilation.assign(n, 1);
  if (op.name == "reduce_window") {
    TENON_ASSIGN_OR_RETURN(w.base_dilation, IntegersOf(op, "base_dilations"));
    TENON_ASSIGN_OR_RETURN(w.dilation, IntegersOf(op, "window_dilations"));
  }
  if (w.size.size() != n || w.strides.size() != n || w.base_dilation.size() != n ||
      w.dilation.size() != n || padding.size() != 2 * n) {
    return InvalidArgument("of a window with too few dimensions");
  }
  for (size_t d = 0; d < n; ++d) {
    if (w.size[d] < 1 || w.strides[d] < 1 || w.base_dilation[d] < 1 || w.dilation[d] < 1) {
      return InvalidArgument("of an empty window");
    }
    w.low.push_back(padding[2 * d]);
    w.high.push_back(padding[2 * d + 1]);
  }
  return w;
}

bool AllAre(const Dims& dims, int64_t value) {
  return std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return d == value; });
}

// The dimension of a running sum (product) from the start, or from the end (`reverse`); else -1.
int RunsAlong(const Window& w, const Shape& shape, bool& reverse) {
  if (!AllAre(w.strides, 1) || !AllAre(w.base_dilation, 1) || !AllAre(w.dilation, 1)) return -1;
  int along = -1;
  for (int d = 0; d < shape.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    if (w.size[i] == 1 && w.low[i] == 0 && w.high[i] == 0) continue;
    const int64_t before = w.size[i] - 1;
    reverse = w.low[i] == 0 && w.high[i] == before;
    const bool runs = reverse || (w.low[i] == before && w.high[i] == 0);
    if (along >= 0 || !runs || w.size[i] != shape.dim(d)) return -1;
    along = d;
  }
  return along;
}

// Whether the padding is TensorFlow's "SAME".
bool IsSame(const Window& w, const Shape& shape) {
  for (int d = 0; d < shape.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    if (w.size[i] == 1 && w.strides[i] == 1 && w.low[i] == 0 && w.high[i] == 0) continue;
    const int64_t n = shape.dim(d);
    if (n < 1) return false;
    const int64_t outputs = (n - 1) / w.strides[i];
    int64_t needed = 0;
    if (__builtin_mul_overflow(outputs, w.strides[i], &needed) ||
        __builtin_add_overflow(needed, w.size[i], &needed)) {
      return false;
    }
    needed = std::max<int64_t>(needed - n, 0);
    if (w.low[i] != needed / 2 || w.high[i] != needed - needed / 2) return false;
  }
  return true;
}

void InsertAt(Window& w, size_t at) {
  for (Dims* dims : {&w.size, &w.strides, &w.base_dilation, &w.dilation}) {
    dims->insert(dims->begin() + static_cast<long>(at), 1);
  }
  w.low.insert(w.low.begin() + static_cast<long>(at), 0);
  w.high.insert(w.high.begin() + static_cast<long>(at), 0);
}

absl::StatusOr<Ref> Bordered(Body& body, const Ref& x, const Ref& value, const Window& w) {
  if (AllAre(w.low, 0) && AllAre(w.high, 0)) return x;
  const Dims none(w.low.size(), 0);
  TENON_ASSIGN_OR_RETURN(const Ref low, body.Integers32(w.low));
  TENON_ASSIGN_OR_RETURN(const Ref high, body.Integers32(w.high));
  TENON_ASSIGN_OR_RETURN(const Ref between, body.Integers32(none));
  return body.Node("XlaPad", {x, value, low, high, between},
                   {{"T", x.dtype}, {"Tindices", DType::kInt32}}, x.dtype);
}

// Whether only the dimensions between the first and the last have windows.
bool IsChannelsLast(const Window& w) {
  const size_t last = w.size.size() - 1;
  for (size_t d : {size_t{0}, last}) {
    if (w.size[d] != 1 || w.strides[d] != 1 || w.low[d] != 0 || w.high[d] != 0) return false;
  }
  return true;
}

// MaxPool, or a sum by AvgPool, of images or volumes with channels last.
absl::StatusOr<Ref> Pooled(Body& body, const Ref& x, const Ref& border, bool largest,
                           const Window& w, const Shape& shape) {
  const bool volumes = w.size.size() == 5;
  const bool same = largest && IsSame(w, shape);
  Ref input = x;
  if (!same) {
    TENON_ASSIGN_OR_RETURN(input, Bordered(body, x, border, w));
  }
  // op names: windows of images and of volumes.
  const char* tf_op =
      largest ? (volumes ? "MaxPool3D" : "MaxPool") : (volumes ? "AvgPool3D" : "AvgPool");
  TENON_ASSIGN_OR_RETURN(Ref y, body.Node(tf_op, {input},
                                          {{"T", x.dtype},
                                           {"ksize", w.size},
                                           {"strides", w.strides},
                                           {"padding", same ? "SAME" : "VALID"}},
                                          x.dtype));
  if (largest) return y;
  double count = 1;
  for (int64_t n : w.size) count *= static_cast<double>(n);
  TENON_ASSIGN_OR_RETURN(const Ref factor, body.Constant(ScalarOf(x.dtype, count)));
  return body.Unary("Mul", {y, factor});
}

std::shared_ptr<const Origin> OriginOf(const Value& x, const Ref& input, const Shape& shape,
                                       const Window& w) {
  auto origin = std::make_shared<Origin>();
  double number;
  const bool ones = x.UniformNumber(number) && number == 1;
  origin->kind = ones ? Origin::Kind::kWindowCount : Origin::Kind::kWindowSum;
  origin->input = input;
  origin->input_shape = shape;
  origin->dims = w.size;
  origin->strides = w.strides;
  origin->same = !AllAre(w.low, 0) || !AllAre(w.high, 0);
  if (origin->same && !IsSame(w, shape)) return nullptr;
  origin->count = 1;
  for (int64_t n : w.size) {
    if (__builtin_mul_overflow(origin->count, n, &origin->count)) return nullptr;
  }
  return origin;
}

// Pooling if the windows are those of a signal, an image or a volume; false if not.
absl::StatusOr<bool> Pool(Body& body, const Op& op, Value x, const Value& start, bool largest,
                          Window w) {
  const int rank = x.rank();
  if (rank < 3 || rank > 5 || !IsFloating(x.dtype) || !AllAre(w.base_dilation, 1) ||
      !AllAre(w.dilation, 1)) {
    return false;
  }
  for (size_t d = 0; d < w.low.size(); ++d) {
    if (w.low[d] < 0 || w.high[d] < 0 || w.low[d] >= w.size[d] || w.high[d] >= w.size[d]) {
      if (w.low[d] != 0 || w.high[d] != 0) return false;
    }
  }
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  const Value plain = x;
  std::vector<int64_t> order;
  if (!IsChannelsLast(w)) {  // channels in front of the windows
    if (w.size[0] != 1 || w.size[1] != 1) return false;
    order = {0};
    for (int64_t d = 2; d < rank; ++d) order.push_back(d);
    order.push_back(1);
    Window moved = w;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t from = static_cast<size_t>(order[i]);
      moved.size[i] = w.size[from];
      moved.strides[i] = w.strides[from];
      moved.low[i] = w.low[from];
      moved.high[i] = w.high[from];
    }
    if (!IsChannelsLast(moved)) return false;
    TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
    TENON_ASSIGN_OR_RETURN(const Ref perm, body.Integers32(order));
    TENON_ASSIGN_OR_RETURN(
        Ref last,
        body.Node("Transpose", {whole, perm}, {{"T", x.dtype}, {"Tperm", DType::kInt32}}, x.dtype));
    Shape shape;
    for (int64_t d : order) shape.push_back(x.shape.dim(static_cast<int>(d)));
    x = Whole(std::move(last), std::move(shape));
    w = std::move(moved);
  }
  if (rank == 3) {
    x.shape.insert(1, 1);
    x.axes.insert(x.axes.begin() + 1, -1);
    InsertAt(w, 1);
  }
  TENON_ASSIGN_OR_RETURN(const Ref input, body.Full(x));
  TENON_ASSIGN_OR_RETURN(const Ref border, body.Full(start));
  TENON_ASSIGN_OR_RETURN(Ref pooled, Pooled(body, input, border, largest, w, x.shape));
  Shape shape = type->shape;
  if (!order.empty()) {
    if (rank == 3) {
      TENON_ASSIGN_OR_RETURN(
          pooled,
          body.Node("Squeeze", {pooled}, {{"T", x.dtype}, {"squeeze_dims", Dims{1}}}, x.dtype));
    }
    Dims inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    }
    TENON_ASSIGN_OR_RETURN(const Ref perm, body.Integers32(inverse));
    TENON_ASSIGN_OR_RETURN(pooled, body.Node("Transpose", {pooled, perm},
                                             {{"T", x.dtype}, {"Tperm", DType::kInt32}}, x.dtype));
    TENON_RETURN_IF_ERROR(body.DefineResult(op, Whole(std::move(pooled), std::move(shape))));
    return true;
  }
  if (rank == 3) shape.insert(1, 1);
  Value y = Whole(std::move(pooled), std::move(shape));
  if (!largest && rank != 5) y.origin = OriginOf(plain, input, x.shape, w);
  if (rank == 3) {
    y.shape = type->shape;
    y.axes.erase(y.axes.begin() + 1);
  }
  TENON_RETURN_IF_ERROR(body.DefineResult(op, std::move(y)));
  return true;
}

// The inputs that XlaReduceWindow and XlaSelectAndScatter describe a window by.
absl::StatusOr<Ref> Paddings(Body& body, const Window& w) {
  std::vector<int64_t> pairs;
  for (size_t d = 0; d < w.low.size(); ++d) {
    pairs.push_back(w.low[d]);
    pairs.push_back(w.high[d]);
  }
  return body.Constant(
      Tensor::From<int64_t>(Shape({static_cast<int64_t>(w.low.size()), 2}), std::move(pairs)));
}

absl::Status General(Body& body, const Op& op, const Block& block, const Window& w) {
  TENON_ASSIGN_OR_RETURN(const Ref x, body.FullOperand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Ref start, body.FullOperand(op, 1));
  std::vector<Ref> inputs = {x, start};
  for (const Dims* dims : {&w.size, &w.strides, &w.base_dilation, &w.dilation}) {
    TENON_ASSIGN_OR_RETURN(Ref part, body.Constant(Tensor::Vector<int64_t>(*dims)));
    inputs.push_back(std::move(part));
  }
  TENON_ASSIGN_OR_RETURN(Ref padding, Paddings(body, w));
  inputs.push_back(std::move(padding));
  TENON_ASSIGN_OR_RETURN(FuncRef reducer, ScalarFunction(body, block, "reducer"));
  return body.DefineNode(
      op, "XlaReduceWindow", inputs,
      {{"T", x.dtype}, {"Tindices", DType::kInt64}, {"computation", std::move(reducer)}});
}

absl::Status ReduceWindow(Body& body, const Op& op) {
  if (op.operands.size() != 2) return Unimplemented("of several tensors at once");
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value start, body.Operand(op, 1));
  TENON_ASSIGN_OR_RETURN(const Window w, WindowOf(op, x.rank()));
  TENON_ASSIGN_OR_RETURN(const Block* block, RegionOf(op, 0));
  const absl::string_view combined = BinaryOpOf(*block);
  const bool neutral = IsNeutral(combined, start);
  bool reverse = false;
  const int along = neutral ? RunsAlong(w, x.shape, reverse) : -1;
  if (along >= 0 && x.dtype != DType::kBool && (combined == "add" || combined == "multiply")) {
    TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
    TENON_ASSIGN_OR_RETURN(const Ref axis, body.Constant(Tensor::Scalar<int32_t>(along)));
    return body.DefineNode(op, combined == "add" ? "Cumsum" : "Cumprod", {whole, axis},
                           {{"T", x.dtype}, {"Tidx", DType::kInt32}, {"reverse", reverse}});
  }
  if (neutral && (combined == "add" || combined == "maximum")) {
    TENON_ASSIGN_OR_RETURN(const bool done, Pool(body, op, x, start, combined == "maximum", w));
    if (done) return absl::OkStatus();
  }
  return General(body, op, *block, w);
}

// Operands: what is compared, what is scattered, the start.
absl::Status SelectAndScatter(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  TENON_ASSIGN_OR_RETURN(const Ref source, body.FullOperand(op, 1));
  TENON_ASSIGN_OR_RETURN(const Ref start, body.FullOperand(op, 2));
  TENON_ASSIGN_OR_RETURN(const Window w, WindowOf(op, x.rank()));
  TENON_ASSIGN_OR_RETURN(const Block* select, RegionOf(op, 0));
  TENON_ASSIGN_OR_RETURN(const Block* scatter, RegionOf(op, 1));
  TENON_ASSIGN_OR_RETURN(const Ref size, body.Constant(Tensor::Vector<int64_t>(w.size)));
  TENON_ASSIGN_OR_RETURN(const Ref strides, body.Constant(Tensor::Vector<int64_t>(w.strides)));
  TENON_ASSIGN_OR_RETURN(const Ref padding, Paddings(body, w));
  TENON_ASSIGN_OR_RETURN(FuncRef selects, ScalarFunction(body, *select, "select"));
  TENON_ASSIGN_OR_RETURN(FuncRef scatters, ScalarFunction(body, *scatter, "scatter"));
  return body.DefineNode(op, "XlaSelectAndScatter", {whole, size, strides, padding, source, start},
                         {{"T", x.dtype},
                          {"Tindices", DType::kInt64},
                          {"select", std::move(selects)},
                          {"scatter", std::move(scatters)}});
}

constexpr Lowering kWindows[] = {
    {"reduce_window", ReduceWindow},
    {"select_and_scatter", SelectAndScatter},
};

}  // namespace

absl::Span<const Lowering> WindowLowerings() { return kWindows; }

}  // namespace tenon::stablehlo

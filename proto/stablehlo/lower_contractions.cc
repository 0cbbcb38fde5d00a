// Products and convolutions.
#include <algorithm>
#include <numeric>

#include "env/status.h"
#include "proto/stablehlo/dimension_numbers.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

using Dims = std::vector<int64_t>;

bool Contains(const Dims& dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

char Letter(int64_t i) { return static_cast<char>(i < 26 ? 'a' + i : 'A' + i - 26); }

struct Dot {
  Dims lhs_batch, rhs_batch, lhs_contracted, rhs_contracted;
};

// The result's dimensions: those of the batch, then the others of lhs, then those of rhs.
std::string Equation(const Dot& dot, int lhs, int rhs) {
  std::string a, b, out;
  for (int64_t d : dot.lhs_batch) out += Letter(d);
  for (int64_t d = 0; d < lhs; ++d) {
    a += Letter(d);
    if (!Contains(dot.lhs_batch, d) && !Contains(dot.lhs_contracted, d)) out += Letter(d);
  }
  for (int64_t d = 0; d < rhs; ++d) {
    const auto batch = std::find(dot.rhs_batch.begin(), dot.rhs_batch.end(), d);
    const auto contracted = std::find(dot.rhs_contracted.begin(), dot.rhs_contracted.end(), d);
    if (batch != dot.rhs_batch.end()) {
      b += Letter(dot.lhs_batch[static_cast<size_t>(batch - dot.rhs_batch.begin())]);
    } else if (contracted != dot.rhs_contracted.end()) {
      b += Letter(dot.lhs_contracted[static_cast<size_t>(contracted - dot.rhs_contracted.begin())]);
    } else {
      b += Letter(lhs + d);
      out += Letter(lhs + d);
    }
  }
  return absl::StrCat(a, ",", b, "->", out);
}

void Erase(Dims& dims, int64_t d) {
  for (int64_t& other : dims) other -= other > d ? 1 : 0;
}

// Takes dimensions of 1 that are neither of the batch nor contracted out of an operand, down to a
// matrix, and returns where they are missing in the result, whose dimensions of this operand begin
// at `first`.
Dims DropUnits(Value& v, Dims& batch, Dims& contracted, int64_t first) {
  Dims dropped;
  int64_t at = first;
  for (int d = 0; d < v.rank();) {
    const bool free = !Contains(batch, d) && !Contains(contracted, d);
    if (free && v.shape.dim(d) == 1 && v.rank() > 2) {
      v = WithoutUnit(v, d);
      Erase(batch, d);
      Erase(contracted, d);
      dropped.push_back(at);
    } else {
      ++d;
    }
    at += free ? 1 : 0;
  }
  return dropped;
}

absl::Status Product(Body& body, const Op& op, Dot dot) {
  TENON_ASSIGN_OR_RETURN(Value lhs, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(Value rhs, body.Operand(op, 1));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  if (dot.lhs_batch.size() != dot.rhs_batch.size() ||
      dot.lhs_contracted.size() != dot.rhs_contracted.size()) {
    return InvalidArgument("pairs dimensions with nothing");
  }
  const int64_t of_batch = static_cast<int64_t>(dot.lhs_batch.size());
  const int64_t of_lhs = lhs.rank() - of_batch - static_cast<int64_t>(dot.lhs_contracted.size());
  const int64_t rank = of_lhs + rhs.rank() - static_cast<int64_t>(dot.rhs_contracted.size());
  if (rank != type->shape.rank()) return InvalidArgument("gives a tensor of rank ", rank);
  Dims units = DropUnits(lhs, dot.lhs_batch, dot.lhs_contracted, of_batch);
  const Dims more = DropUnits(rhs, dot.rhs_batch, dot.rhs_contracted, of_batch + of_lhs);
  units.insert(units.end(), more.begin(), more.end());
  Shape shape = type->shape;
  for (auto d = units.rbegin(); d != units.rend(); ++d) shape.erase(static_cast<int>(*d));
  const auto define = [&](absl::StatusOr<Ref> made) -> absl::Status {
    if (!made.ok()) return made.status();
    Value y = Whole(*std::move(made), shape);
    for (int64_t d : units) y = WithUnit(y, static_cast<int>(d));
    return body.DefineResult(op, std::move(y));
  };
  TENON_ASSIGN_OR_RETURN(Ref a, body.Full(lhs));
  TENON_ASSIGN_OR_RETURN(Ref b, body.Full(rhs));
  const DType dtype = type->dtype;
  if (!IsFloating(dtype) && !IsComplex(dtype)) {
    const std::string numbers = DimensionNumbers(
        {{1, dot.lhs_contracted}, {2, dot.rhs_contracted}, {3, dot.lhs_batch}, {4, dot.rhs_batch}});
    return define(body.Node("XlaDotV2", {a, b},
                            {{"LhsT", a.dtype},
                             {"RhsT", b.dtype},
                             {"dimension_numbers", numbers},
                             {"precision_config", ""},
                             {"preferred_element_type", dtype}},
                            dtype));
  }
  // Narrow operands of a wide result are exact in it.
  TENON_ASSIGN_OR_RETURN(a, body.Cast(a, dtype));
  TENON_ASSIGN_OR_RETURN(b, body.Cast(b, dtype));
  if (lhs.rank() == 2 && rhs.rank() == 2 && dot.lhs_contracted.size() == 1 &&
      dot.lhs_batch.empty()) {
    return define(body.Node("MatMul", {a, b},
                            {{"T", dtype},
                             {"transpose_a", dot.lhs_contracted[0] == 0},
                             {"transpose_b", dot.rhs_contracted[0] == 1}},
                            dtype));
  }
  if (lhs.rank() + rhs.rank() > 52) return Unimplemented("of that many dimensions");
  return define(body.Node(
      "Einsum", {a, b},
      {{"T", dtype}, {"N", int64_t{2}}, {"equation", Equation(dot, lhs.rank(), rhs.rank())}},
      dtype));
}

// Both lists are dimensions of one operand, without a common one.
absl::Status CheckApart(const Dims& batch, const Dims& contracted) {
  for (int64_t d : batch) {
    if (Contains(contracted, d)) return InvalidArgument("contracts a dimension of the batch");
  }
  return absl::OkStatus();
}

absl::Status DotGeneral(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value lhs, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value rhs, body.Operand(op, 1));
  Dot dot;
  TENON_ASSIGN_OR_RETURN(dot.lhs_batch, DimsOf(op, "lhs_batching_dimensions", lhs.rank()));
  TENON_ASSIGN_OR_RETURN(dot.rhs_batch, DimsOf(op, "rhs_batching_dimensions", rhs.rank()));
  TENON_ASSIGN_OR_RETURN(dot.lhs_contracted, DimsOf(op, "lhs_contracting_dimensions", lhs.rank()));
  TENON_ASSIGN_OR_RETURN(dot.rhs_contracted, DimsOf(op, "rhs_contracting_dimensions", rhs.rank()));
  TENON_RETURN_IF_ERROR(CheckApart(dot.lhs_batch, dot.lhs_contracted));
  TENON_RETURN_IF_ERROR(CheckApart(dot.rhs_batch, dot.rhs_contracted));
  return Product(body, op, dot);
}

absl::Status PlainDot(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value lhs, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value rhs, body.Operand(op, 1));
  if (lhs.rank() < 1 || rhs.rank() < 1) return InvalidArgument("of a scalar");
  Dot dot;
  dot.lhs_contracted = {lhs.rank() - 1};
  dot.rhs_contracted = {0};
  return Product(body, op, dot);
}

// ---- convolutions ----

struct Layout {
  int64_t batch = 0, feature = 0;  // of a filter: output features, input features
  Dims spatial;

  // Makes room for a spatial dimension in front of the only one.
  void InsertSpatial() {
    const int64_t at = spatial[0];
    batch += batch >= at ? 1 : 0;
    feature += feature >= at ? 1 : 0;
    spatial = {at, at + 1};
  }
  // batch, spatial dimensions, feature; of a filter: spatial dimensions, input, output features.
  Dims ImageOrder() const {
    Dims order = {batch};
    order.insert(order.end(), spatial.begin(), spatial.end());
    order.push_back(feature);
    return order;
  }
  Dims FilterOrder() const {
    Dims order = spatial;
    order.push_back(feature);
    order.push_back(batch);
    return order;
  }
};

absl::StatusOr<Layout> LayoutOf(const Op& op, absl::string_view what, absl::string_view batch,
                                absl::string_view feature, int rank) {
  Layout l;
  TENON_ASSIGN_OR_RETURN(l.batch, IntegerOf(op, absl::StrCat(what, batch)));
  TENON_ASSIGN_OR_RETURN(l.feature, IntegerOf(op, absl::StrCat(what, feature)));
  TENON_ASSIGN_OR_RETURN(l.spatial, DimsOf(op, absl::StrCat(what, "_spatial_dimensions"), rank));
  Dims all = l.ImageOrder();
  std::sort(all.begin(), all.end());
  for (size_t d = 0; d < all.size(); ++d) {
    if (all[d] != static_cast<int64_t>(d)) all.clear();
  }
  if (static_cast<int>(all.size()) != rank) return InvalidArgument("of a wrong layout");
  return l;
}

struct Conv {
  Layout input, kernel, output;
  Dims strides, lhs_dilation, rhs_dilation, reversal;
  Dims padding;  // low and high, by spatial dimension; empty: an operand
  int64_t feature_groups = 1, batch_groups = 1;

  size_t spatial() const { return strides.size(); }
};

bool AllOnes(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d == 1; });
}

absl::StatusOr<Conv> ConvOf(const Op& op, int rank) {
  Conv c;
  TENON_ASSIGN_OR_RETURN(c.input,
                         LayoutOf(op, "input", "_batch_dimension", "_feature_dimension", rank));
  TENON_ASSIGN_OR_RETURN(c.kernel, LayoutOf(op, "kernel", "_output_feature_dimension",
                                            "_input_feature_dimension", rank));
  TENON_ASSIGN_OR_RETURN(c.output,
                         LayoutOf(op, "output", "_batch_dimension", "_feature_dimension", rank));
  TENON_ASSIGN_OR_RETURN(c.strides, IntegersOf(op, "window_strides"));
  TENON_ASSIGN_OR_RETURN(c.lhs_dilation, IntegersOf(op, "lhs_dilation"));
  TENON_ASSIGN_OR_RETURN(c.rhs_dilation, IntegersOf(op, "rhs_dilation"));
  TENON_ASSIGN_OR_RETURN(c.reversal, IntegersOf(op, "window_reversal"));
  TENON_ASSIGN_OR_RETURN(c.feature_groups, IntegerOf(op, "feature_group_count"));
  TENON_ASSIGN_OR_RETURN(c.batch_groups, IntegerOf(op, "batch_group_count"));
  if (op.name == "convolution") {
    TENON_ASSIGN_OR_RETURN(c.padding, IntegersOf(op, "padding"));
  }
  const size_t n = c.input.spatial.size();
  if (c.strides.size() != n || c.lhs_dilation.size() != n || c.rhs_dilation.size() != n ||
      c.reversal.size() != n || c.kernel.spatial.size() != n || c.output.spatial.size() != n ||
      (op.name == "convolution" && c.padding.size() != 2 * n)) {
    return InvalidArgument("of a window with too few dimensions");
  }
  return c;
}

Dims Inverse(const Dims& order) {
  Dims inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

// The image with its border, and with zeros between its elements.
absl::StatusOr<Ref> Padded(Body& body, const Ref& x, int rank, const Dims& spatial, Conv& c) {
  Dims low(static_cast<size_t>(rank), 0), high = low, between = low;
  for (size_t i = 0; i < c.spatial(); ++i) {
    const size_t d = static_cast<size_t>(spatial[i]);
    low[d] = c.padding[2 * i];
    high[d] = c.padding[2 * i + 1];
    between[d] = c.lhs_dilation[i] - 1;
  }
  c.padding.assign(c.padding.size(), 0);
  c.lhs_dilation.assign(c.spatial(), 1);
  TENON_ASSIGN_OR_RETURN(const Ref zero, body.Constant(ScalarOf(x.dtype, 0)));
  TENON_ASSIGN_OR_RETURN(const Ref l, body.Integers32(low));
  TENON_ASSIGN_OR_RETURN(const Ref h, body.Integers32(high));
  TENON_ASSIGN_OR_RETURN(const Ref b, body.Integers32(between));
  return body.Node("XlaPad", {x, zero, l, h, b}, {{"T", x.dtype}, {"Tindices", DType::kInt32}},
                   x.dtype);
}

// A convolution of volumes, channels last.
absl::StatusOr<Ref> Volumes(Body& body, Ref x, Ref filter, Conv& c) {
  const bool border =
      std::any_of(c.padding.begin(), c.padding.end(), [](int64_t p) { return p != 0; });
  if (border) {
    TENON_ASSIGN_OR_RETURN(x, Padded(body, x, 5, c.input.spatial, c));
  }
  TENON_ASSIGN_OR_RETURN(x, body.Transposed(x, c.input.ImageOrder()));
  TENON_ASSIGN_OR_RETURN(filter, body.Transposed(filter, c.kernel.FilterOrder()));
  Dims strides = {1}, dilations = {1};
  strides.insert(strides.end(), c.strides.begin(), c.strides.end());
  dilations.insert(dilations.end(), c.rhs_dilation.begin(), c.rhs_dilation.end());
  strides.push_back(1);
  dilations.push_back(1);
  TENON_ASSIGN_OR_RETURN(
      const Ref y,
      body.Node(
          "Conv3D", {x, filter},
          {{"T", x.dtype}, {"strides", strides}, {"dilations", dilations}, {"padding", "VALID"}},
          x.dtype));
  return body.Transposed(y, Inverse(c.output.ImageOrder()));
}

// The general form, which rewriting turns into Conv2D or DepthwiseConv2dNative where it is one.
absl::StatusOr<Ref> General(Body& body, const Op& op, const Ref& x, const Ref& filter, DType dtype,
                            const Conv& c) {
  const std::string numbers = DimensionNumbers({{3, {c.kernel.feature}},
                                                {4, {c.kernel.batch}},
                                                {6, c.kernel.spatial},
                                                {7, {c.input.batch}},
                                                {8, {c.input.feature}},
                                                {9, {c.output.batch}},
                                                {10, {c.output.feature}},
                                                {11, c.input.spatial},
                                                {12, c.output.spatial}});
  const auto integers = [&](const Dims& values, const Shape& shape) {
    std::vector<int32_t> narrow(values.begin(), values.end());
    return body.Constant(Tensor::From<int32_t>(shape, std::move(narrow)));
  };
  const int64_t n = static_cast<int64_t>(c.spatial());
  TENON_ASSIGN_OR_RETURN(const Ref strides, integers(c.strides, Shape({n})));
  TENON_ASSIGN_OR_RETURN(const Ref lhs_dilation, integers(c.lhs_dilation, Shape({n})));
  TENON_ASSIGN_OR_RETURN(const Ref rhs_dilation, integers(c.rhs_dilation, Shape({n})));
  TENON_ASSIGN_OR_RETURN(const Ref groups, integers({c.feature_groups}, Shape()));
  Ref padding;
  if (c.padding.empty() && n > 0) {
    TENON_ASSIGN_OR_RETURN(padding, body.FullOperand(op, 2));
    TENON_ASSIGN_OR_RETURN(padding, body.Cast(padding, DType::kInt32));
  } else {
    TENON_ASSIGN_OR_RETURN(padding, integers(c.padding, Shape({n, 2})));
  }
  return body.Node("XlaConvV2", {x, filter, strides, padding, lhs_dilation, rhs_dilation, groups},
                   {{"LhsT", x.dtype},
                    {"RhsT", filter.dtype},
                    {"Tindices", DType::kInt32},
                    {"dimension_numbers", numbers},
                    {"precision_config", ""},
                    {"preferred_element_type", dtype},
                    {"batch_group_count", c.batch_groups}},
                   dtype);
}

absl::Status Convolution(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(Value lhs, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(Value rhs, body.Operand(op, 1));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  if (lhs.rank() != rhs.rank() || lhs.rank() != type->shape.rank() || lhs.rank() < 2) {
    return InvalidArgument("of operands of different ranks");
  }
  TENON_ASSIGN_OR_RETURN(Conv c, ConvOf(op, lhs.rank()));
  const auto wide = [](const Dims& dims) {
    return std::any_of(dims.begin(), dims.end(),
                       [](int64_t d) { return d < -(1 << 30) || d > 1 << 30; });
  };
  if (wide(c.strides) || wide(c.padding) || wide(c.lhs_dilation) || wide(c.rhs_dilation) ||
      wide({c.feature_groups})) {
    return InvalidArgument("of an absurd window");
  }
  const bool signal = c.spatial() == 1 && !c.padding.empty();  // as an image with one row
  Shape out = type->shape;
  if (signal) {
    lhs = WithUnit(lhs, static_cast<int>(c.input.spatial[0]));
    rhs = WithUnit(rhs, static_cast<int>(c.kernel.spatial[0]));
    out.insert(static_cast<int>(c.output.spatial[0]), 1);
    c.input.InsertSpatial();
    c.kernel.InsertSpatial();
    c.output.InsertSpatial();
    for (Dims* dims : {&c.strides, &c.lhs_dilation, &c.rhs_dilation})
      dims->insert(dims->begin(), 1);
    c.reversal.insert(c.reversal.begin(), 0);
    c.padding.insert(c.padding.begin(), {0, 0});
  }
  TENON_ASSIGN_OR_RETURN(Ref x, body.Full(lhs));
  TENON_ASSIGN_OR_RETURN(Ref filter, body.Full(rhs));
  Dims reversed;
  for (size_t i = 0; i < c.spatial(); ++i) {
    if (c.reversal[i] != 0) reversed.push_back(c.kernel.spatial[i]);
  }
  if (!reversed.empty()) {
    TENON_ASSIGN_OR_RETURN(const Ref axes, body.Integers32(reversed));
    TENON_ASSIGN_OR_RETURN(filter,
                           body.Node("ReverseV2", {filter, axes},
                                     {{"T", filter.dtype}, {"Tidx", DType::kInt32}}, filter.dtype));
  }
  const bool floats = IsFloating(type->dtype) && x.dtype == type->dtype && filter.dtype == x.dtype;
  // A convolution of an image with gaps is one of the image that has zeros in them.
  if (floats && !AllOnes(c.lhs_dilation) && !c.padding.empty() && c.batch_groups == 1) {
    TENON_ASSIGN_OR_RETURN(x, Padded(body, x, lhs.rank(), c.input.spatial, c));
  }
  const bool volumes = c.spatial() == 3 && floats && c.feature_groups == 1 && c.batch_groups == 1 &&
                       !c.padding.empty() && AllOnes(c.lhs_dilation);
  absl::StatusOr<Ref> y =
      volumes ? Volumes(body, x, filter, c) : General(body, op, x, filter, type->dtype, c);
  if (!y.ok()) return y.status();
  Value result = Whole(*std::move(y), out);
  if (signal) {
    const int64_t at = c.output.spatial[0];
    result.shape = type->shape;
    result.axes.erase(result.axes.begin() + at);
  }
  return body.DefineResult(op, std::move(result));
}

constexpr Lowering kContractions[] = {
    {"convolution", Convolution},
    {"dot", PlainDot},
    {"dot_general", DotGeneral},
    {"dynamic_conv", Convolution},
};

}  // namespace

absl::Span<const Lowering> ContractionLowerings() { return kContractions; }

}  // namespace tenon::stablehlo

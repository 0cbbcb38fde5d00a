// Ops about shapes, most of which only give another view of a tensor; constants.
#include <algorithm>
#include <limits>
#include <numeric>

#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

absl::Status Constant(Body& body, const Op& op) {
  const Attribute* value = op.attr("value");
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  if (value == nullptr || !value->tensor.valid()) return InvalidArgument("has no value");
  TENON_ASSIGN_OR_RETURN(Value v, body.ConstantValue(value->tensor, type->shape));
  return body.DefineResult(op, std::move(v));
}

// 0, 1, 2 … along one dimension.
absl::StatusOr<Value> Counting(Body& body, const Type& type, int64_t dim, const Ref& sizes) {
  const bool wide = type.dtype == DType::kInt64 || type.dtype == DType::kUint64;
  const DType as = wide ? DType::kInt64 : DType::kInt32;
  const int64_t n = type.shape.dim(static_cast<int>(dim));
  const auto scalar = [&](int64_t number) {
    return body.Constant(wide ? Tensor::Scalar<int64_t>(number)
                              : Tensor::Scalar<int32_t>(static_cast<int32_t>(number)));
  };
  if (n > std::numeric_limits<int32_t>::max()) return Unimplemented("of ", n, " numbers");
  TENON_ASSIGN_OR_RETURN(const Ref zero, scalar(0));
  TENON_ASSIGN_OR_RETURN(const Ref one, scalar(1));
  Ref end;
  if (n >= 0) {
    TENON_ASSIGN_OR_RETURN(end, scalar(n));
  } else {
    TENON_ASSIGN_OR_RETURN(const Ref at, body.Integers32({dim}));
    TENON_ASSIGN_OR_RETURN(const Ref length, body.Integers32({1}));
    TENON_ASSIGN_OR_RETURN(const Ref size,
                           body.Node("Slice", {sizes, at, length},
                                     {{"T", sizes.dtype}, {"Index", DType::kInt32}}, sizes.dtype));
    TENON_ASSIGN_OR_RETURN(end, body.Reshape(size, Shape({1}), Shape()));
    TENON_ASSIGN_OR_RETURN(end, body.Cast(end, as));
  }
  TENON_ASSIGN_OR_RETURN(Ref range, body.Node("Range", {zero, end, one}, {{"Tidx", as}}, as));
  TENON_ASSIGN_OR_RETURN(range, body.Cast(range, type.dtype));
  return BroadcastView(Whole(range, Shape({n})), {dim}, type.shape, sizes);
}

absl::Status Iota(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  TENON_ASSIGN_OR_RETURN(const int64_t dim, IntegerOf(op, "iota_dimension"));
  if (dim < 0 || dim >= type->shape.rank()) return InvalidArgument("along dimension ", dim);
  Ref sizes;
  if (op.name == "dynamic_iota") {
    TENON_ASSIGN_OR_RETURN(sizes, body.FullOperand(op, 0));
    if (sizes.dtype != DType::kInt64) {
      TENON_ASSIGN_OR_RETURN(sizes, body.Cast(sizes, DType::kInt32));
    }
  } else if (!type->shape.IsComplete()) {
    return InvalidArgument("of a shape that is not known");
  }
  TENON_ASSIGN_OR_RETURN(Value v, Counting(body, *type, dim, sizes));
  return body.DefineResult(op, std::move(v));
}

absl::Status DimensionSize(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t dim, IntegerOf(op, "dimension"));
  if (dim < 0 || dim >= x.rank()) return InvalidArgument("of dimension ", dim);
  const int64_t known = x.shape.dim(static_cast<int>(dim));
  if (known >= 0 && known <= std::numeric_limits<int32_t>::max()) {
    TENON_ASSIGN_OR_RETURN(
        Value v, body.ConstantValue(Tensor::Scalar<int32_t>(static_cast<int32_t>(known)), Shape()));
    return body.DefineResult(op, std::move(v));
  }
  TENON_ASSIGN_OR_RETURN(Ref sizes, body.Sizes(x));
  TENON_ASSIGN_OR_RETURN(sizes, body.Cast(sizes, DType::kInt32));
  TENON_ASSIGN_OR_RETURN(const Ref begin, body.Integers32({dim}));
  TENON_ASSIGN_OR_RETURN(const Ref end, body.Integers32({dim + 1}));
  TENON_ASSIGN_OR_RETURN(const Ref step, body.Integers32({1}));
  return body.DefineNode(
      op, "StridedSlice", {sizes, begin, end, step},
      {{"T", DType::kInt32}, {"Index", DType::kInt32}, {"shrink_axis_mask", int64_t{1}}});
}

absl::StatusOr<Value> TransposedValue(Body& body, const Value& x,
                                      const std::vector<int64_t>& order) {
  Shape shape;
  for (int64_t d : order) shape.push_back(x.shape.dim(static_cast<int>(d)));
  Value view;
  if (TransposedView(x, order, view)) return view;
  const Value compact = Compact(x);
  if (!x.IsWhole() && compact.IsWhole()) {  // dimensions of 1 need not move
    std::vector<int64_t> moved;
    for (int64_t d : order) {
      if (x.shape.dim(static_cast<int>(d)) == 1) continue;
      int64_t at = 0;
      for (int before = 0; before < d; ++before) at += x.shape.dim(before) != 1 ? 1 : 0;
      moved.push_back(at);
    }
    TENON_ASSIGN_OR_RETURN(Value y, TransposedValue(body, compact, moved));
    return Expanded(std::move(y), shape);
  }
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  TENON_ASSIGN_OR_RETURN(Ref y, body.Transposed(whole, order));
  return Whole(std::move(y), std::move(shape));
}

absl::Status Transpose(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> order, DimsOf(op, "permutation", x.rank()));
  if (static_cast<int>(order.size()) != x.rank()) return InvalidArgument("of too few dimensions");
  TENON_ASSIGN_OR_RETURN(Value y, TransposedValue(body, x, order));
  return body.DefineResult(op, std::move(y));
}

// broadcast_in_dim, and dynamic_broadcast_in_dim, whose operand 1 is the shape.
absl::Status BroadcastInDim(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> dims,
                         DimsOf(op, "broadcast_dimensions", type->shape.rank()));
  if (static_cast<int>(dims.size()) != x.rank()) return InvalidArgument("of too few dimensions");
  if (!std::is_sorted(dims.begin(), dims.end())) {
    std::vector<int64_t> order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return dims[static_cast<size_t>(a)] < dims[static_cast<size_t>(b)];
    });
    TENON_ASSIGN_OR_RETURN(x, TransposedValue(body, x, order));
    std::sort(dims.begin(), dims.end());
  }
  Ref sizes;
  if (!type->shape.IsComplete()) {
    if (op.name != "dynamic_broadcast_in_dim")
      return InvalidArgument("to a shape that is not known");
    TENON_ASSIGN_OR_RETURN(sizes, body.FullOperand(op, 1));
    if (sizes.dtype != DType::kInt64) {
      TENON_ASSIGN_OR_RETURN(sizes, body.Cast(sizes, DType::kInt32));
    }
  }
  Value y = BroadcastView(x, dims, type->shape, std::move(sizes));
  return body.DefineResult(op, std::move(y));
}

// Adds dimensions in front.
absl::Status Broadcast(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  const int lead = type->shape.rank() - x.rank();
  if (lead < 0 || !type->shape.IsComplete()) return InvalidArgument("to a wrong shape");
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), lead);
  return body.DefineResult(op, BroadcastView(x, dims, type->shape, {}));
}

absl::Status Reshape(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  Value view;
  if (ReshapedView(x, type->shape, view)) return body.DefineResult(op, std::move(view));
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  const absl::Span<const int64_t> to = type->shape.dims();
  Ref made;
  if (op.name == "dynamic_reshape" && std::count(to.begin(), to.end(), -1) > 1) {
    TENON_ASSIGN_OR_RETURN(Ref sizes, body.FullOperand(op, 1));
    if (sizes.dtype != DType::kInt64) {
      TENON_ASSIGN_OR_RETURN(sizes, body.Cast(sizes, DType::kInt32));
    }
    TENON_ASSIGN_OR_RETURN(made, body.Node("Reshape", {whole, sizes},
                                           {{"T", x.dtype}, {"Tshape", sizes.dtype}}, x.dtype));
  } else {
    if (op.name == "reshape" && !type->shape.IsComplete()) {
      return InvalidArgument("to a shape that is not known");
    }
    TENON_ASSIGN_OR_RETURN(made, body.Reshape(whole, Shape::Unknown(), type->shape));
  }
  Value y = Whole(std::move(made), type->shape);
  if (x.constant.valid() && x.IsWhole() && type->shape.IsComplete()) {
    TENON_ASSIGN_OR_RETURN(y.constant, x.constant.Reshaped(type->shape));
  }
  return body.DefineResult(op, std::move(y));
}

constexpr Lowering kShapes[] = {
    {"broadcast", Broadcast},
    {"broadcast_in_dim", BroadcastInDim},
    {"constant", Constant},
    {"dynamic_broadcast_in_dim", BroadcastInDim},
    {"dynamic_iota", Iota},
    {"dynamic_reshape", Reshape},
    {"get_dimension_size", DimensionSize},
    {"iota", Iota},
    {"reshape", Reshape},
    {"transpose", Transpose},
};

}  // namespace

absl::Span<const Lowering> ShapeLowerings() { return kShapes; }

}  // namespace tenon::stablehlo

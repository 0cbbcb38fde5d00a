#include "proto/stablehlo/body.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "Eigen/Core"
#include "env/status.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

template <typename T>
Tensor Scalar(double number) {
  return Tensor::Scalar<T>(static_cast<T>(number));
}

std::string TypeText(DType dtype, const Shape& shape) {
  return absl::StrCat(Name(dtype), shape.ToString());
}

}  // namespace

Tensor ScalarOf(DType dtype, double number) {
  switch (dtype) {
    case DType::kFloat:
      return Scalar<float>(number);
    case DType::kDouble:
      return Scalar<double>(number);
    case DType::kBfloat16:
      return Scalar<bfloat16>(number);
    case DType::kHalf:
      return Scalar<half>(number);
    case DType::kInt8:
      return Scalar<int8_t>(number);
    case DType::kInt16:
      return Scalar<int16_t>(number);
    case DType::kInt32:
      return Scalar<int32_t>(number);
    case DType::kInt64:
      return Scalar<int64_t>(number);
    case DType::kUint8:
      return Scalar<uint8_t>(number);
    case DType::kUint16:
      return Scalar<uint16_t>(number);
    case DType::kUint32:
      return Scalar<uint32_t>(number);
    case DType::kUint64:
      return Scalar<uint64_t>(number);
    case DType::kBool:
      return Tensor::Scalar<bool>(number != 0);
    case DType::kComplex64:
      return Tensor::Scalar<std::complex<float>>(static_cast<float>(number));
    case DType::kComplex128:
      return Tensor::Scalar<std::complex<double>>(number);
    default:
      return Tensor();
  }
}

ModuleWriter::ModuleWriter(const Module& m, std::string prefix, size_t max_nodes)
    : module(m), name(std::move(prefix)), nodes_left(max_nodes) {}

ModuleWriter::~ModuleWriter() = default;

std::string ModuleWriter::NewName(absl::string_view what) {
  std::string base = absl::StrCat(name, "/", what);
  const int before = names[base]++;
  return before == 0 ? base : absl::StrCat(base, "_", before);
}

// ---- values ----

absl::StatusOr<Value> Body::Get(ValueId id) const {
  const auto found = values_.find(id);
  if (found == values_.end()) return Internal("a value is read before it is computed");
  return found->second;
}

absl::StatusOr<Value> Body::Operand(const Op& op, size_t i) const {
  if (i >= op.operands.size()) return InvalidArgument("has no operand ", i);
  return Get(op.operands[i]);
}

absl::StatusOr<std::vector<Value>> Body::Operands(const Op& op, size_t begin, size_t end) const {
  std::vector<Value> values;
  for (size_t i = begin; i < end; ++i) {
    TENON_ASSIGN_OR_RETURN(Value v, Operand(op, i));
    values.push_back(std::move(v));
  }
  return values;
}

absl::Status Body::Define(ValueId id, Value value) {
  const Type& type = module().type(id);
  if (type.kind == Type::Kind::kTensor) {
    if (value.dtype != type.dtype || value.rank() != type.shape.rank()) {
      return InvalidArgument("gives ", TypeText(value.dtype, value.shape), ", but its type is ",
                             TypeText(type.dtype, type.shape));
    }
  }
  values_[id] = std::move(value);
  return absl::OkStatus();
}

absl::Status Body::DefineResult(const Op& op, size_t i, Value value) {
  if (i >= op.results.size()) return InvalidArgument("has no result ", i);
  return Define(op.results[i], std::move(value));
}

absl::StatusOr<const Type*> Body::ResultType(const Op& op, size_t i) const {
  if (i >= op.results.size()) return InvalidArgument("has no result ", i);
  const Type& type = module().type(op.results[i]);
  if (type.kind != Type::Kind::kTensor) return Unimplemented("gives no tensor");
  if (type.dtype == DType::kInvalid) return Unimplemented("gives elements of an unknown type");
  return &type;
}

absl::Status Body::DefineNode(const Op& op, absl::string_view tf_op, const std::vector<Ref>& inputs,
                              AttrMap attrs) {
  TENON_ASSIGN_OR_RETURN(const Type* type, ResultType(op));
  TENON_ASSIGN_OR_RETURN(Ref made, Node(tf_op, inputs, std::move(attrs), type->dtype));
  return DefineResult(op, Whole(std::move(made), type->shape));
}

// ---- tensors ----

absl::StatusOr<Ref> Body::Aligned(const Value& v, Shape& shape) {
  if (IsAligned(v)) {
    shape = v.base_shape;
    return v.base;
  }
  shape = AlignedShape(v);
  if (v.constant.valid()) {
    TENON_ASSIGN_OR_RETURN(const Tensor constant, v.constant.Reshaped(shape));
    return Constant(constant);
  }
  return Reshape(v.base, v.base_shape, shape);
}

absl::StatusOr<Ref> Body::Sizes(const Value& v) {
  if (v.shape.IsComplete()) {
    return Integers(std::vector<int64_t>(v.shape.dims().begin(), v.shape.dims().end()));
  }
  if (v.sizes.valid()) return v.sizes;
  AttrMap attrs{{"T", v.dtype}, {"out_type", DType::kInt32}};
  TENON_ASSIGN_OR_RETURN(const Ref base, Node("Shape", {v.base}, attrs, DType::kInt32));
  if (v.IsWhole()) return base;
  std::vector<Ref> parts;
  for (int d = 0; d < v.rank(); ++d) {
    const int axis = v.axes[static_cast<size_t>(d)];
    if (v.shape.dim(d) >= 0) {
      TENON_ASSIGN_OR_RETURN(Ref size, Integers32({v.shape.dim(d)}));
      parts.push_back(std::move(size));
      continue;
    }
    if (axis < 0) return Internal("the size of a repeated dimension is not known");
    TENON_ASSIGN_OR_RETURN(const Ref begin, Integers32({axis}));
    TENON_ASSIGN_OR_RETURN(const Ref one, Integers32({1}));
    TENON_ASSIGN_OR_RETURN(Ref size,
                           Node("Slice", {base, begin, one},
                                {{"T", DType::kInt32}, {"Index", DType::kInt32}}, DType::kInt32));
    parts.push_back(std::move(size));
  }
  if (parts.size() == 1) return parts[0];
  const int64_t n = static_cast<int64_t>(parts.size());
  TENON_ASSIGN_OR_RETURN(const Ref axis, Constant(Tensor::Scalar<int32_t>(0)));
  parts.push_back(axis);
  return Node("ConcatV2", parts, {{"N", n}, {"T", DType::kInt32}, {"Tidx", DType::kInt32}},
              DType::kInt32);
}

absl::StatusOr<Ref> Body::Full(const Value& v) {
  if (v.dtype == DType::kInvalid) return Unimplemented("reads a token as a tensor");
  if (v.IsWhole()) return v.base;
  Shape aligned;
  TENON_ASSIGN_OR_RETURN(const Ref base, Aligned(v, aligned));
  bool repeats = false;
  for (int d = 0; d < v.rank(); ++d) {
    repeats = repeats || (v.axes[static_cast<size_t>(d)] < 0 && v.shape.dim(d) != 1);
  }
  if (!repeats) {
    Shape whole = v.shape;  // the base may know more
    for (int d = 0; d < v.rank(); ++d) {
      const int axis = v.axes[static_cast<size_t>(d)];
      if (axis >= 0) whole.set_dim(d, v.base_shape.dim(axis));
    }
    if (v.constant.valid()) {
      TENON_ASSIGN_OR_RETURN(const Tensor constant, v.constant.Reshaped(whole));
      return Constant(constant);
    }
    return Reshape(base, aligned, whole);
  }
  TENON_ASSIGN_OR_RETURN(const Ref sizes, Sizes(v));
  return Node("BroadcastTo", {base, sizes}, {{"T", v.dtype}, {"Tidx", sizes.dtype}}, v.dtype);
}

absl::StatusOr<Ref> Body::FullOperand(const Op& op, size_t i) {
  TENON_ASSIGN_OR_RETURN(const Value v, Operand(op, i));
  return Full(v);
}

// ---- nodes ----

absl::StatusOr<std::vector<Ref>> Body::Nodes(absl::string_view tf_op,
                                             const std::vector<Ref>& inputs, AttrMap attrs,
                                             const std::vector<DType>& dtypes) {
  return out_.AddNode(op_.empty() ? "value" : op_, tf_op, inputs, attrs, dtypes);
}

absl::StatusOr<Ref> Body::Node(absl::string_view tf_op, const std::vector<Ref>& inputs,
                               AttrMap attrs, DType dtype) {
  TENON_ASSIGN_OR_RETURN(std::vector<Ref> made, Nodes(tf_op, inputs, std::move(attrs), {dtype}));
  return std::move(made[0]);
}

absl::StatusOr<Ref> Body::Unary(absl::string_view tf_op, const std::vector<Ref>& inputs) {
  return Node(tf_op, inputs, {{"T", inputs[0].dtype}}, inputs[0].dtype);
}

absl::StatusOr<Ref> Body::Constant(const Tensor& value) {
  return Node("Const", {}, {{"dtype", value.dtype()}, {"value", value}}, value.dtype());
}

absl::StatusOr<Ref> Body::Integers(const std::vector<int64_t>& values) {
  const auto fits = [](int64_t v) {
    return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
  };
  if (std::all_of(values.begin(), values.end(), fits)) return Integers32(values);
  return Constant(Tensor::Vector<int64_t>(values));
}

absl::StatusOr<Ref> Body::Integers32(const std::vector<int64_t>& values) {
  std::vector<int32_t> narrow;
  for (int64_t v : values) {
    if (v < std::numeric_limits<int32_t>::min() || v > std::numeric_limits<int32_t>::max()) {
      return Unimplemented("a size or position of ", v);
    }
    narrow.push_back(static_cast<int32_t>(v));
  }
  return Constant(Tensor::Vector<int32_t>(std::move(narrow)));
}

absl::StatusOr<Ref> Body::Transposed(const Ref& x, const std::vector<int64_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  TENON_ASSIGN_OR_RETURN(const Ref perm, Integers32(order));
  return Node("Transpose", {x, perm}, {{"T", x.dtype}, {"Tperm", DType::kInt32}}, x.dtype);
}

absl::StatusOr<Ref> Body::Cast(const Ref& x, DType dtype) {
  if (x.dtype == dtype) return x;
  return Node("Cast", {x}, {{"SrcT", x.dtype}, {"DstT", dtype}}, dtype);
}

absl::StatusOr<Ref> Body::Reshape(const Ref& x, const Shape& from, const Shape& to) {
  if (from == to && from.IsComplete()) return x;
  std::vector<int64_t> dims(to.dims().begin(), to.dims().end());
  if (std::count(dims.begin(), dims.end(), -1) <= 1) {
    TENON_ASSIGN_OR_RETURN(const Ref shape, Integers(dims));
    return Node("Reshape", {x, shape}, {{"T", x.dtype}, {"Tshape", shape.dtype}}, x.dtype);
  }
  // Several are not known: only dimensions of 1 come and go.
  std::vector<int64_t> dropped;
  for (int d = 0; d < from.rank(); ++d) {
    if (from.dim(d) == 1) dropped.push_back(d);
  }
  Ref y = x;
  if (!dropped.empty()) {
    TENON_ASSIGN_OR_RETURN(
        y, Node("Squeeze", {y}, {{"T", x.dtype}, {"squeeze_dims", dropped}}, x.dtype));
  }
  for (int d = 0; d < to.rank(); ++d) {
    if (to.dim(d) != 1) continue;
    TENON_ASSIGN_OR_RETURN(const Ref axis, Constant(Tensor::Scalar<int32_t>(d)));
    TENON_ASSIGN_OR_RETURN(
        y, Node("ExpandDims", {y, axis}, {{"T", x.dtype}, {"Tdim", DType::kInt32}}, x.dtype));
  }
  return y;
}

absl::StatusOr<Value> Body::ConstantValue(const Tensor& value, const Shape& shape) {
  if (value.shape() != shape && value.shape().rank() != 0) {
    return InvalidArgument("has a value of shape ", value.shape().ToString(), " for ",
                           shape.ToString());
  }
  TENON_ASSIGN_OR_RETURN(Ref base, Constant(value));
  Value v = Whole(std::move(base), value.shape());
  v.constant = value;
  return value.shape() == shape ? v : BroadcastView(v, {}, shape, {});
}

absl::StatusOr<Value> Body::Uniform(double number, DType dtype, const Value& like) {
  Value v = like;
  v.dtype = dtype;
  v.origin = nullptr;
  TENON_ASSIGN_OR_RETURN(v.constant, ScalarOf(dtype, number).Reshaped(like.base_shape));
  TENON_ASSIGN_OR_RETURN(v.base, Constant(v.constant));
  return v;
}

absl::StatusOr<Value> Body::Number(double number, DType dtype, const Value& like) {
  const Tensor scalar = ScalarOf(dtype, number);
  if (!scalar.valid()) return Unimplemented("on ", Name(dtype));
  TENON_ASSIGN_OR_RETURN(const Value v, ConstantValue(scalar, Shape()));
  Ref sizes;
  if (!like.shape.IsComplete()) {
    TENON_ASSIGN_OR_RETURN(sizes, Sizes(like));
  }
  return BroadcastView(v, {}, like.shape, std::move(sizes));
}

namespace {

// Whether all operands fit without their dimensions of 1, but not with them: what is computed of
// them then keeps these dimensions out of the tensors too.
bool FitCompact(absl::Span<const Value> operands, const Shape& shape) {
  bool fit = true;
  for (const Value& v : operands) {
    if (v.dtype == DType::kInvalid) return false;
    if (v.rank() == 0 || v.IsUniform()) continue;
    if (v.sizes.valid()) return false;  // they would have to be computed anew
    if (v.shape != shape || !IsAligned(Compact(v))) return false;
    fit = fit && IsAligned(v);
  }
  return !fit;
}

}  // namespace

absl::StatusOr<Value> Body::Elementwise(absl::string_view tf_op, absl::Span<const Value> operands,
                                        DType result, AttrMap attrs) {
  const Value* like = &operands[0];
  for (const Value& v : operands) {
    if (v.rank() > like->rank()) like = &v;
  }
  if (FitCompact(operands, like->shape)) {
    std::vector<Value> compact;
    for (const Value& v : operands) compact.push_back(v.rank() == 0 ? v : Compact(v));
    TENON_ASSIGN_OR_RETURN(Value y, Elementwise(tf_op, compact, result, std::move(attrs)));
    return Expanded(std::move(y), like->shape);
  }
  const int rank = like->rank();
  std::vector<bool> mapped(static_cast<size_t>(rank), false);
  std::vector<Ref> inputs;
  Shape shape = like->shape;
  int made_rank = 0;
  Ref sizes;
  for (const Value& v : operands) {
    if (v.dtype == DType::kInvalid) return Unimplemented("on a token");
    if (v.rank() != rank && v.rank() != 0) return InvalidArgument("on operands of several ranks");
    Shape aligned;
    TENON_ASSIGN_OR_RETURN(Ref input, Aligned(v, aligned));
    made_rank = std::max(made_rank, aligned.rank());
    inputs.push_back(std::move(input));
    if (v.rank() != rank) continue;
    for (int d = 0; d < rank; ++d) {
      if (v.axes[static_cast<size_t>(d)] >= 0) mapped[static_cast<size_t>(d)] = true;
      if (shape.dim(d) < 0) shape.set_dim(d, v.shape.dim(d));
    }
    if (v.sizes.valid()) sizes = v.sizes;
  }
  Value out;
  out.dtype = result;
  TENON_ASSIGN_OR_RETURN(out.base, Node(tf_op, inputs, std::move(attrs), result));
  out.axes.assign(static_cast<size_t>(rank), -1);
  bool repeats = false;
  for (int d = 0; d < rank; ++d) {
    const int axis = d - (rank - made_rank);
    const bool own = mapped[static_cast<size_t>(d)];
    repeats = repeats || (!own && shape.dim(d) < 0);
    if (axis < 0) continue;
    out.base_shape.push_back(own ? shape.dim(d) : 1);
    if (own) out.axes[static_cast<size_t>(d)] = axis;
  }
  out.shape = std::move(shape);
  if (repeats) out.sizes = sizes;
  return out;
}

absl::StatusOr<Value> Body::Map(absl::string_view tf_op, absl::Span<const Value> operands) {
  return Elementwise(tf_op, operands, operands[0].dtype, {{"T", operands[0].dtype}});
}

// ---- blocks ----

absl::StatusOr<std::vector<Value>> Body::Lower(const Block& block, absl::Span<const Value> args) {
  if (args.size() != block.args.size()) {
    return InvalidArgument("gives ", args.size(), " arguments to a block that takes ",
                           block.args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    TENON_RETURN_IF_ERROR(Define(block.args[i], args[i]));
  }
  for (const Op& op : block.ops) {
    if (op.dialect == "vhlo" && op.name == "return") {
      std::vector<Value> results;
      for (ValueId id : op.operands) {
        TENON_ASSIGN_OR_RETURN(Value v, Get(id));
        results.push_back(std::move(v));
      }
      return results;
    }
    const absl::string_view outer = std::exchange(op_, op.name);
    absl::Status status = LowerOp(*this, op);
    op_ = outer;
    for (size_t i = 0; status.ok() && i < op.results.size(); ++i) {
      if (!values_.contains(op.results[i])) status = InvalidArgument("has no result ", i);
    }
    if (!status.ok()) return Annotate(status, absl::StrCat("StableHLO's '", op.name, "'"));
  }
  return InvalidArgument("a block of the module returns nothing");
}

}  // namespace tenon::stablehlo

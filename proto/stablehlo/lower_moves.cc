// Ops that move elements to places that do not depend on other elements.
#include <algorithm>

#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

absl::Status Concatenate(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t dim, IntegerOf(op, "dimension"));
  std::vector<Ref> inputs;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Ref x, body.FullOperand(op, i));
    inputs.push_back(std::move(x));
  }
  if (inputs.empty()) return InvalidArgument("of nothing");
  if (inputs.size() == 1) {
    TENON_ASSIGN_OR_RETURN(Value x, body.Operand(op, 0));
    return body.DefineResult(op, std::move(x));
  }
  const DType dtype = inputs[0].dtype;
  const int64_t n = static_cast<int64_t>(inputs.size());
  if (dim < 0 || dim > 255) return InvalidArgument("along dimension ", dim);
  TENON_ASSIGN_OR_RETURN(Ref axis,
                         body.Constant(Tensor::Scalar<int32_t>(static_cast<int32_t>(dim))));
  inputs.push_back(std::move(axis));
  return body.DefineNode(op, "ConcatV2", inputs, {{"N", n}, {"T", dtype}, {"Tidx", DType::kInt32}});
}

// Two vectors of one dtype for TensorFlow's indices.
absl::StatusOr<DType> IndexType(Body& body, std::vector<Ref*> vectors) {
  bool wide = false;
  for (const Ref* v : vectors) wide = wide || v->dtype != DType::kInt32;
  const DType dtype = wide ? DType::kInt64 : DType::kInt32;
  for (Ref* v : vectors) {
    TENON_ASSIGN_OR_RETURN(*v, body.Cast(*v, dtype));
  }
  return dtype;
}

absl::Status Strided(Body& body, const Op& op, const Ref& x, Ref begin, Ref end, Ref step) {
  TENON_ASSIGN_OR_RETURN(const DType index, IndexType(body, {&begin, &end, &step}));
  return body.DefineNode(op, "StridedSlice", {x, begin, end, step},
                         {{"T", x.dtype}, {"Index", index}});
}

absl::Status Slice(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, IntegersOf(op, "start_indices"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> end, IntegersOf(op, "limit_indices"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> step, IntegersOf(op, "strides"));
  const size_t rank = static_cast<size_t>(x.rank());
  if (begin.size() != rank || end.size() != rank || step.size() != rank) {
    return InvalidArgument("of too few dimensions");
  }
  if (x.IsUniform()) {
    Value y = x;
    if (type->shape.IsComplete()) {
      y.shape = type->shape;
      return body.DefineResult(op, std::move(y));
    }
  }
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  bool dense = true;
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < rank; ++d) {
    dense = dense && step[d] == 1;
    if (begin[d] < 0 || end[d] < begin[d] || step[d] < 1) return InvalidArgument("is no slice");
    sizes.push_back(end[d] - begin[d]);
  }
  if (!dense) {
    TENON_ASSIGN_OR_RETURN(Ref from, body.Integers(begin));
    TENON_ASSIGN_OR_RETURN(Ref to, body.Integers(end));
    TENON_ASSIGN_OR_RETURN(Ref by, body.Integers(step));
    return Strided(body, op, whole, from, to, by);
  }
  TENON_ASSIGN_OR_RETURN(Ref from, body.Integers(begin));
  TENON_ASSIGN_OR_RETURN(Ref size, body.Integers(sizes));
  TENON_ASSIGN_OR_RETURN(const DType index, IndexType(body, {&from, &size}));
  return body.DefineNode(op, "Slice", {whole, from, size}, {{"T", x.dtype}, {"Index", index}});
}

// Operands: x, begin, end, step.
absl::Status RealDynamicSlice(Body& body, const Op& op) {
  Ref parts[4];
  for (size_t i = 0; i < 4; ++i) {
    TENON_ASSIGN_OR_RETURN(parts[i], body.FullOperand(op, i));
  }
  return Strided(body, op, parts[0], parts[1], parts[2], parts[3]);
}

// The scalars that are operands from `first` on, as a vector of int32 or int64.
absl::StatusOr<Ref> Positions(Body& body, const Op& op, size_t first, int rank) {
  if (op.operands.size() != first + static_cast<size_t>(rank)) {
    return InvalidArgument("has ", op.operands.size(), " operands");
  }
  std::vector<int64_t> known;
  std::vector<Ref> scalars;
  for (size_t i = first; i < op.operands.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Value v, body.Operand(op, i));
    double number;
    if (v.UniformNumber(number)) known.push_back(static_cast<int64_t>(number));
    TENON_ASSIGN_OR_RETURN(Ref scalar, body.Full(v));
    scalars.push_back(std::move(scalar));
  }
  if (known.size() == scalars.size()) return body.Integers(known);
  bool narrow = true;
  for (const Ref& s : scalars) {
    narrow = narrow && s.dtype != DType::kInt64 && s.dtype != DType::kUint64 &&
             s.dtype != DType::kUint32;
  }
  const DType dtype = narrow ? DType::kInt32 : DType::kInt64;
  for (Ref& s : scalars) {
    TENON_ASSIGN_OR_RETURN(s, body.Cast(s, dtype));
  }
  return body.Node(
      "Pack", scalars,
      {{"N", static_cast<int64_t>(scalars.size())}, {"T", dtype}, {"axis", int64_t{0}}}, dtype);
}

absl::Status DynamicSlice(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, IntegersOf(op, "slice_sizes"));
  if (static_cast<int>(sizes.size()) != x.rank()) return InvalidArgument("of too few dimensions");
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  if (x.rank() == 0) return body.DefineResult(op, Whole(whole, Shape()));
  TENON_ASSIGN_OR_RETURN(Ref begin, Positions(body, op, 1, x.rank()));
  TENON_ASSIGN_OR_RETURN(Ref size, body.Integers(sizes));
  TENON_ASSIGN_OR_RETURN(const DType index, IndexType(body, {&begin, &size}));
  return body.DefineNode(op, "XlaDynamicSlice", {whole, begin, size},
                         {{"T", x.dtype}, {"Tindices", index}});
}

absl::Status DynamicUpdateSlice(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Ref update, body.FullOperand(op, 1));
  if (x.rank() == 0) return body.DefineResult(op, Whole(update, Shape()));
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  TENON_ASSIGN_OR_RETURN(const Ref begin, Positions(body, op, 2, x.rank()));
  return body.DefineNode(op, "XlaDynamicUpdateSlice", {whole, update, begin},
                         {{"T", x.dtype}, {"Tindices", begin.dtype}});
}

absl::Status Pad(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ref x, body.FullOperand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Ref value, body.FullOperand(op, 1));
  Ref low, high, between;
  if (op.name == "dynamic_pad") {
    TENON_ASSIGN_OR_RETURN(low, body.FullOperand(op, 2));
    TENON_ASSIGN_OR_RETURN(high, body.FullOperand(op, 3));
    TENON_ASSIGN_OR_RETURN(between, body.FullOperand(op, 4));
  } else {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> l, IntegersOf(op, "edge_padding_low"));
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> h, IntegersOf(op, "edge_padding_high"));
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> b, IntegersOf(op, "interior_padding"));
    TENON_ASSIGN_OR_RETURN(low, body.Integers(l));
    TENON_ASSIGN_OR_RETURN(high, body.Integers(h));
    TENON_ASSIGN_OR_RETURN(between, body.Integers(b));
  }
  TENON_ASSIGN_OR_RETURN(const DType index, IndexType(body, {&low, &high, &between}));
  return body.DefineNode(op, "XlaPad", {x, value, low, high, between},
                         {{"T", x.dtype}, {"Tindices", index}});
}

absl::Status Reverse(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, DimsOf(op, "dimensions", x.rank()));
  if (dims.empty() || x.IsUniform()) return body.DefineResult(op, x);
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  TENON_ASSIGN_OR_RETURN(const Ref axes, body.Integers32(dims));
  return body.DefineNode(op, "ReverseV2", {whole, axes}, {{"T", x.dtype}, {"Tidx", DType::kInt32}});
}

constexpr Lowering kMoves[] = {
    {"concatenate", Concatenate},
    {"dynamic_pad", Pad},
    {"dynamic_slice", DynamicSlice},
    {"dynamic_update_slice", DynamicUpdateSlice},
    {"pad", Pad},
    {"real_dynamic_slice", RealDynamicSlice},
    {"reverse", Reverse},
    {"slice", Slice},
};

}  // namespace

absl::Span<const Lowering> MoveLowerings() { return kMoves; }

}  // namespace tenon::stablehlo

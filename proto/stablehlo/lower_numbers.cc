// Quotients, remainders and bits: ops whose results XLA defines for operands on which TensorFlow's
// fail. Also quotients that are means.
#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

absl::StatusOr<Value> Bits(Body& body, const Value& x, DType dtype) {
  if (x.dtype == dtype) return x;
  return body.Elementwise("Bitcast", {x}, dtype, {{"T", x.dtype}, {"type", dtype}});
}

// The mean for a sum divided by the count of what was summed; a value without dtype if it is none.
absl::StatusOr<Value> Mean(Body& body, const Value& sum, const Value& count) {
  if (sum.origin == nullptr || !IsFloating(sum.dtype)) return Value();
  const Origin& origin = *sum.origin;
  double number = 0;
  const bool counted = count.UniformNumber(number) && number == static_cast<double>(origin.count);
  Value mean = sum;
  mean.origin = nullptr;
  if (origin.kind == Origin::Kind::kSum && counted && origin.count > 0) {
    TENON_ASSIGN_OR_RETURN(const Ref dims, body.Integers32(origin.dims));
    TENON_ASSIGN_OR_RETURN(
        mean.base,
        body.Node("Mean", {origin.input, dims},
                  {{"T", sum.dtype}, {"Tidx", dims.dtype}, {"keep_dims", true}}, sum.dtype));
    return mean;
  }
  if (origin.kind != Origin::Kind::kWindowSum) return Value();
  const Origin* other = count.origin.get();
  const bool same_windows = other != nullptr && other->kind == Origin::Kind::kWindowCount &&
                            other->dims == origin.dims && other->strides == origin.strides &&
                            other->same == origin.same;
  if (!same_windows && !(counted && !origin.same)) return Value();
  // The count of a window at the border goes by the image's size.
  for (int d = 0; same_windows && d < origin.input_shape.rank(); ++d) {
    const bool is_window = origin.dims[static_cast<size_t>(d)] != 1;
    if (is_window && origin.input_shape.dim(d) != other->input_shape.dim(d)) return Value();
  }
  TENON_ASSIGN_OR_RETURN(mean.base, body.Node("AvgPool", {origin.input},
                                              {{"T", sum.dtype},
                                               {"ksize", origin.dims},
                                               {"strides", origin.strides},
                                               {"padding", origin.same ? "SAME" : "VALID"}},
                                              sum.dtype));
  return mean;
}

// The quotient or remainder of integers, of which no divisor is 0, rounding towards zero.
absl::StatusOr<Value> DivideByNonzero(Body& body, const Value& a, const Value& b, bool quotient) {
  if (quotient) return body.Map("TruncateDiv", {a, b});
  if (IsUnsigned(a.dtype)) return body.Map("FloorMod", {a, b});
  if (SizeOf(a.dtype) >= 4) return body.Map("TruncateMod", {a, b});
  // TensorFlow's op has no narrow integers.
  TENON_ASSIGN_OR_RETURN(const Value wide_a, CastTo(body, a, DType::kInt32));
  TENON_ASSIGN_OR_RETURN(const Value wide_b, CastTo(body, b, DType::kInt32));
  TENON_ASSIGN_OR_RETURN(const Value remainder, body.Map("TruncateMod", {wide_a, wide_b}));
  return CastTo(body, remainder, a.dtype);
}

// Division by zero gives -1 (all bits) as quotient and the dividend as remainder.
absl::StatusOr<Value> DivideIntegers(Body& body, const Value& a, const Value& b, bool quotient) {
  double number;
  if (b.UniformNumber(number) && number != 0) return DivideByNonzero(body, a, b, quotient);
  TENON_ASSIGN_OR_RETURN(const Value zero, body.Number(0, b.dtype, b));
  TENON_ASSIGN_OR_RETURN(const Value one, body.Number(1, b.dtype, b));
  TENON_ASSIGN_OR_RETURN(const Value is_zero, CompareBy(body, "Equal", b, zero));
  TENON_ASSIGN_OR_RETURN(const Value divisor, Choose(body, is_zero, one, b));
  TENON_ASSIGN_OR_RETURN(const Value result, DivideByNonzero(body, a, divisor, quotient));
  if (!quotient) return Choose(body, is_zero, a, result);
  TENON_ASSIGN_OR_RETURN(const Value ones, body.Map("Invert", {zero}));
  return Choose(body, is_zero, ones, result);
}

absl::Status Divide(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value a, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value b, body.Operand(op, 1));
  TENON_ASSIGN_OR_RETURN(Value y, Mean(body, a, b));
  if (y.dtype == DType::kInvalid) {
    absl::StatusOr<Value> made =
        IsInteger(a.dtype) ? DivideIntegers(body, a, b, true) : body.Map("RealDiv", {a, b});
    if (!made.ok()) return made.status();
    y = *std::move(made);
  }
  return body.DefineResult(op, std::move(y));
}

absl::Status Remainder(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value a, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value b, body.Operand(op, 1));
  absl::StatusOr<Value> y =
      IsInteger(a.dtype) ? DivideIntegers(body, a, b, false) : body.Map("Mod", {a, b});
  if (!y.ok()) return y.status();
  return body.DefineResult(op, *std::move(y));
}

DType Unsigned(DType dtype) {
  switch (SizeOf(dtype)) {
    case 1:
      return DType::kUint8;
    case 2:
      return DType::kUint16;
    case 4:
      return DType::kUint32;
    default:
      return DType::kUint64;
  }
}

// By at least the width, everything is shifted out.
absl::Status Shift(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value a, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value b, body.Operand(op, 1));
  if (!IsInteger(a.dtype) || a.dtype != b.dtype) return Unimplemented("on ", Name(a.dtype));
  const double width = 8.0 * static_cast<double>(SizeOf(a.dtype));
  const bool arithmetic = op.name == "shift_right_arithmetic";
  const DType natural = Unsigned(a.dtype);
  const DType as = op.name == "shift_right_logical" ? natural : a.dtype;
  const char* tf_op = op.name == "shift_left" ? "LeftShift" : "RightShift";
  double number;
  const bool inside = b.UniformNumber(number) && number >= 0 && number < width;
  TENON_ASSIGN_OR_RETURN(const Value x, Bits(body, a, as));
  TENON_ASSIGN_OR_RETURN(Value by, Bits(body, b, as));
  Value too_far;
  if (!inside) {
    TENON_ASSIGN_OR_RETURN(const Value count, Bits(body, b, natural));
    TENON_ASSIGN_OR_RETURN(const Value limit, body.Number(width, natural, b));
    TENON_ASSIGN_OR_RETURN(const Value last, body.Number(width - 1, as, b));
    TENON_ASSIGN_OR_RETURN(too_far, CompareBy(body, "GreaterEqual", count, limit));
    TENON_ASSIGN_OR_RETURN(by, Choose(body, too_far, last, by));
  }
  TENON_ASSIGN_OR_RETURN(Value y, body.Map(tf_op, {x, by}));
  if (!inside && !arithmetic) {
    TENON_ASSIGN_OR_RETURN(const Value zero, body.Number(0, as, y));
    TENON_ASSIGN_OR_RETURN(y, Choose(body, too_far, zero, y));
  }
  TENON_ASSIGN_OR_RETURN(y, Bits(body, y, a.dtype));
  return body.DefineResult(op, std::move(y));
}

absl::StatusOr<Value> CountBits(Body& body, const Value& x, DType dtype) {
  TENON_ASSIGN_OR_RETURN(const Value count,
                         body.Elementwise("PopulationCount", {x}, DType::kUint8, {{"T", x.dtype}}));
  return body.Elementwise("Cast", {count}, dtype, {{"SrcT", DType::kUint8}, {"DstT", dtype}});
}

absl::Status PopulationCount(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(Value y, CountBits(body, x, x.dtype));
  return body.DefineResult(op, std::move(y));
}

// Once all bits below the highest are set, those that are not set are the leading zeros.
absl::Status LeadingZeros(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  if (!IsInteger(x.dtype)) return Unimplemented("on ", Name(x.dtype));
  const DType natural = Unsigned(x.dtype);
  TENON_ASSIGN_OR_RETURN(Value bits, Bits(body, x, natural));
  for (size_t by = 1; by < 8 * SizeOf(x.dtype); by *= 2) {
    TENON_ASSIGN_OR_RETURN(const Value count, body.Number(static_cast<double>(by), natural, x));
    TENON_ASSIGN_OR_RETURN(const Value shifted, body.Map("RightShift", {bits, count}));
    TENON_ASSIGN_OR_RETURN(bits, body.Map("BitwiseOr", {bits, shifted}));
  }
  TENON_ASSIGN_OR_RETURN(const Value rest, body.Map("Invert", {bits}));
  TENON_ASSIGN_OR_RETURN(Value y, CountBits(body, rest, x.dtype));
  return body.DefineResult(op, std::move(y));
}

absl::Status BitcastConvert(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  if (SizeOf(x.dtype) == SizeOf(type->dtype)) {
    TENON_ASSIGN_OR_RETURN(Value y, Bits(body, x, type->dtype));
    return body.DefineResult(op, std::move(y));
  }
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  return body.DefineNode(op, "Bitcast", {whole}, {{"T", x.dtype}, {"type", type->dtype}});
}

constexpr Lowering kNumbers[] = {
    {"bitcast_convert", BitcastConvert},
    {"count_leading_zeros", LeadingZeros},
    {"divide", Divide},
    {"popcnt", PopulationCount},
    {"remainder", Remainder},
    {"shift_left", Shift},
    {"shift_right_arithmetic", Shift},
    {"shift_right_logical", Shift},
};

}  // namespace

absl::Span<const Lowering> NumberLowerings() { return kNumbers; }

}  // namespace tenon::stablehlo

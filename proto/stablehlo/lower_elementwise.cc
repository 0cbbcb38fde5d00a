// Elementwise ops that are TensorFlow's, and those that have a short expression in them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

// One of TensorFlow's ops: for numbers, for bools.
struct PlainOp {
  absl::string_view op, numbers, bools;
};
// op names: no row of the op table knows StableHLO's names.
constexpr PlainOp kUnary[] = {
    {"ceil", "Ceil", ""},
    {"cosine", "Cos", ""},
    {"exponential", "Exp", ""},
    {"exponential_minus_one", "Expm1", ""},
    {"floor", "Floor", ""},
    {"log", "Log", ""},
    {"log_plus_one", "Log1p", ""},
    {"logistic", "Sigmoid", ""},
    {"not", "Invert", "LogicalNot"},
    {"round_nearest_even", "Rint", ""},
    {"rsqrt", "Rsqrt", ""},
    {"sign", "Sign", ""},
    {"sine", "Sin", ""},
    {"sqrt", "Sqrt", ""},
    {"tan", "Tan", ""},
    {"tanh", "Tanh", ""},
};
// op names: likewise.
constexpr PlainOp kBinary[] = {
    {"add", "AddV2", "LogicalOr"},
    {"and", "BitwiseAnd", "LogicalAnd"},
    {"atan2", "Atan2", ""},
    {"maximum", "Maximum", "LogicalOr"},
    {"minimum", "Minimum", "LogicalAnd"},
    {"multiply", "Mul", "LogicalAnd"},
    {"or", "BitwiseOr", "LogicalOr"},
    {"power", "Pow", ""},
    {"subtract", "Sub", ""},
    {"xor", "BitwiseXor", "NotEqual"},
};

const PlainOp* FindPlain(absl::Span<const PlainOp> rows, absl::string_view op) {
  for (const PlainOp& row : rows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

absl::StatusOr<Value> Apply(Body& body, const PlainOp& row, const std::vector<Value>& operands) {
  const DType dtype = operands[0].dtype;
  if (dtype != DType::kBool) return body.Map(row.numbers, operands);
  if (row.bools.empty()) return Unimplemented("on bools");
  // The logical ops have no attribute T.
  AttrMap attrs;
  if (row.bools == "NotEqual") attrs["T"] = dtype;
  return body.Elementwise(row.bools, operands, dtype, std::move(attrs));
}

absl::Status Unary(Body& body, const Op& op) {
  const PlainOp* row = FindPlain(kUnary, op.name);
  if (row == nullptr) return Internal("has no row");
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> x, body.Operands(op, 0, 1));
  TENON_ASSIGN_OR_RETURN(Value y, Apply(body, *row, x));
  return body.DefineResult(op, std::move(y));
}

// Whether `v` is a constant that a maximum (minimum) with leaves everything as it is.
bool LeavesAll(absl::string_view op, const Value& v) {
  return (op == "maximum" || op == "minimum") && v.IsUniform() && IsNeutral(op, v);
}

// The result of an op on two numbers, if the dtype's arithmetic is exact enough in double: what is
// computed of sizes and scales, and then decides what other ops mean.
bool Computed(absl::string_view op, DType dtype, double a, double b, double& result) {
  if (dtype != DType::kFloat && dtype != DType::kDouble && dtype != DType::kInt32) return false;
  if (op == "add") {
    result = a + b;
  } else if (op == "subtract") {
    result = a - b;
  } else if (op == "multiply") {
    result = a * b;
  } else if (op == "maximum" && a == a && b == b) {
    result = std::max(a, b);
  } else if (op == "minimum" && a == a && b == b) {
    result = std::min(a, b);
  } else {
    return false;
  }
  // Integers wrap around.
  return dtype != DType::kInt32 || std::abs(result) <= std::numeric_limits<int32_t>::max();
}

// Whether both are one number, of one shape.
bool AreNumbers(const Value& a, const Value& b, double& x, double& y) {
  return a.IsUniform() && b.IsUniform() && a.shape == b.shape && a.UniformNumber(x) &&
         b.UniformNumber(y);
}

absl::Status Binary(Body& body, const Op& op) {
  const PlainOp* row = FindPlain(kBinary, op.name);
  if (row == nullptr) return Internal("has no row");
  TENON_ASSIGN_OR_RETURN(std::vector<Value> x, body.Operands(op, 0, 2));
  double a, b, result;
  if (AreNumbers(x[0], x[1], a, b) && Computed(op.name, x[0].dtype, a, b, result)) {
    TENON_ASSIGN_OR_RETURN(Value y, body.Uniform(result, x[0].dtype, x[0]));
    return body.DefineResult(op, std::move(y));
  }
  if (LeavesAll(op.name, x[0])) return body.DefineResult(op, std::move(x[1]));
  if (LeavesAll(op.name, x[1])) return body.DefineResult(op, std::move(x[0]));
  const bool floating = op.name == "maximum" && IsFloating(x[0].dtype);
  for (size_t i = 0; floating && i < 2; ++i) {
    if (!x[i].IsUniform() || !x[i].UniformNumber(a) || a != 0) continue;
    TENON_ASSIGN_OR_RETURN(Value y, body.Map("Relu", {x[1 - i]}));
    return body.DefineResult(op, std::move(y));
  }
  TENON_ASSIGN_OR_RETURN(Value y, Apply(body, *row, x));
  return body.DefineResult(op, std::move(y));
}

absl::Status Abs(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> x, body.Operands(op, 0, 1));
  if (!IsComplex(x[0].dtype)) {
    TENON_ASSIGN_OR_RETURN(Value y, body.Map("Abs", x));
    return body.DefineResult(op, std::move(y));
  }
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  TENON_ASSIGN_OR_RETURN(Value y, body.Elementwise("ComplexAbs", x, type->dtype,
                                                   {{"T", x[0].dtype}, {"Tout", type->dtype}}));
  return body.DefineResult(op, std::move(y));
}

absl::Status Negate(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  if (!IsUnsigned(x.dtype)) {
    TENON_ASSIGN_OR_RETURN(Value y, body.Map("Neg", {x}));
    return body.DefineResult(op, std::move(y));
  }
  TENON_ASSIGN_OR_RETURN(const Value zero, body.Number(0, x.dtype, x));
  TENON_ASSIGN_OR_RETURN(Value y, body.Map("Sub", {zero, x}));
  return body.DefineResult(op, std::move(y));
}

absl::Status Compare(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t direction, IntegerOf(op, "comparison_direction"));
  TENON_ASSIGN_OR_RETURN(const int64_t kind, IntegerOf(op, "compare_type"));
  TENON_ASSIGN_OR_RETURN(std::vector<Value> x, body.Operands(op, 0, 2));
  // op names: in the order of VHLO's numbers.
  constexpr absl::string_view kOps[] = {"Equal",   "NotEqual",  "GreaterEqual",
                                        "Greater", "LessEqual", "Less"};
  if (direction < 0 || direction > 5) return InvalidArgument("in a direction ", direction);
  constexpr int64_t kTotalOrder = 2;
  double a, b;
  if (kind != kTotalOrder && AreNumbers(x[0], x[1], a, b)) {
    const bool results[] = {a == b, a != b, a >= b, a > b, a <= b, a < b};
    TENON_ASSIGN_OR_RETURN(Value y, body.Uniform(results[direction] ? 1 : 0, DType::kBool, x[0]));
    return body.DefineResult(op, std::move(y));
  }
  if (kind == kTotalOrder && IsFloating(x[0].dtype)) {
    // As integers: the bits of a negative number, except its sign, count down.
    const bool wide = x[0].dtype == DType::kDouble;
    const bool narrow = SizeOf(x[0].dtype) == 2;
    const DType as = wide ? DType::kInt64 : narrow ? DType::kInt16 : DType::kInt32;
    for (Value& v : x) {
      TENON_ASSIGN_OR_RETURN(const Value bits,
                             body.Elementwise("Bitcast", {v}, as, {{"T", v.dtype}, {"type", as}}));
      TENON_ASSIGN_OR_RETURN(const Value zero, body.Number(0, as, bits));
      TENON_ASSIGN_OR_RETURN(const Value all, body.Number(-1, as, bits));
      // All bits but the sign, as the largest integer is not exact in a double.
      const DType positive = wide ? DType::kUint64 : narrow ? DType::kUint16 : DType::kUint32;
      TENON_ASSIGN_OR_RETURN(const Value ones, body.Elementwise("Bitcast", {all}, positive,
                                                                {{"T", as}, {"type", positive}}));
      TENON_ASSIGN_OR_RETURN(const Value shift_by, body.Number(1, positive, bits));
      TENON_ASSIGN_OR_RETURN(const Value halved, body.Map("RightShift", {ones, shift_by}));
      TENON_ASSIGN_OR_RETURN(const Value mask, body.Elementwise("Bitcast", {halved}, as,
                                                                {{"T", positive}, {"type", as}}));
      TENON_ASSIGN_OR_RETURN(const Value flipped, body.Map("BitwiseXor", {bits, mask}));
      TENON_ASSIGN_OR_RETURN(const Value below,
                             body.Elementwise("Less", {bits, zero}, DType::kBool, {{"T", as}}));
      TENON_ASSIGN_OR_RETURN(v,
                             body.Elementwise("SelectV2", {below, flipped, bits}, as, {{"T", as}}));
    }
  } else if (x[0].dtype == DType::kBool && direction > 1) {
    for (Value& v : x) {
      TENON_ASSIGN_OR_RETURN(v, body.Elementwise("Cast", {v}, DType::kUint8,
                                                 {{"SrcT", v.dtype}, {"DstT", DType::kUint8}}));
    }
  }
  TENON_ASSIGN_OR_RETURN(Value y,
                         body.Elementwise(kOps[direction], x, DType::kBool, {{"T", x[0].dtype}}));
  return body.DefineResult(op, std::move(y));
}

absl::Status Select(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> x, body.Operands(op, 0, 3));
  double chosen;
  if (x[0].IsUniform() && x[0].UniformNumber(chosen)) {
    return body.DefineResult(op, chosen != 0 ? x[1] : x[2]);
  }
  TENON_ASSIGN_OR_RETURN(Value y, body.Elementwise("SelectV2", x, x[1].dtype, {{"T", x[1].dtype}}));
  return body.DefineResult(op, std::move(y));
}

// Operands: the lower limit, x, the upper limit.
absl::Status Clamp(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> x, body.Operands(op, 0, 3));
  TENON_ASSIGN_OR_RETURN(const Value above, body.Map("Maximum", {x[1], x[0]}));
  TENON_ASSIGN_OR_RETURN(Value y, body.Map("Minimum", {above, x[2]}));
  return body.DefineResult(op, std::move(y));
}

// The numbers of an integer dtype: from `least` on, below `end`, both exact in a double.
struct IntegerRange {
  double least, end;
};
IntegerRange RangeOf(DType dtype) {
  const int bits = 8 * static_cast<int>(SizeOf(dtype));
  return IsUnsigned(dtype) ? IntegerRange{0, std::ldexp(1.0, bits)}
                           : IntegerRange{-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1)};
}

// Floats beyond the range of `dtype` become its least or largest integer, and NaN becomes 0;
// TensorFlow's Cast leaves them to the machine.
absl::StatusOr<Value> ToInteger(Body& body, const Value& x, DType dtype) {
  const auto [least, end] = RangeOf(dtype);
  TENON_ASSIGN_OR_RETURN(const Value first, body.Number(least, x.dtype, x));
  TENON_ASSIGN_OR_RETURN(const Value beyond, body.Number(end, x.dtype, x));
  TENON_ASSIGN_OR_RETURN(const Value is_number, CompareBy(body, "Equal", x, x));
  TENON_ASSIGN_OR_RETURN(const Value below, CompareBy(body, "LessEqual", x, first));
  TENON_ASSIGN_OR_RETURN(const Value above, CompareBy(body, "GreaterEqual", x, beyond));
  TENON_ASSIGN_OR_RETURN(const Value zero, body.Number(0, x.dtype, x));
  // Only numbers of the range are cast.
  TENON_ASSIGN_OR_RETURN(Value inside, Choose(body, is_number, x, zero));
  TENON_ASSIGN_OR_RETURN(inside, Choose(body, below, zero, inside));
  TENON_ASSIGN_OR_RETURN(inside, Choose(body, above, zero, inside));
  TENON_ASSIGN_OR_RETURN(Value y, CastTo(body, inside, dtype));
  // The largest integer is not exact in a double: all bits but the least integer's.
  TENON_ASSIGN_OR_RETURN(const Value smallest, body.Number(least, dtype, y));
  TENON_ASSIGN_OR_RETURN(const Value largest, body.Map("Invert", {smallest}));
  TENON_ASSIGN_OR_RETURN(y, Choose(body, below, smallest, y));
  return Choose(body, above, largest, y);
}

absl::Status Convert(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  if (x.dtype == type->dtype) return body.DefineResult(op, x);
  if (IsFloating(x.dtype) && IsInteger(type->dtype)) {
    TENON_ASSIGN_OR_RETURN(Value y, ToInteger(body, x, type->dtype));
    return body.DefineResult(op, std::move(y));
  }
  double number;
  if (x.IsUniform() && x.UniformNumber(number) && IsFloating(type->dtype)) {
    TENON_ASSIGN_OR_RETURN(Value y, body.Uniform(number, type->dtype, x));
    return body.DefineResult(op, std::move(y));
  }
  TENON_ASSIGN_OR_RETURN(Value y, body.Elementwise("Cast", {x}, type->dtype,
                                                   {{"SrcT", x.dtype}, {"DstT", type->dtype}}));
  return body.DefineResult(op, std::move(y));
}

absl::Status Complex(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> x, body.Operands(op, 0, 2));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  TENON_ASSIGN_OR_RETURN(Value y, body.Elementwise("Complex", x, type->dtype,
                                                   {{"T", x[0].dtype}, {"Tout", type->dtype}}));
  return body.DefineResult(op, std::move(y));
}

absl::Status ComplexPart(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  if (!IsComplex(x.dtype)) {
    if (op.name == "real") return body.DefineResult(op, x);
    TENON_ASSIGN_OR_RETURN(Value zero, body.Number(0, x.dtype, x));
    return body.DefineResult(op, std::move(zero));
  }
  TENON_ASSIGN_OR_RETURN(Value y,
                         body.Elementwise(op.name == "real" ? "Real" : "Imag", {x}, type->dtype,
                                          {{"T", x.dtype}, {"Tout", type->dtype}}));
  return body.DefineResult(op, std::move(y));
}

absl::Status IsFinite(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(Value y,
                         body.Elementwise("IsFinite", {x}, DType::kBool, {{"T", x.dtype}}));
  return body.DefineResult(op, std::move(y));
}

// sign(x) |x|^(1/3).
absl::Status CubeRoot(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value third, body.Number(1.0 / 3, x.dtype, x));
  TENON_ASSIGN_OR_RETURN(const Value size, body.Map("Abs", {x}));
  TENON_ASSIGN_OR_RETURN(const Value root, body.Map("Pow", {size, third}));
  TENON_ASSIGN_OR_RETURN(const Value sign, body.Map("Sign", {x}));
  TENON_ASSIGN_OR_RETURN(Value y, body.Map("Mul", {sign, root}));
  return body.DefineResult(op, std::move(y));
}

// Halves go away from zero: |x| rounded down, and one more if what is left is at least a half.
absl::Status RoundAway(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value half, body.Number(0.5, x.dtype, x));
  TENON_ASSIGN_OR_RETURN(const Value size, body.Map("Abs", {x}));
  TENON_ASSIGN_OR_RETURN(const Value down, body.Map("Floor", {size}));
  TENON_ASSIGN_OR_RETURN(const Value left, body.Map("Sub", {size, down}));
  TENON_ASSIGN_OR_RETURN(const Value more, body.Elementwise("GreaterEqual", {left, half},
                                                            DType::kBool, {{"T", x.dtype}}));
  TENON_ASSIGN_OR_RETURN(
      const Value one,
      body.Elementwise("Cast", {more}, x.dtype, {{"SrcT", DType::kBool}, {"DstT", x.dtype}}));
  TENON_ASSIGN_OR_RETURN(const Value up, body.Map("AddV2", {down, one}));
  TENON_ASSIGN_OR_RETURN(const Value sign, body.Map("Sign", {x}));
  TENON_ASSIGN_OR_RETURN(Value y, body.Map("Mul", {sign, up}));
  return body.DefineResult(op, std::move(y));
}

absl::Status ReducePrecision(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t exponent, IntegerOf(op, "exponent_bits"));
  TENON_ASSIGN_OR_RETURN(const int64_t mantissa, IntegerOf(op, "mantissa_bits"));
  TENON_ASSIGN_OR_RETURN(
      Value y,
      body.Elementwise("XlaReducePrecision", {x}, x.dtype,
                       {{"T", x.dtype}, {"exponent_bits", exponent}, {"mantissa_bits", mantissa}}));
  return body.DefineResult(op, std::move(y));
}

constexpr Lowering kElementwiseRows[] = {
    {"abs", Abs},
    {"add", Binary},
    {"and", Binary},
    {"atan2", Binary},
    {"cbrt", CubeRoot},
    {"ceil", Unary},
    {"clamp", Clamp},
    {"compare", Compare},
    {"complex", Complex},
    {"convert", Convert},
    {"cosine", Unary},
    {"exponential", Unary},
    {"exponential_minus_one", Unary},
    {"floor", Unary},
    {"imag", ComplexPart},
    {"is_finite", IsFinite},
    {"log", Unary},
    {"log_plus_one", Unary},
    {"logistic", Unary},
    {"maximum", Binary},
    {"minimum", Binary},
    {"multiply", Binary},
    {"negate", Negate},
    {"not", Unary},
    {"or", Binary},
    {"power", Binary},
    {"real", ComplexPart},
    {"reduce_precision", ReducePrecision},
    {"round_nearest_afz", RoundAway},
    {"round_nearest_even", Unary},
    {"rsqrt", Unary},
    {"select", Select},
    {"sign", Unary},
    {"sine", Unary},
    {"sqrt", Unary},
    {"subtract", Binary},
    {"tan", Unary},
    {"tanh", Unary},
    {"xor", Binary},
};

}  // namespace

absl::Span<const Lowering> ElementwiseLowerings() { return kElementwiseRows; }

}  // namespace tenon::stablehlo

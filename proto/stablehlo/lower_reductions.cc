// Reductions over whole dimensions.
#include <algorithm>

#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

// op names: no row of the op table knows StableHLO's names.
absl::string_view ReductionOf(absl::string_view op, DType dtype) {
  if (dtype == DType::kBool) {
    if (op == "and" || op == "minimum" || op == "multiply") return "All";
    return op == "or" || op == "maximum" || op == "add" ? "Any" : "";
  }
  if (op == "add") return "Sum";
  if (op == "multiply") return "Prod";
  if (IsComplex(dtype)) return "";
  if (op == "maximum") return "Max";
  return op == "minimum" ? "Min" : "";
}

// The same for two elements.
absl::string_view CombinationOf(absl::string_view reduction) {
  if (reduction == "Sum") return "AddV2";
  if (reduction == "Prod") return "Mul";
  if (reduction == "Max") return "Maximum";
  if (reduction == "Min") return "Minimum";
  // op names: see above.
  return reduction == "All" ? "LogicalAnd" : "LogicalOr";
}

// The reduced dimensions stay, as ones, in the base: what is repeated along them again needs no
// reshape.
absl::StatusOr<Value> Reduce(Body& body, const Value& x, absl::string_view reduction,
                             const std::vector<int64_t>& dims) {
  const Value compact = Compact(x);
  if (!x.IsWhole() && compact.IsWhole()) {
    std::vector<int64_t> inner;
    Shape left;
    int64_t at = 0;
    for (int d = 0; d < x.rank(); ++d) {
      const bool reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
      if (!reduced) left.push_back(x.shape.dim(d));
      if (x.shape.dim(d) == 1) continue;
      if (reduced) inner.push_back(at);
      ++at;
    }
    if (inner.empty()) return Expanded(compact, left);
    TENON_ASSIGN_OR_RETURN(Value y, Reduce(body, compact, reduction, inner));
    return Expanded(std::move(y), left);
  }
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  TENON_ASSIGN_OR_RETURN(const Ref axes, body.Integers32(dims));
  AttrMap attrs{{"Tidx", DType::kInt32}, {"keep_dims", true}};
  if (x.dtype != DType::kBool) attrs["T"] = x.dtype;
  Value y;
  y.dtype = x.dtype;
  TENON_ASSIGN_OR_RETURN(y.base, body.Node(reduction, {whole, axes}, std::move(attrs), x.dtype));
  y.base_shape = x.shape;
  int64_t count = 1;
  for (int64_t d : dims) {
    const int64_t size = x.shape.dim(static_cast<int>(d));
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) count = 0;
    y.base_shape.set_dim(static_cast<int>(d), 1);
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    y.shape.push_back(x.shape.dim(d));
    y.axes.push_back(d);
  }
  if (reduction == "Sum") {
    auto origin = std::make_shared<Origin>();
    origin->input = whole;
    origin->input_shape = x.shape;
    origin->dims = dims;
    origin->count = count;
    y.origin = std::move(origin);
  }
  return y;
}

absl::Status Variadic(Body& body, const Op& op, const Block& block,
                      const std::vector<int64_t>& dims) {
  std::vector<Ref> inputs;
  std::vector<DType> dtypes;
  const size_t n = op.operands.size() / 2;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Ref x, body.FullOperand(op, i));
    if (i < n) dtypes.push_back(x.dtype);
    inputs.push_back(std::move(x));
  }
  TENON_ASSIGN_OR_RETURN(FuncRef reducer, ScalarFunction(body, block, "reducer"));
  TENON_ASSIGN_OR_RETURN(
      const std::vector<Ref> made,
      body.Nodes("XlaVariadicReduceV2", inputs,
                 {{"T", dtypes}, {"dimensions_to_reduce", dims}, {"reducer", std::move(reducer)}},
                 dtypes));
  return DefineTensors(body, op, made);
}

absl::Status ReduceOp(Body& body, const Op& op) {
  if (op.operands.empty() || op.operands.size() != 2 * op.results.size()) {
    return InvalidArgument("has ", op.operands.size(), " operands");
  }
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, DimsOf(op, "dimensions", x.rank()));
  TENON_ASSIGN_OR_RETURN(const Block* block, RegionOf(op, 0));
  const absl::string_view combined = BinaryOpOf(*block);
  const absl::string_view reduction = ReductionOf(combined, x.dtype);
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  if (op.results.size() != 1 || reduction.empty() || type->dtype != x.dtype) {
    return Variadic(body, op, *block, dims);
  }
  TENON_ASSIGN_OR_RETURN(const Value start, body.Operand(op, 1));
  if (dims.empty() && IsNeutral(combined, start)) return body.DefineResult(op, x);
  TENON_ASSIGN_OR_RETURN(Value y, Reduce(body, x, reduction, dims));
  if (!IsNeutral(combined, start)) {
    AttrMap attrs;
    if (x.dtype != DType::kBool) attrs["T"] = x.dtype;
    TENON_ASSIGN_OR_RETURN(
        y, body.Elementwise(CombinationOf(reduction), {y, start}, x.dtype, std::move(attrs)));
  }
  return body.DefineResult(op, std::move(y));
}

constexpr Lowering kReductions[] = {
    {"reduce", ReduceOp},
};

}  // namespace

absl::Span<const Lowering> ReductionLowerings() { return kReductions; }

}  // namespace tenon::stablehlo

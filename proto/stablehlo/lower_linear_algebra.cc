// Fourier transforms, decompositions, and normalization with given statistics.
#include <algorithm>

#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

absl::Status Fft(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ref x, body.FullOperand(op, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t kind, IntegerOf(op, "fft_type"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> length, IntegersOf(op, "fft_length"));
  TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op));
  // op names: in the order of VHLO's numbers.
  constexpr absl::string_view kKinds[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  constexpr absl::string_view kRanks[] = {"", "2D", "3D"};
  if (kind < 0 || kind > 3 || length.empty() || length.size() > 3) {
    return InvalidArgument("of kind ", kind, " over ", length.size(), " dimensions");
  }
  const std::string tf_op = absl::StrCat(kKinds[kind], kRanks[length.size() - 1]);
  if (kind < 2) return body.DefineNode(op, tf_op, {x}, {{"Tcomplex", x.dtype}});
  TENON_ASSIGN_OR_RETURN(const Ref sizes, body.Integers32(length));
  const bool forward = kind == 2;
  return body.DefineNode(
      op, tf_op, {x, sizes},
      {{"Treal", forward ? x.dtype : type->dtype}, {"Tcomplex", forward ? type->dtype : x.dtype}});
}

// With the last two dimensions exchanged, and conjugated if `adjoint`.
absl::StatusOr<Ref> Transposed(Body& body, const Ref& x, int rank, bool adjoint) {
  std::vector<int64_t> order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  TENON_ASSIGN_OR_RETURN(const Ref perm, body.Integers32(order));
  return body.Node(adjoint && IsComplex(x.dtype) ? "ConjugateTranspose" : "Transpose", {x, perm},
                   {{"T", x.dtype}, {"Tperm", DType::kInt32}}, x.dtype);
}

absl::Status Cholesky(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t lower, IntegerOf(op, "lower"));
  if (x.rank() < 2) return InvalidArgument("of no matrix");
  TENON_ASSIGN_OR_RETURN(Ref matrix, body.Full(x));
  if (lower == 0) {
    TENON_ASSIGN_OR_RETURN(matrix, Transposed(body, matrix, x.rank(), true));
  }
  TENON_ASSIGN_OR_RETURN(Ref factor, body.Unary("Cholesky", {matrix}));
  if (lower == 0) {
    TENON_ASSIGN_OR_RETURN(factor, Transposed(body, factor, x.rank(), true));
  }
  return body.DefineResult(op, Whole(std::move(factor), x.shape));
}

absl::Status TriangularSolve(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value a, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value b, body.Operand(op, 1));
  TENON_ASSIGN_OR_RETURN(const int64_t left, IntegerOf(op, "left_side"));
  TENON_ASSIGN_OR_RETURN(const int64_t lower, IntegerOf(op, "lower"));
  TENON_ASSIGN_OR_RETURN(const int64_t unit, IntegerOf(op, "unit_diagonal"));
  TENON_ASSIGN_OR_RETURN(const int64_t form, IntegerOf(op, "transpose_a"));
  constexpr int64_t kTranspose = 2, kAdjoint = 3;
  if (a.rank() < 2 || b.rank() != a.rank()) return InvalidArgument("of no matrix");
  TENON_ASSIGN_OR_RETURN(Ref matrix, body.Full(a));
  TENON_ASSIGN_OR_RETURN(Ref rhs, body.Full(b));
  if (unit != 0) {
    Shape diagonal = a.shape;
    diagonal.erase(diagonal.rank() - 1);
    Value like;
    like.shape = diagonal;
    if (!diagonal.IsComplete()) return Unimplemented("with ones on a diagonal of unknown size");
    TENON_ASSIGN_OR_RETURN(const Value ones, body.Number(1, a.dtype, like));
    TENON_ASSIGN_OR_RETURN(const Ref all, body.Full(ones));
    TENON_ASSIGN_OR_RETURN(matrix, body.Unary("MatrixSetDiag", {matrix, all}));
  }
  bool is_lower = lower != 0, adjoint = form == kAdjoint;
  if (form == kTranspose) {
    if (IsComplex(a.dtype)) {  // adjoint of the conjugate
      TENON_ASSIGN_OR_RETURN(matrix, Transposed(body, matrix, a.rank(), false));
      is_lower = !is_lower;
    } else {
      adjoint = true;
    }
  }
  // x A = b is A' x' = b'.
  if (left == 0) {
    TENON_ASSIGN_OR_RETURN(rhs, Transposed(body, rhs, b.rank(), false));
    if (adjoint) {
      if (IsComplex(a.dtype)) return Unimplemented("of complex matrices from the right");
      adjoint = false;
    } else {
      TENON_ASSIGN_OR_RETURN(matrix, Transposed(body, matrix, a.rank(), false));
      is_lower = !is_lower;
    }
  }
  TENON_ASSIGN_OR_RETURN(
      Ref x, body.Node("MatrixTriangularSolve", {matrix, rhs},
                       {{"T", a.dtype}, {"lower", is_lower}, {"adjoint", adjoint}}, a.dtype));
  if (left == 0) {
    TENON_ASSIGN_OR_RETURN(x, Transposed(body, x, b.rank(), false));
  }
  return body.DefineResult(op, Whole(std::move(x), b.shape));
}

// scale (x - mean) / sqrt(variance + epsilon) + offset.
absl::Status BatchNorm(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t dim, IntegerOf(op, "feature_index"));
  const Attribute* epsilon = op.attr("epsilon");
  if (epsilon == nullptr || dim < 0 || dim >= x.rank()) return InvalidArgument("has no epsilon");
  Value parts[4];  // scale, offset, mean, variance
  for (size_t i = 0; i < 4; ++i) {
    TENON_ASSIGN_OR_RETURN(parts[i], body.Operand(op, 1 + i));
    if (parts[i].rank() != 1) return InvalidArgument("with statistics that are no vector");
  }
  TENON_ASSIGN_OR_RETURN(const Value eps, body.Number(epsilon->number, x.dtype, parts[3]));
  TENON_ASSIGN_OR_RETURN(const Value wider, body.Map("AddV2", {parts[3], eps}));
  TENON_ASSIGN_OR_RETURN(const Value inverse, body.Map("Rsqrt", {wider}));
  TENON_ASSIGN_OR_RETURN(const Value factor, body.Map("Mul", {inverse, parts[0]}));
  TENON_ASSIGN_OR_RETURN(const Value moved, body.Map("Mul", {parts[2], factor}));
  TENON_ASSIGN_OR_RETURN(const Value addend, body.Map("Sub", {parts[1], moved}));
  Ref sizes;
  if (!x.shape.IsComplete()) {
    TENON_ASSIGN_OR_RETURN(sizes, body.Sizes(x));
  }
  TENON_ASSIGN_OR_RETURN(const Value scaled,
                         body.Map("Mul", {x, BroadcastView(factor, {dim}, x.shape, sizes)}));
  TENON_ASSIGN_OR_RETURN(Value y,
                         body.Map("AddV2", {scaled, BroadcastView(addend, {dim}, x.shape, sizes)}));
  return body.DefineResult(op, std::move(y));
}

constexpr Lowering kLinearAlgebra[] = {
    {"batch_norm_inference", BatchNorm},
    {"cholesky", Cholesky},
    {"fft", Fft},
    {"triangular_solve", TriangularSolve},
};

}  // namespace

absl::Span<const Lowering> LinearAlgebraLowerings() { return kLinearAlgebra; }

}  // namespace tenon::stablehlo

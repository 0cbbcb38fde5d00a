// Transpose, ConjugateTranspose, InvertPermutation.
#include "kernels/layout/transpose.h"

#include <utility>

#include "kernels/layout/transpose_reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status TransposeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape& in = c.input(0);
  const Tensor* perm_value = c.value(1);
  if (perm_value == nullptr || !in.has_rank()) {
    const Shape& perm = c.input(1);
    if (perm.has_rank() && perm.dim(0) >= 0) {
      if (in.has_rank() && in.rank() != perm.dim(0)) {
        return InvalidArgument("perm of ", perm.dim(0), " for shape ", in.ToString());
      }
      c.set_output(0, Shape::UnknownOfRank(static_cast<int>(perm.dim(0))));
    } else if (in.has_rank()) {
      c.set_output(0, Shape::UnknownOfRank(in.rank()));
    }
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, ReadPermutation(*perm_value, in.rank()));
  Shape out;
  for (int64_t axis : perm) out.push_back(in.dim(static_cast<int>(axis)));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

constexpr char kTransposeTypes[] =
    "float bfloat16 half double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
    "complex64 complex128";

const OpRegistration transpose({
    .name = "Transpose",
    .inputs = "x: T, perm: Tperm",
    .outputs = "y: T",
    .attrs = "T: type; Tperm: type = int32",
    .types = "Tperm: int32 int64",
    .shape = TransposeShape,
    .reference = TransposeReference,
    .accelerated = VectorTranspose,
    .native = "_MklNativeTranspose",
    .native_types = kTransposeTypes,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .batch_axis = batch_axis::Transpose,
    .on_integers = OnIntegers::kRearranges,
});

const OpRegistration conjugate_transpose({
    .name = "ConjugateTranspose",
    .inputs = "x: T, perm: Tperm",
    .outputs = "y: T",
    .attrs = "T: type; Tperm: type = int32",
    .types = "Tperm: int32 int64",
    .shape = TransposeShape,
    .reference = ConjugateTransposeReference,
    .accelerated = VectorConjugateTranspose,
    .native = "_MklNativeConjugateTranspose",
    .native_types = kTransposeTypes,
});

absl::Status VectorShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

const OpRegistration invert_permutation({
    .name = "InvertPermutation",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type = int32",
    .types = "T: int32 int64",
    .shape = VectorShape,
    .reference = InvertPermutationKernel,
});

}  // namespace
}  // namespace tenon

// Transpose, ConjugateTranspose, InvertPermutation.
#include "kernels/layout/transpose.h"

#include <complex>
#include <memory>
#include <utility>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::vector<int64_t>> Permutation(const Tensor& t, int rank) {
  if (t.shape().rank() != 1 || t.num_elements() != rank) {
    return InvalidArgument("perm must be a vector of ", rank, ", but has shape ",
                           t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> perm, IntegersOf(t));
  for (int64_t& axis : perm) {
    TENON_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, rank));
  }
  TENON_RETURN_IF_ERROR(AxisMask(perm, rank).status());
  return perm;
}

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
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, Permutation(*perm_value, in.rank()));
  Shape out;
  for (int64_t axis : perm) out.push_back(in.dim(static_cast<int>(axis)));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <bool conjugate>
absl::StatusOr<std::unique_ptr<Kernel>> TransposeReference(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, TransposeReference<conjugate>, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, Permutation(*value, in.rank()));
  const std::vector<int64_t> dense = DenseStrides(in);
  std::vector<int64_t> src;
  for (int64_t axis : perm) src.push_back(dense[static_cast<size_t>(axis)]);
  const StridedCopy copy(out.dims(), src, DenseStrides(out));
  const DType dtype = p.input_dtype(0);
  const int64_t n = conjugate && IsComplex(dtype) ? out.num_elements() : 0;
  return MakeKernel([copy, dtype, n](RunContext& run) {
    copy.Run(dtype, run.input(0), run.output(0));
    if constexpr (conjugate) {
      VisitTypes(Complexes{}, dtype, [&]<typename T>() {
        T* out = run.output<T>(0);
        for (int64_t i = 0; i < n; ++i) out[i] = std::conj(out[i]);
      });
    }
    return absl::OkStatus();
  });
}

template <typename R>
void Conjugate(R* parts, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
}

// The vector transpose; complex numbers are conjugated where they now are.
absl::StatusOr<std::unique_ptr<Kernel>> VectorConjugateTranspose(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> turn, VectorTranspose(p));
  const DType dtype = p.input_dtype(0);
  if (!IsComplex(dtype)) return turn;
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  return MakeKernel(
      [turn = std::shared_ptr<const Kernel>(std::move(turn)), dtype, n,
       threads](RunContext& run) -> absl::Status {
        TENON_RETURN_IF_ERROR(turn->Run(run));
        ParallelFor(threads, n, ParallelGrain(0.5), [&](int64_t begin, int64_t end) {
          if (dtype == DType::kComplex64) {
            Conjugate(run.output<float>(0), begin, end);
          } else {
            Conjugate(run.output<double>(0), begin, end);
          }
        });
        return absl::OkStatus();
      },
      "vector");
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
    .reference = TransposeReference<false>,
    .accelerated = VectorTranspose,
    .native = "_MklNativeTranspose",
    .native_types = kTransposeTypes,
});

const OpRegistration conjugate_transpose({
    .name = "ConjugateTranspose",
    .inputs = "x: T, perm: Tperm",
    .outputs = "y: T",
    .attrs = "T: type; Tperm: type = int32",
    .types = "Tperm: int32 int64",
    .shape = TransposeShape,
    .reference = TransposeReference<true>,
    .accelerated = VectorConjugateTranspose,
    .native = "_MklNativeConjugateTranspose",
    .native_types = kTransposeTypes,
});

absl::Status VectorShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> InvertPermutation(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0);
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) -> absl::Status {
      const T* x = run.input<T>(0);
      T* y = run.output<T>(0);
      std::fill_n(y, n, T(-1));
      for (int64_t i = 0; i < n; ++i) {
        if (x[i] < 0 || x[i] >= n) return InvalidArgument(x[i], " is not between 0 and ", n);
        if (y[x[i]] != -1) return InvalidArgument(x[i], " is there twice");
        y[x[i]] = static_cast<T>(i);
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration invert_permutation({
    .name = "InvertPermutation",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type = int32",
    .types = "T: int32 int64",
    .shape = VectorShape,
    .reference = InvertPermutation,
});

}  // namespace
}  // namespace tenon

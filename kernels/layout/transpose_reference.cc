#include "kernels/layout/transpose_reference.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/layout/transpose.h"

namespace tenon {
namespace {

enum class Conjugation { kNone, kComplex };

absl::StatusOr<std::unique_ptr<Kernel>> TransposeKernel(PrepareContext& p,
                                                        Conjugation conjugation) {
  const Tensor* value = p.value(1);
  if (value == nullptr) {
    const bool none = conjugation == Conjugation::kNone;
    return PrepareLate(p, none ? TransposeReference : ConjugateTransposeReference, {1});
  }
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, ReadPermutation(*value, in.rank()));
  const std::vector<int64_t> dense = DenseStrides(in);
  std::vector<int64_t> src;
  for (int64_t axis : perm) src.push_back(dense[static_cast<size_t>(axis)]);
  const StridedCopy copy(out.dims(), src, DenseStrides(out));
  const DType dtype = p.input_dtype(0);
  const int64_t n = conjugation == Conjugation::kNone ? 0 : out.num_elements();
  return MakeKernel([copy, dtype, n](RunContext& run) {
    copy.Run(dtype, run.input(0), run.output(0));
    VisitTypes(Complexes{}, dtype, [&]<typename T>() {
      T* out = run.output<T>(0);
      for (int64_t i = 0; i < n; ++i) out[i] = std::conj(out[i]);
    });
    return absl::OkStatus();
  });
}

template <typename R>
void Conjugate(R* parts, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ReadPermutation(const Tensor& t, int rank) {
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

absl::StatusOr<std::unique_ptr<Kernel>> TransposeReference(PrepareContext& p) {
  return TransposeKernel(p, Conjugation::kNone);
}

absl::StatusOr<std::unique_ptr<Kernel>> ConjugateTransposeReference(PrepareContext& p) {
  return TransposeKernel(p, Conjugation::kComplex);
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorConjugateTranspose(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> transposed, VectorTranspose(p));
  const DType dtype = p.input_dtype(0);
  if (!IsComplex(dtype)) return transposed;
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  return MakeKernel(
      [transposed = std::shared_ptr<const Kernel>(std::move(transposed)), dtype, n,
       threads](RunContext& run) -> absl::Status {
        TENON_RETURN_IF_ERROR(transposed->Run(run));
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

absl::StatusOr<std::unique_ptr<Kernel>> InvertPermutationKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0);
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) -> absl::Status {
      const T* x = run.input<T>(0);
      T* y = run.output<T>(0);
      std::fill_n(y, n, T(-1));
      for (int64_t i = 0; i < n; ++i) {
        if (x[i] < 0 || x[i] >= n) return InvalidArgument(x[i], " is not between 0 and ", n);
        if (y[x[i]] != -1) return InvalidArgument(x[i], " is repeated");
        y[x[i]] = static_cast<T>(i);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
